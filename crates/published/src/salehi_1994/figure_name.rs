//! Names of the figures.

/// What can be reproduced: the figures of Salehi 1994, its Table 2, and its statement about other hosts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FigureName {
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
    /// Capacities on hosts of 2 to 32 processors, for which Salehi 1994 has no figure.
    Hosts,
}

impl FigureName {
    /// All, in the order of the paper.
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

    /// Its name on the command line and in links: `7a`.
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

    /// The figure with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.name() == name)
    }

    /// Whether its curves are drawn against the arrival rate, so that every rate must be simulated. Otherwise
    /// the capacities suffice.
    #[must_use]
    pub const fn sweeps(self) -> bool {
        !matches!(self, Self::Table2 | Self::F4 | Self::F15 | Self::Hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for figure in FigureName::ALL {
            assert_eq!(FigureName::named(figure.name()), Some(figure));
        }
        assert_eq!(FigureName::named("7"), None);
    }
}
