//! One point of an experiment, from its scenario to its figures.

use crate::completions::CLOCK_RESOLUTION;
use crate::packet::busiest::busiest;
use crate::packet::capacity::{Capacity, capacity_over, wanted};
use crate::packet::host::{Shape, SimulatedHost};
use crate::packet::outcome::Outcome;
use crate::packet::replay::replay;
use crate::packet::run::{GrowthRule, Precision, Replication, observe};
use serde::{Deserialize, Serialize};
use warmcore_costs::execution::IncompleteProfile;
use warmcore_costs::{ExecutionModel, Profile, Situation};
use warmcore_scenario::document::Checked;
use warmcore_scenario::{Mixing, OpenTraffic, PacketScenario, Process, TrafficError};
use warmcore_stats::stopping::FIRST;
use warmcore_units::{Fault, Nanos, PerSecond};
use warmcore_workload::{Capture, Key, Trace};

/// The result of a point.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PointResult {
    /// Packets per second that arrive.
    pub rate: PerSecond,
    /// The highest rate the host keeps up with.
    pub capacity: Capacity,
    /// The steady state; `None` if the host is saturated: more packets arrive than it can process, and its
    /// queues grow without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How the trace was read, if the packets come from one. The outcome then covers all packets of the trace
    /// and has no intervals. There always is one, since a trace ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

impl PointResult {
    /// Whether the arrival rate certainly exceeds the capacity. For a trace of `n` packets, chance alone
    /// changes the rate by about `1 / sqrt(n)` of it.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        self.outcome.as_ref().is_none_or(|outcome| {
            let chance = 2.0 / (outcome.packets as f64).sqrt();
            self.capture.is_some() && self.load() * (1.0 - chance) > 1.0
        })
    }

    /// The arrival rate as a fraction of the capacity.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.rate.0 / self.capacity.rate.mean.0
    }
}

/// Why a point cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    /// The scenario is not valid.
    #[error("{0}")]
    Scenario(#[from] Fault),
    /// The profile lacks costs that are needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The traffic cannot be generated.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
}

/// The run that measures the capacity takes this many times the packets after which the traffic has forgotten
/// its start.
const FORGOTTEN: f64 = 200.0;
/// A run gives an interval only after this many times those packets, divided by the square of the share of
/// the capacity that is left: queues remember bursts for longer than arrivals do, by about that square. With
/// phases that overload a host at times (its capacity is 78,000 packets a second; 60,000 arrive, modulated
/// with a ratio of 10, of 5 and 0.5 ms), 267 of 300 intervals held for runs of 900 such times, and 192 of 200
/// for 2,000; at a load of 0.85, 177 of 200 for 2,700.
const FORGOTTEN_BY_QUEUES: f64 = 125.0;
/// The share of the capacity that is left is taken to be at least this. Nearer to the capacity delays have no
/// intervals anyway.
const LEAST_LEFT: f64 = 0.1;
/// Packets processed to find the capacity, at most, unless the host itself needs more. If the traffic needs
/// more, as it does when a few streams send all of it, the error of the capacity is unknown.
const CAPACITY_PACKETS: u64 = 1_000_000;
/// The rate to use where only the order of packets matters.
const ANY_RATE: PerSecond = PerSecond(1e9);
/// The number of the replication whose arrivals the capacity is measured with.
const CAPACITY_REPLICATION: u64 = u64::MAX;

/// Simulates `scenario` with the costs of `profile`. Its traffic must be generated; to replay a trace, open
/// it and simulate its [`Point`].
///
/// # Errors
/// As [`Point::new`], and if the traffic is a trace.
pub fn simulate(scenario: &PacketScenario, profile: &Profile) -> Result<PointResult, PointError> {
    Point::new(scenario, &scenario.traffic.generated()?, profile)?.simulate()
}

/// The highest rate that the host of `scenario` keeps up with, whatever rate the scenario gives.
///
/// # Errors
/// As [`Point::new`].
pub fn highest_rate(
    scenario: &PacketScenario,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> Result<Capacity, PointError> {
    let scenario = PacketScenario { rate_per_s: Some(ANY_RATE), ..scenario.clone() };
    Point::new(&scenario, traffic, profile)?.capacity()
}

/// A scenario that is ready to run.
///
/// Points of equal seed, rate and traffic see the same arrivals, whatever else differs. Results do not depend
/// on the number of threads.
pub struct Point<'s> {
    scenario: &'s PacketScenario,
    pub(super) rate: PerSecond,
    traffic: &'s OpenTraffic,
    shape: Shape,
    model: ExecutionModel,
    /// The arrival rate as a fraction of the capacity; 0 before that is known.
    load: f64,
}

impl<'s> Point<'s> {
    /// The point of `scenario` with its opened `traffic` and the costs of `profile`.
    ///
    /// # Errors
    /// If the scenario, its traffic or the profile cannot be used.
    pub fn new(
        scenario: &'s PacketScenario,
        traffic: &'s OpenTraffic,
        profile: &Profile,
    ) -> Result<Self, PointError> {
        scenario.check()?;
        let rate = traffic.rate(scenario.rate_per_s)?;
        let streams = traffic.streams();
        let stacks = scenario.check_stacks(streams)?.min(streams);
        let approach = scenario.scheduling.approach.costs();
        scenario.check_length()?;
        let point = Self {
            scenario,
            rate,
            traffic,
            shape: Shape { processors: scenario.processors, streams, stacks },
            model: ExecutionModel::new(profile, approach, scenario.processors)?,
            load: 0.0,
        };
        point.check_clock()?;
        Ok(point)
    }

