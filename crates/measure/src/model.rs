//! The affinity models of Foong, Fung & Newell 2004, "Results and Analysis", and three besides: whether the
//! place where packets are worked off is directed, and the place where programs run.
//!
//! What a model means for connections that are made for it is told by
//! [`Placement`](crate::transfer::Placement), what it means for a plan by [`model_plan`](crate::verify::model_plan).

use core::fmt;
use core::str::FromStr;

/// Who directs affinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Nobody: packets are worked off where they arrive, and the scheduler places the programs.
    None,
    /// Packets of each connection go to one cpu; the scheduler places the programs.
    InterruptOnly,
    /// Programs stay where they are put; packets are worked off where they arrive.
    ProcessOnly,
    /// Packets and ends of a connection share a cpu.
    Full,
    /// Ends stay on one cpu, and their packets go to another.
    Crossed,
    /// All packets go to the first cpu, as interrupts did by themselves on the source's machine; the
    /// scheduler places the programs.
    Cpu0,
    /// The same, but the ends of each connection stay on one cpu: what placing processes alone was there.
    ProcessCpu0,
}

impl Model {
    /// Every model, that without affinity first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::InterruptOnly,
        Self::ProcessOnly,
        Self::Full,
        Self::Crossed,
        Self::Cpu0,
        Self::ProcessCpu0,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::InterruptOnly => "interrupt-only",
            Self::ProcessOnly => "process-only",
            Self::Full => "full",
            Self::Crossed => "crossed",
            Self::Cpu0 => "cpu0",
            Self::ProcessCpu0 => "process-cpu0",
        }
    }

    /// Whether it says where packets are worked off.
    #[must_use]
    pub const fn steers(self) -> bool {
        !matches!(self, Self::None | Self::ProcessOnly)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|model| model.name() == name);
        let expected = || format!("`{name}`: expected one of {}", Self::ALL.map(Self::name).join(", "));
        named.ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name() {
        for model in Model::ALL {
            assert_eq!(model.name().parse(), Ok(model));
        }
        assert!("sideways".parse::<Model>().unwrap_err().contains("interrupt-only, process-only, full"));
    }
}
