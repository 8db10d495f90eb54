//! One point of an experiment, from its scenario to its figures.

use crate::completions::CLOCK_RESOLUTION;
use crate::packet::busiest::busiest;
use crate::packet::capacity::{Bound, Capacity, capacity_over};
use crate::packet::compare::PACKETS;
use crate::packet::host::{Shape, SimulatedHost};
use crate::packet::needs::RunNeeds;
use crate::packet::outcome::Outcome;
use crate::packet::replay::replay;
use crate::packet::run::{GrowthRule, Precision, Replication, Start, replicate};
use crate::packet::steady::{RunExtent, SteadyState};
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

/// The rate to use where only the order of packets matters.
pub(super) const ANY_RATE: PerSecond = PerSecond(1e9);
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
    Ok(highest_bound(scenario, traffic, profile)?.capacity)
}

/// As [`highest_rate`], with what sets it.
///
/// # Errors
/// As [`Point::new`].
pub fn highest_bound(
    scenario: &PacketScenario,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> Result<Bound, PointError> {
    let rate = (!traffic.is_closed()).then_some(ANY_RATE);
    let scenario = PacketScenario { rate_per_s: rate, ..scenario.clone() };
    Point::new(&scenario, traffic, profile)?.bound()
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
        let streams = traffic.streams();
        scenario.extensions().check_streams(streams)?;
        let stacks = scenario.check_stacks(streams)?.min(streams);
        let approach = scenario.scheduling.approach.costs();
        scenario.check_length()?;
        let model = ExecutionModel::new(profile, approach, scenario.processors)?;
        let rate = match traffic.is_closed() {
            // As fast as processors ever are: more cannot come in the long run.
            true => {
                PerSecond::every(model.receive_hot(Situation::default())) * f64::from(scenario.processors)
            }
            false => traffic.rate(scenario.rate_per_s)?,
        };
        let point = Self {
            scenario,
            rate,
            traffic,
            shape: Shape { processors: scenario.processors, streams, stacks },
            model,
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
        let (point, state) = self.state(&capacity)?;
        Ok(point.result_of(capacity, state.map(|state| state.outcome)))
    }

    /// The point, which now knows the `capacity`, and its steady state if there is one.
    pub(super) fn state(self, capacity: &Capacity) -> Result<(Self, Option<SteadyState>), PointError> {
        // In a closed loop, queues do not remember bursts for longer than it takes to answer all requests.
        let load = if self.traffic.is_closed() { 0.0 } else { self.rate.0 / capacity.rate.mean.0 };
        let point = Self { load, ..self };
        let state = if point.is_trace() {
            Some(point.replay()?)
        } else if point.is_saturated(capacity) {
            None
        } else {
            point.steady(capacity)?
        };
        Ok((point, state))
    }

    /// The result with this `outcome`.
    pub(super) fn result_of(&self, capacity: Capacity, outcome: Option<Outcome>) -> PointResult {
        let capacity = if outcome.is_none() { capacity.of_saturated(self.rate) } else { capacity };
        let closed = outcome.filter(|_| self.traffic.is_closed());
        let rate = closed.map_or(self.rate, |outcome| outcome.throughput);
        let capture = self.traffic.trace().map(Trace::capture);
        PointResult { rate, capacity, outcome, capture }
    }

    /// Checks that a run is judged for the first time while its clock can still tell service times.
    fn check_clock(&self) -> Result<(), Fault> {
        let most =
            self.traffic.trace().map_or(self.scenario.run.most_packets(), |trace| trace.packets() as u64);
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
            max_packets: self.scenario.run.most_packets().min(shown as u64),
            // It is known exactly for Poisson arrivals.
            mean_gap: (self.scenario.traffic.process == Process::Poisson).then(|| self.rate.interval()),
        }
    }

    /// Exactly this many packets in each run, if the scenario says so.
    pub(super) const fn fixed_packets(&self) -> Option<u64> {
        self.scenario.run.packets
    }

    /// Packets of each run of a comparison: more are measured than left out.
    pub(super) fn compared_packets(&self) -> u64 {
        let warmup = self.scenario.run.warmup_packets.unwrap_or(0);
        self.fixed_packets().unwrap_or(PACKETS.max(2 * warmup))
    }

    fn needs(&self) -> RunNeeds {
        RunNeeds::new(self.shape, self.scenario, self.rate)
    }

    pub(super) fn mixing(&self) -> Mixing {
        self.needs().mixing()
    }

    /// Packets before which a run of this point is too short for an interval.
    pub(super) fn settled(&self) -> u64 {
        self.needs().settled(self.load)
    }

    pub(super) const fn load(&self) -> f64 {
        self.load
    }

    pub(super) fn processors(&self) -> u32 {
        self.shape.processors
    }

    /// Packets left out at the start of each run, if the scenario says so.
    pub(super) const fn warmup_packets(&self) -> Option<u64> {
        self.scenario.run.warmup_packets
    }

    pub(super) const fn traffic(&self) -> &OpenTraffic {
        self.traffic
    }

    /// Whether the packets are those of a trace.
    pub(super) fn is_trace(&self) -> bool {
        self.traffic.trace().is_some()
    }

    pub(super) fn host(&self, replication: u64) -> SimulatedHost<'_> {
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
        Ok(self.bound()?.capacity)
    }

    /// Measures the highest rate that the host keeps up with, and finds what sets it.
    ///
    /// # Errors
    /// If the traffic cannot be generated.
    pub fn bound(&self) -> Result<Bound, PointError> {
        let mut host = self.host(CAPACITY_REPLICATION);
        // Its requests arrive by themselves here.
        host.extensions.closed = None;
        let arrivals = || self.traffic.endless(self.rate, host.key);
        let (packets, is_known) = self.needs().capacity();
        let capacity = capacity_over(packets, &host, &mut *arrivals()?);
        let capacity = capacity.with_service_known(self.needs().has_variance());
        let all = capacity.rate;
        let busiest = busiest(&host, &self.traffic.shares()?, arrivals, [self.rate, all.mean])?;
        let capacity = Capacity { rate: busiest.map_or(all, |server| server.rate), ..capacity };
        // A trace is always the same when it is run again: nothing shows what another one would do.
        let is_known = is_known && self.traffic.trace().is_none();
        Ok(Bound { capacity: if is_known { capacity } else { capacity.unknown() }, all, busiest })
    }

    /// Whether the arrivals are more than the host keeps up with, and queues grow for ever.
    pub(super) fn is_saturated(&self, capacity: &Capacity) -> bool {
        !self.is_bounded() && capacity.is_exceeded_by(self.rate)
    }

    /// Whether queues cannot grow for ever.
    pub(super) fn is_bounded(&self) -> bool {
        self.scenario.extensions().are_bounded()
    }

    /// Replays the trace once; a second run would be the same.
    fn replay(&self) -> Result<SteadyState, PointError> {
        let host = self.host(0);
        let outcome = replay(&host, &mut *self.traffic.source(self.rate, host.key)?);
        let outcome = match self.traffic.trace().filter(|_| host.extensions.queues.limit.is_some()) {
            Some(trace) => outcome.with_lost_of(trace.packets() as u64),
            None => outcome,
        };
        Ok(SteadyState { outcome, runs: vec![RunExtent { packets: outcome.packets, warmup: 0 }] })
    }

    pub(super) fn run(
        &self,
        replication: u64,
        precision: Precision,
        growth: GrowthRule,
    ) -> Result<Replication, PointError> {
        let host = self.host(replication);
        let mut arrivals = self.traffic.source(self.rate, host.key)?;
        let start = Start { settled: self.settled(), warmup: self.warmup_packets() };
        Ok(replicate(&host, &mut *arrivals, precision, growth, start))
    }
}
