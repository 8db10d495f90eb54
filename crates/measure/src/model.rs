//! The affinity models of Foong, Fung & Newell 2004, "Results and Analysis", and three more. A model
//! says whether the place where packets are processed is fixed, and whether the place where programs
//! run is.
//!
//! [`ConnectionPlacement`](crate::transfer::ConnectionPlacement) applies a model to connections, and
//! [`model_plan`](crate::verify::model_plan) applies it to a plan.

use core::fmt;
use core::str::FromStr;

/// An affinity model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// No affinity: packets are processed where they arrive, and the scheduler places the programs.
    None,
    /// Packets of each connection go to one cpu; the scheduler places the programs.
    InterruptOnly,
    /// Programs are pinned; packets are processed where they arrive.
    ProcessOnly,
    /// Packets and ends of a connection share one cpu.
    Full,
    /// Ends are pinned to one cpu, and their packets go to another.
    Crossed,
    /// All packets go to the first cpu, as interrupts did by default on the machine of Foong, Fung &
    /// Newell; the scheduler places the programs.
    Cpu0,
    /// Like [`Cpu0`](Self::Cpu0), but the ends of each connection are pinned to one cpu. This is what
    /// pinning processes alone meant on the machine of Foong, Fung & Newell.
    ProcessCpu0,
}

impl Model {
    /// All models, no affinity first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::InterruptOnly,
        Self::ProcessOnly,
        Self::Full,
        Self::Crossed,
        Self::Cpu0,
        Self::ProcessCpu0,
    ];

    /// The name of the model.
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

    /// Whether the model fixes where packets are processed.
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
