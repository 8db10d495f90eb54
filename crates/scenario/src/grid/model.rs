//! The kinds of scenarios that a grid may have.

use crate::document::Checked;
use crate::{ClusterScenario, PacketScenario, RunQueueScenario};
use serde::{Deserialize, Serialize};
use std::fmt;
use warmcore_units::Fault;

/// What is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Packets on processors.
    #[default]
    Packet,
    /// Processes in a run queue.
    #[serde(alias = "run-queue")]
    Runqueue,
    /// A program on a cluster.
    Cluster,
}

/// A scenario of any model.
#[derive(Clone, PartialEq, Debug)]
pub enum AnyScenario {
    /// Packets on processors.
    Packet(Box<PacketScenario>),
    /// Processes in a run queue.
    RunQueue(Box<RunQueueScenario>),
    /// A program on a cluster.
    Cluster(Box<ClusterScenario>),
}

impl Model {
    /// The version of the model's scenario that this build reads.
    #[must_use]
    pub const fn schema(self) -> u32 {
        match self {
            Self::Packet => PacketScenario::SCHEMA,
            Self::Runqueue => RunQueueScenario::SCHEMA,
            Self::Cluster => ClusterScenario::SCHEMA,
        }
    }

    /// Reads the scenario that `table` holds, without checking it.
    pub(super) fn read(self, table: toml::Table) -> Result<AnyScenario, toml::de::Error> {
        Ok(match self {
            Self::Packet => AnyScenario::Packet(Box::new(table.try_into()?)),
            Self::Runqueue => AnyScenario::RunQueue(Box::new(table.try_into()?)),
            Self::Cluster => AnyScenario::Cluster(Box::new(table.try_into()?)),
        })
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packet => "packet",
            Self::Runqueue => "runqueue",
            Self::Cluster => "cluster",
        })
    }
}

impl AnyScenario {
    /// # Errors
    /// The first field that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Packet(scenario) => scenario.check(),
            Self::RunQueue(scenario) => scenario.check(),
            Self::Cluster(scenario) => scenario.check(),
        }
    }

    /// The scenario's document.
    ///
    /// # Errors
    /// If it cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        match self {
            Self::Packet(scenario) => toml::to_string(scenario),
            Self::RunQueue(scenario) => toml::to_string(scenario),
            Self::Cluster(scenario) => toml::to_string(scenario),
        }
    }
}
