//! The device of each node: what executes the protocol (Falsafi 1998, §4.1 and §5.2).

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// What executes the protocol on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClusterDevice {
    /// Hardware: a finite-state machine (§5.3).
    SComa {},
    /// Embedded processors on the device, each with a cache like the compute processors' (§5.2.1).
    Hurricane {
        /// How many; the source has 1, 2 and 4.
        #[serde(default = "one")]
        processors: u32,
        /// Their clock; the source has 400 MHz and, for a previous generation, 200 MHz.
        #[serde(default = "four_hundred")]
        mhz: u32,
    },
    /// Processors of the node, several protocol threads at once (§5.2.2).
    #[serde(rename = "hurricane-1")]
    Hurricane1 {
        /// Processors set aside, beside those that compute; 0 for none: those that wait act in turn.
        dedicated: u32,
    },
    /// Processors of the node, one protocol thread at a time (§4.1).
    #[serde(rename = "typhoon-1")]
    Typhoon1 {
        /// Whether one is set aside, beside those that compute.
        dedicated: bool,
    },
}

impl ClusterDevice {
    /// One processor of the node, beside those that compute, executes the protocol (§4.2).
    pub const FIXED: Self = Self::Typhoon1 { dedicated: true };
    /// One of those that compute, which waits or is interrupted (§4.2). With a single processor this is *Single*.
    pub const FLOATING: Self = Self::Typhoon1 { dedicated: false };
    /// All that wait for a remote block or for synchronization; if none does, one is interrupted (§5.3.4).
    pub const MULT: Self = Self::Hurricane1 { dedicated: 0 };

    /// Processors of a node that do nothing but execute the protocol, each with a cache of its own.
    #[must_use]
    pub const fn protocol_processors(self) -> u32 {
        match self {
            Self::SComa {} | Self::FLOATING => 0,
            Self::FIXED => 1,
            Self::Hurricane { processors, .. } | Self::Hurricane1 { dedicated: processors } => processors,
        }
    }

    /// Whether processors that compute also execute the protocol.
    #[must_use]
    pub const fn is_multiplexed(self) -> bool {
        matches!(self, Self::FLOATING | Self::MULT)
    }
}

impl Default for ClusterDevice {
    fn default() -> Self {
        Self::SComa {}
    }
}

/// What the names of devices are.
const NAMES: &str = "s-coma, hurricane:N or hurricane:N@MHZ, hurricane-1:N or hurricane-1:mult, typhoon-1:fixed or typhoon-1:floating";

impl fmt::Display for ClusterDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SComa {} => f.write_str("s-coma"),
            Self::Hurricane { processors, mhz: 400 } => write!(f, "hurricane:{processors}"),
            Self::Hurricane { processors, mhz } => write!(f, "hurricane:{processors}@{mhz}"),
            Self::Hurricane1 { dedicated: 0 } => f.write_str("hurricane-1:mult"),
            Self::Hurricane1 { dedicated } => write!(f, "hurricane-1:{dedicated}"),
            Self::Typhoon1 { dedicated: true } => f.write_str("typhoon-1:fixed"),
            Self::Typhoon1 { dedicated: false } => f.write_str("typhoon-1:floating"),
        }
    }
}

impl FromStr for ClusterDevice {
    type Err = String;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(name: &str) -> Result<Self, String> {
        let (kind, variant) = name.split_once(':').unwrap_or((name, ""));
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
        let (count, mhz) = variant.split_once('@').unwrap_or((variant, "400"));
        let device = match (kind, variant) {
            ("s-coma", "") => Some(Self::SComa {}),
            ("hurricane", _) => {
                number(count).zip(number(mhz)).map(|(processors, mhz)| Self::Hurricane { processors, mhz })
            }
            ("hurricane-1", "mult") => Some(Self::Hurricane1 { dedicated: 0 }),
            ("hurricane-1", count) => number(count).map(|dedicated| Self::Hurricane1 { dedicated }),
            ("typhoon-1", "fixed") => Some(Self::Typhoon1 { dedicated: true }),
            ("typhoon-1", "floating") => Some(Self::Typhoon1 { dedicated: false }),
            _ => None,
        };
        device.ok_or_else(|| format!("expected {NAMES}"))
    }
}

const fn one() -> u32 {
    1
}

const fn four_hundred() -> u32 {
    400
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for name in [
            "s-coma",
            "hurricane:2",
            "hurricane:4@200",
            "hurricane-1:1",
            "hurricane-1:mult",
            "typhoon-1:fixed",
            "typhoon-1:floating",
        ] {
            assert_eq!(name.parse::<ClusterDevice>().map(|device| device.to_string()), Ok(name.to_owned()));
        }
        for name in
            ["", "hurricane", "hurricane:0", "hurricane:2@", "hurricane-1:two", "s-coma:1", "typhoon-1"]
        {
            assert!(name.parse::<ClusterDevice>().is_err(), "{name}");
        }
    }
}
