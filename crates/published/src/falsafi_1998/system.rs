//! The systems that the thesis compares.

use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_sim::cluster::Device;

/// Who executes the protocol on each node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum System {
    /// Typhoon-1 with one processor beside those that compute (§4.2).
    Fixed,
    /// Typhoon-1 with one of those that compute; *Single*, if there is one only (§4.2).
    Floating,
    /// A finite-state machine (§5.3).
    SComa,
    /// Embedded processors (§5.2.1).
    Hurricane {
        /// How many.
        processors: u32,
        /// Their clock.
        mhz: u32,
    },
    /// Dedicated processors of the SMP (§5.2.2).
    Hurricane1 {
        /// How many.
        processors: u32,
    },
    /// *Hurricane-1 Mult*: the processors that compute (§5.3.4).
    Mult,
}

/// The numbers of protocol processors in chapter 5.
pub const PROTOCOL_PROCESSORS: [u32; 3] = [1, 2, 4];

/// Hurricane with `processors` of 400 MHz.
#[must_use]
pub const fn hurricane(processors: u32) -> System {
    System::Hurricane { processors, mhz: 400 }
}

/// Hurricane with `processors` of 200 MHz, a previous generation.
#[must_use]
pub const fn slow_hurricane(processors: u32) -> System {
    System::Hurricane { processors, mhz: 200 }
}

/// Hurricane-1 with `processors` dedicated processors.
#[must_use]
pub const fn hurricane_1(processors: u32) -> System {
    System::Hurricane1 { processors }
}

impl System {
    /// The systems of figure 5-8, in its order.
    pub const CHAPTER_5: [Self; 8] = [
        Self::SComa,
        hurricane(1),
        hurricane(2),
        hurricane(4),
        hurricane_1(1),
        hurricane_1(2),
        hurricane_1(4),
        Self::Mult,
    ];

    /// The device of the simulator.
    #[must_use]
    pub const fn device(self) -> Device {
        match self {
            Self::Fixed => Device::FIXED,
            Self::Floating => Device::FLOATING,
            Self::SComa => Device::SComa {},
            Self::Hurricane { processors, mhz } => Device::Hurricane { processors, mhz },
            Self::Hurricane1 { processors } => Device::Hurricane1 { dedicated: processors },
            Self::Mult => Device::MULT,
        }
    }

    /// Whether compute processors take interrupts for the protocol.
    #[must_use]
    pub const fn interrupts(self) -> bool {
        self.device().is_multiplexed()
    }

    /// Whether it belongs to chapter 4.
    #[must_use]
    pub const fn is_typhoon_1(self) -> bool {
        matches!(self, Self::Fixed | Self::Floating)
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fixed => f.write_str("Fixed"),
            Self::Floating => f.write_str("Floating"),
            Self::SComa => f.write_str("S-COMA"),
            Self::Hurricane { processors, mhz: 400 } => write!(f, "Hurricane {processors}pp"),
            Self::Hurricane { processors, mhz } => write!(f, "Hurricane {processors}pp {mhz} MHz"),
            Self::Hurricane1 { processors } => write!(f, "Hurricane-1 {processors}pp"),
            Self::Mult => f.write_str("Hurricane-1 Mult"),
        }
    }
}
