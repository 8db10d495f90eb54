//! The scenario of a cluster: nodes, the device that extends their shared memory, and the program that runs on all of them
//! (Falsafi 1998).
//!
//! A scenario is written by hand; `warmcore simulate cluster --print-example` gives one to begin with. What is impossible
//! about the machine is found by who simulates it.

use crate::document::Checked;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;
use warmcore_workload::programs::AnyProgram;

/// The document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterScenario {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// Name of the cluster, for reports.
    #[serde(default)]
    pub name: String,
    /// Nodes, processors, caches and memory.
    #[serde(default)]
    pub machine: ClusterMachine,
    /// What executes the protocol on each node.
    #[serde(default)]
    pub device: ClusterDevice,
    /// What all processors run, with its input.
    pub program: AnyProgram,
}

/// The nodes of a cluster. Times are in cycles of 400 MHz.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterMachine {
    /// How many nodes.
    pub nodes: u32,
    /// Processors of a node that compute.
    pub processors: u32,
    /// Bytes of a block of the protocol.
    pub block_bytes: u64,
    /// Bytes of each processor's cache.
    pub cache_bytes: u64,
    /// Bytes of a line of the caches.
    pub line_bytes: u64,
    /// How many accesses a node's memory serves at a time.
    pub memory: MemoryKind,
    /// From one network interface to another.
    pub network_cycles: u64,
    /// From the invocation of an interrupt to the handler.
    pub interrupt_cycles: u64,
    /// From a bus error to the trap's code.
    pub trap_cycles: u64,
    /// By how much a processor may run ahead of what else is to happen: 0 is exact, more is faster.
    pub run_ahead: u64,
    /// After how many cycles a program that has not ended is given up.
    pub limit_cycles: u64,
}

impl Default for ClusterMachine {
    /// The base system of chapter 5, 8 nodes of 8 processors.
    fn default() -> Self {
        Self {
            nodes: 8,
            processors: 8,
            block_bytes: 64,
            cache_bytes: 1 << 20,
            line_bytes: 64,
            memory: MemoryKind::Interleaved,
            network_cycles: 100,
            interrupt_cycles: 200,
            trap_cycles: 200,
            run_ahead: 100,
            limit_cycles: 1_000_000_000_000,
        }
    }
}

/// A node's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// As many accesses as come (§5.3.1).
    Interleaved,
    /// One bank with a write buffer (§4.3.1).
    SingleBank,
}

/// What executes the protocol on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClusterDevice {
    /// Hardware: a finite-state machine.
    #[default]
    SComa,
    /// Embedded processors on the device.
    Hurricane {
        /// How many.
        #[serde(default = "one")]
        processors: u32,
        /// Their clock.
        #[serde(default = "four_hundred")]
        mhz: u32,
    },
    /// Processors of the node, several protocol threads at once.
    #[serde(rename = "hurricane-1")]
    Hurricane1 {
        /// Processors set aside, beside those that compute; 0 for none: those that wait act in turn.
        dedicated: u32,
    },
    /// Processors of the node, one protocol thread at a time.
    #[serde(rename = "typhoon-1")]
    Typhoon1 {
        /// Whether one is set aside, beside those that compute.
        dedicated: bool,
    },
}

/// What the names of devices are.
const NAMES: &str = "s-coma, hurricane:N or hurricane:N@MHZ, hurricane-1:N or hurricane-1:mult, typhoon-1:fixed or typhoon-1:floating";

impl fmt::Display for ClusterDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SComa => f.write_str("s-coma"),
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
            ("s-coma", "") => Some(Self::SComa),
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

impl Checked for ClusterScenario {
    const WHAT: &'static str = "scenario of a cluster";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use std::path::Path;

    fn read(text: &str) -> Result<ClusterScenario, String> {
        parse(&format!("schema = 1\n{text}"), Path::new("c.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_is_enough() {
        let scenario = read("[program]\nname = \"fft\"\npoints = 65536").expect("a scenario");
        assert_eq!((scenario.machine.nodes, scenario.device), (8, ClusterDevice::SComa));
        let AnyProgram::Fft(fft) = &scenario.program else { panic!("{:?}", scenario.program) };
        assert_eq!(fft.points, 65536);
        let text = toml::to_string(&scenario).expect("it can be written");
        assert_eq!(toml::from_str::<ClusterScenario>(&text).expect("and read"), scenario);
    }

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

    #[test]
    fn what_is_unknown_is_named() {
        let program = "[program]\nname = \"fft\"\n";
        let refused = |text: &str| read(&format!("{program}{text}")).expect_err("refused");
        assert!(refused("pionts = 3").contains("pionts"), "{}", refused("pionts = 3"));
        assert!(refused("[device]\nkind = \"hurricane\"\nclock = 3").contains("clock"));
        assert!(read("[program]\nname = \"ftt\"").expect_err("refused").contains("water-sp"));
    }
}
