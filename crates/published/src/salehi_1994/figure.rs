//! The figures by name.

use core::fmt;
use std::str::FromStr;

/// What can be reproduced: the source's figures, its Table 2, and what it says of other hosts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Figure {
    /// The statements derived from Table 2.
    Table2,
    /// Displacement of both cache levels.
    F4,
    /// Delay by processor scheduling under Locking.
    F7a,
    /// Delay by pools under Locking.
    F7b,
    /// Figure 7(a) at high rates.
    F8a,
    /// Figure 7(b) at high rates.
    F8b,
    /// Delay by processor scheduling under IPS.
    F9a,
    /// Delay by pools under IPS.
    F9b,
    /// Figure 9(a) at high rates.
    F10a,
    /// Figure 9(b) at high rates.
    F10b,
    /// Reduction of end-to-end latency under Locking.
    F11a,
    /// Reduction of end-to-end latency under IPS.
    F11b,
    /// Locking against IPS.
    F12,
    /// Locking against IPS under batches of equal size.
    F13a,
    /// Locking against IPS under geometric batches.
    F13b,
    /// The Hybrid.
    F14,
    /// One stream on more and more processors.
    F15,
    /// Capacities on hosts of 2 to 32 processors, of which the source has no figure.
    Hosts,
}

/// There is no such figure.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "there is no figure `{0}`, expected table-2, 4, 7a to 10b, 11a, 11b, 12, 13a, 13b, 14, 15, hosts, or \
     a number such as 7 for all its parts"
)]
pub struct UnknownFigure(String);

impl Figure {
    /// All, in the source's order.
    pub const ALL: [Self; 18] = [
        Self::Table2,
        Self::F4,
        Self::F7a,
        Self::F7b,
        Self::F8a,
        Self::F8b,
        Self::F9a,
        Self::F9b,
        Self::F10a,
        Self::F10b,
        Self::F11a,
        Self::F11b,
        Self::F12,
        Self::F13a,
        Self::F13b,
        Self::F14,
        Self::F15,
        Self::Hosts,
    ];

    /// Its name on a command line and in links: `7a`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table2 => "table-2",
            Self::F4 => "4",
            Self::F7a => "7a",
            Self::F7b => "7b",
            Self::F8a => "8a",
            Self::F8b => "8b",
            Self::F9a => "9a",
            Self::F9b => "9b",
            Self::F10a => "10a",
            Self::F10b => "10b",
            Self::F11a => "11a",
            Self::F11b => "11b",
            Self::F12 => "12",
            Self::F13a => "13a",
            Self::F13b => "13b",
            Self::F14 => "14",
            Self::F15 => "15",
            Self::Hosts => "hosts",
        }
    }

    /// The figures that `name` stands for: `7a` for one, `7` for 7(a) and 7(b).
    ///
    /// # Errors
    /// If it stands for none.
    pub fn named(name: &str) -> Result<Vec<Self>, UnknownFigure> {
        let is_named = |figure: &Self| {
            let own = figure.name();
            own == name || own.strip_suffix(['a', 'b']).is_some_and(|number| number == name)
        };
        let named: Vec<Self> = Self::ALL.into_iter().filter(is_named).collect();
        if named.is_empty() { Err(UnknownFigure(name.to_owned())) } else { Ok(named) }
    }

    /// Whether its curves are drawn against the arrival rate, so that every rate is simulated;
    /// their capacity is enough otherwise.
    #[must_use]
    pub const fn sweeps(self) -> bool {
        !matches!(self, Self::Table2 | Self::F4 | Self::F15 | Self::Hosts)
    }
}

impl fmt::Display for Figure {
    /// As the source names it: `figure 7(a)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.name()) {
            (Self::Table2, _) => f.write_str("Table 2"),
            (Self::Hosts, _) => f.write_str("other hosts"),
            (_, name) => match name.split_at_checked(name.len() - 1) {
                Some((number, part @ ("a" | "b"))) => write!(f, "figure {number}({part})"),
                _ => write!(f, "figure {name}"),
            },
        }
    }
}

impl FromStr for Figure {
    type Err = UnknownFigure;

    fn from_str(name: &str) -> Result<Self, UnknownFigure> {
        let found = Self::ALL.into_iter().find(|figure| figure.name() == name);
        found.ok_or_else(|| UnknownFigure(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again_and_a_number_stands_for_its_parts() {
        for figure in Figure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
        }
        assert_eq!(Figure::named("7"), Ok(vec![Figure::F7a, Figure::F7b]));
        assert_eq!(Figure::named("12"), Ok(vec![Figure::F12]));
        assert!(Figure::named("a").is_err() && Figure::named("3").is_err());
        assert_eq!(Figure::F10b.to_string(), "figure 10(b)");
    }
}
