//! One point of an experiment, from its scenario to its figures.

use crate::packet::busiest::busiest;
use crate::packet::capacity::{Capacity, capacity};
use crate::packet::host::{Host, Shape};
use crate::packet::outcome::Outcome;
use crate::packet::replay::replay;
use crate::packet::replications::combined;
use crate::packet::run::{Observed, Precision, observe};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::document::Checked;
use warmcore_scenario::{OpenTraffic, PacketScenario, Process, TrafficError};
use warmcore_units::{Fault, Nanos, PerSecond};
use warmcore_workload::{Capture, Key, Trace};

/// What comes of a point.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PointResult {
    /// Packets per second that arrive.
    pub rate: PerSecond,
    /// The highest rate the host keeps up with.
    pub capacity: Capacity,
    /// The steady state; `None` if the host is saturated: more packets arrive than it can process, so
    /// that its queues grow without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// What was read of the trace, if packets arrived as in one. The outcome then is what happened to
    /// all of them, and has no intervals; there always is one, since a trace ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

/// A point cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    /// The scenario cannot be.
    #[error("{0}")]
    Scenario(#[from] Fault),
    /// The profile lacks what is needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The traffic cannot be made.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
}

/// The replication whose arrivals the capacity is found with.
const CAPACITY_REPLICATION: u64 = u64::MAX;

/// Simulates `scenario` with the costs of `profile`. What its traffic names is looked for in
/// `base`.
///
/// Points of equal seed, rate and traffic see the same arrivals, whatever else is different; the
/// result does not depend on how many threads there are.
///
/// # Errors
/// If the scenario, its traffic or the profile cannot be used.
pub fn simulate(
    scenario: &PacketScenario,
    profile: &Profile,
    base: &Path,
) -> Result<PointResult, PointError> {
    let point = Point::of(scenario, profile, base)?;
    let capacity = point.capacity()?;
    let result = PointResult { rate: point.rate, capacity, outcome: None, capture: point.capture() };
    if result.capture.is_some() {
        return Ok(PointResult { outcome: Some(point.replay()?), ..result });
    }
    if point.exceeds(&capacity) {
        return Ok(result);
    }
    let runs = scenario.run.replications;
    // Together they are more precise than each by the root of their number.
    let relative = scenario.run.precision * f64::from(runs).sqrt();
    let precision = Precision { relative, max_packets: scenario.run.max_packets, mean_gap: point.mean_gap() };
    let runs = (0..u64::from(runs)).into_par_iter().map(|replication| point.run(replication, precision));
    let outcome = combined(runs.collect::<Result<_, _>>()?, scenario.run.precision);
    let outcome =
        outcome.map(|outcome| Outcome { ended: capacity.judge(point.rate, outcome.ended), ..outcome });
    Ok(PointResult { outcome, ..result })
}

/// The highest rate that the host of `scenario` keeps up with, and no more of it than that.
///
/// # Errors
/// As [`simulate`].
pub fn highest_rate(
    scenario: &PacketScenario,
    profile: &Profile,
    base: &Path,
) -> Result<Capacity, PointError> {
    Point::of(scenario, profile, base)?.capacity()
}

/// A scenario made ready to run.
pub(super) struct Point<'s> {
    scenario: &'s PacketScenario,
    pub(super) rate: PerSecond,
    traffic: OpenTraffic,
    shape: Shape,
    model: ExecutionModel,
}

impl<'s> Point<'s> {
    pub(super) fn of(
        scenario: &'s PacketScenario,
        profile: &Profile,
        base: &Path,
    ) -> Result<Self, PointError> {
        scenario.check()?;
        let traffic = scenario.traffic.open(base)?;
        let rate = traffic.rate(scenario.rate_per_s)?;
        let streams = traffic.streams();
        let stacks = scenario.check_stacks(streams)?.min(streams);
        let approach = scenario.scheduling.approach.costs();
        scenario.check_length()?;
        Ok(Self {
            scenario,
            rate,
            traffic,
            shape: Shape { processors: scenario.processors, streams, stacks },
            model: ExecutionModel::new(profile, approach, scenario.processors)?,
        })
    }

    pub(super) fn replications(&self) -> u32 {
        self.scenario.run.replications
    }

    fn host(&self, replication: u64) -> Host<'_> {
        Host {
            shape: self.shape,
            scheduling: self.scenario.scheduling,
            model: &self.model,
            effects: self.scenario.effects,
            key: Key { seed: self.scenario.seed, point: self.rate.0.to_bits(), replication },
        }
    }

    pub(super) fn capacity(&self) -> Result<Capacity, PointError> {
        let host = self.host(CAPACITY_REPLICATION);
        let packets = || self.traffic.endless(self.rate, host.key);
        let capacity = capacity(&host, &mut *packets()?);
        let bound = busiest(&host, &self.traffic.shares()?, packets, [self.rate, capacity.rate.mean])?;
        Ok(Capacity { rate: bound.unwrap_or(capacity.rate), ..capacity })
    }

    /// Whether the arrivals are more than the host keeps up with.
    pub(super) fn exceeds(&self, capacity: &Capacity) -> bool {
        capacity.is_exceeded_by(self.rate)
    }

    fn capture(&self) -> Option<Capture> {
        self.traffic.trace().map(Trace::capture)
    }

    /// What happens to the packets of a trace, once: again it would be the same.
    fn replay(&self) -> Result<Outcome, PointError> {
        let host = self.host(0);
        Ok(replay(&host, &mut *self.traffic.source(self.rate, host.key)?))
    }

    /// The mean time between packets, where it is known exactly.
    pub(super) fn mean_gap(&self) -> Option<Nanos> {
        (self.scenario.traffic.process == Process::Poisson).then(|| self.rate.interval())
    }

    pub(super) fn run(&self, replication: u64, precision: Precision) -> Result<Observed, PointError> {
        let host = self.host(replication);
        Ok(observe(&host, &mut *self.traffic.source(self.rate, host.key)?, precision))
    }
}
