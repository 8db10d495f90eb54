//! What is predicted of a host, or why nothing is.

use super::gain;
use serde::Serialize;
use warmcore_costs::socket::PlacedError;
use warmcore_sim::packet::PointError;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Why nothing can be predicted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoPrediction {
    /// No profile was given.
    #[error("no profile; `warmcore calibrate --path udp-socket` on that host measures one")]
    NoProfile,
    /// The profile holds no migration.
    #[error("the profile of {0} holds no costs of lines that come from another cpu")]
    NoMigration(String),
    /// The profile does not tell what the place of a softirq changes.
    #[error("the profile of {0} {1}")]
    NotCompared(String, PlacedError),
    /// By the kernel's profile costs depend on what packets find at their readers, and that is not known.
    #[error("{0}, and what a packet costs in the kernel depends on how busy its reader is")]
    NoReader(&'static str),
    /// The profile holds no packets that one softirq hands over to another.
    #[error(
        "the profile of {0} holds no packets that one core hands over to another: it was measured without the privilege to \
         steer them; run `warmcore calibrate --path udp-socket` as root"
    )]
    NoHandingOver(String),
    /// The profile cannot be that of the packets that were seen: they would have taken far longer than they did.
    #[error(
        "by the profile the packets that arrived would take {} cpus, but softirqs there took {counted:.2}: it is of another \
         machine, or of other packets (a card or the kernel may merge many into one)",
        gain::plain(*.computed)
    )]
    Contradicted {
        /// The cpus' worth of time that they would take.
        computed: Estimate<f64>,
        /// What softirqs took on the cpus that process packets.
        counted: f64,
    },
    /// The profile cannot be simulated.
    #[error("{0}")]
    Impossible(String),
}

impl From<PointError> for NoPrediction {
    fn from(error: PointError) -> Self {
        Self::Impossible(error.to_string())
    }
}

/// The predicted performance of a host under one layout.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Performance {
    /// What a packet costs, right after another.
    pub cost: Estimate<Nanos>,
    /// The part of all packets that the busiest cpu processes: from 0 to 1.
    pub busiest: f64,
    /// The rate, over all queues, at which that cpu is saturated.
    pub capacity: Estimate<PerSecond>,
    /// By what factor the rate could grow, with the threads' work for these packets, until a cpu is
    /// full; `None` if the rate is unknown.
    #[serde(rename = "room")]
    pub headroom: Option<Estimate<f64>>,
    /// The mean time from a packet's arrival to the end of its processing, on that cpu; `None` if it
    /// cannot keep up, or if the rate is unknown.
    pub delay: Option<Estimate<Nanos>>,
}