    /// Measures the capacity and simulates the point.
    ///
    /// # Errors
    /// If the traffic cannot be generated.
    pub fn simulate(self) -> Result<PointResult, PointError> {
        let capacity = self.capacity()?;
        self.result(capacity)
    }

    /// Simulates the point on a host with this `capacity`, which may have been measured at another rate.
    ///
    /// # Errors
    /// If the traffic cannot be generated.
    pub fn result(self, capacity: Capacity) -> Result<PointResult, PointError> {
        let rate = self.rate;
        let point = Self { load: rate.0 / capacity.rate.mean.0, ..self };
        let capture = point.capture();
        let outcome = match capture {
            Some(_) => Some(point.replay()?),
            None if point.exceeds(&capacity) => None,
            None => point.steady(&capacity)?,
        };
        let capacity = if outcome.is_none() { capacity.of_saturated(rate) } else { capacity };
        Ok(PointResult { rate, capacity, outcome, capture })
    }

    /// Checks that a run is judged for the first time while its clock can still tell service times.
    fn check_clock(&self) -> Result<(), Fault> {
        let most = self.traffic.trace().map_or(self.scenario.run.max_packets, |trace| trace.packets() as u64);
        let packets = FIRST.min(most);
        let least = PerSecond(packets as f64 / self.longest().secs());
        if self.rate.0 >= least.0 {
            return Ok(());
        }
        let expected = format!(
            "at least {:.1e} packets per second: at a lower rate, a run of {packets} packets lasts so long that its \
             clock cannot resolve the time of a packet",
            least.0
        );
        Err(Fault::new("rate_per_s", self.rate.0, expected))
    }

    /// The longest run: at its end the clock still resolves a 64th of a packet's time, so that the mean is
    /// wrong by less than a hundredth of that time on average.
    fn longest(&self) -> Nanos {
        const SHOWN: f64 = 1.0 / 64.0;
        self.model.receive_hot(Situation::default()) * SHOWN / CLOCK_RESOLUTION
    }

    pub(super) fn replications(&self) -> u64 {
        self.scenario.run.replications.into()
    }

    /// The precision at which runs of this point may stop.
    pub(super) fn precision(&self) -> Precision {
        let shown = self.longest() / self.rate.interval();
        Precision {
            relative: self.scenario.run.precision,
            max_packets: self.scenario.run.max_packets.min(shown as u64),
            // It is known exactly for Poisson arrivals.
            mean_gap: (self.scenario.traffic.process == Process::Poisson).then(|| self.rate.interval()),
        }
    }

    pub(super) fn mixing(&self) -> Mixing {
        self.scenario.traffic.mixing(self.rate)
    }

    /// Packets before which a run of this point is too short for an interval.
    pub(super) fn settled(&self) -> u64 {
        let left = (1.0 - self.load).clamp(LEAST_LEFT, 1.0);
        self.after(FORGOTTEN.max(FORGOTTEN_BY_QUEUES / left.powi(2)))
    }

    pub(super) const fn load(&self) -> f64 {
        self.load
    }

    pub(super) fn processors(&self) -> u32 {
        self.shape.processors
    }

    /// This many `times` the packets after which the traffic forgets its start, but enough for the host to
    /// settle.
    fn after(&self, times: f64) -> u64 {
        let forgotten = match self.mixing() {
            Mixing::After(packets) => (packets * times) as u64,
            Mixing::Never | Mixing::Slowly => 0,
        };
        forgotten.max(self.shape.settled())
    }

    fn host(&self, replication: u64) -> SimulatedHost<'_> {
        SimulatedHost {
            shape: self.shape,
            scheduling: self.scenario.scheduling,
            model: &self.model,
            effects: self.scenario.effects,
            extensions: self.scenario.extensions(),
            key: Key { seed: self.scenario.seed, point: self.rate.0.to_bits(), replication },
        }
    }

    /// Measures the highest rate that the host keeps up with.
    ///
    /// # Errors
    /// If the traffic cannot be generated.
    pub fn capacity(&self) -> Result<Capacity, PointError> {
        let host = self.host(CAPACITY_REPLICATION);
        let packets = || self.traffic.endless(self.rate, host.key);
        let most = CAPACITY_PACKETS.max(wanted(self.shape));
        let wanted = wanted(self.shape).max(self.after(FORGOTTEN));
        let is_known = wanted <= most && self.mixing() != Mixing::Slowly;
        let capacity = capacity_over(wanted.min(most), &host, &mut *packets()?);
        let bound = busiest(&host, &self.traffic.shares()?, packets, [self.rate, capacity.rate.mean])?;
        let capacity = Capacity { rate: bound.unwrap_or(capacity.rate), ..capacity };
        // A trace is always the same when it is run again: nothing shows what another one would do.
        let is_known = is_known && self.traffic.trace().is_none();
        Ok(if is_known { capacity } else { capacity.unknown() })
    }

    /// Whether the arrivals are more than the host keeps up with.
    pub(super) fn exceeds(&self, capacity: &Capacity) -> bool {
        capacity.is_exceeded_by(self.rate)
    }

    fn capture(&self) -> Option<Capture> {
        self.traffic.trace().map(Trace::capture)
    }

    /// Replays the trace once; a second run would be the same.
    fn replay(&self) -> Result<Outcome, PointError> {
        let host = self.host(0);
        Ok(replay(&host, &mut *self.traffic.source(self.rate, host.key)?))
    }

    pub(super) fn run(
        &self,
        replication: u64,
        precision: Precision,
        growth: GrowthRule,
    ) -> Result<Replication, PointError> {
        let host = self.host(replication);
        let mut arrivals = self.traffic.source(self.rate, host.key)?;
        Ok(observe(&host, &mut *arrivals, precision, growth, self.settled()))
    }
}
