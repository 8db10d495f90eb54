//! The front door for models of one's own: a host with any policy, queues, costs and service times, simulated from
//! any arrivals.
//!
//! ```
//! use warmcore_costs::ConstantCost;
//! use warmcore_policy::policies::MostRecentlyUsed;
//! use warmcore_sim::packet::{Shape, Simulation};
//! use warmcore_units::{Nanos, PerSecond};
//! use warmcore_workload::{Poisson, TimeDistribution};
//!
//! // M/M/1: one processor, exponential services of 1 µs, Poisson arrivals at half of what it can do.
//! let exponential = TimeDistribution::Exponential.factors()?;
//! let simulation = Simulation::new(Shape::square(1), MostRecentlyUsed, ConstantCost(Nanos(1_000.0)))
//!     .service(exponential)
//!     .seed(7)
//!     .precision(0.02);
//! let mut arrivals = Poisson::new(PerSecond(500_000.0), 1, simulation.key())?;
//! let outcome = simulation.run(&mut arrivals)?;
//! // Twice the service time, by theory.
//! assert!((outcome.delay.mean.0 - 2_000.0).abs() < 200.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Policy, queues, costs and service times are types, so that a simulation of them is compiled like one of the built-in
//! ones. What they return is checked: an impossible answer ends the run with a [`SimulationError`].

mod busiest;
mod checked;
mod event;
mod observed;
mod settings;
mod work;

pub use event::SimulationEvent;

use crate::packet::capacity::{Bound, Capacity, Saturated, wanted};
use crate::packet::dispatch::SystemTask;
use crate::packet::features::Own;
use crate::packet::feed::Feed;
use crate::packet::host::{Packet, Shape, SimulatedHost};
use crate::packet::observe::watch::{Watched, Watcher};
use crate::packet::outcome::Outcome;
use crate::packet::point::ANY_RATE;
use crate::packet::replay::TraceTally;
use crate::packet::replications::combined;
use crate::packet::run::{GrowthRule, Judged, Precision, Replication, Start, Traced};
use crate::packet::service::ServiceDistribution;
use crate::packet::system::{Finished, System};
use busiest::{busiest, is_helped};
use checked::{CheckedArrivals, CheckedCosts, CheckedPolicy, CheckedService, Faults};
use core::ops::ControlFlow;
use event::EventWatcher;
use std::sync::Arc;
use warmcore_costs::CostModel;
use warmcore_policy::dispatch::{Layout, PacketQueues, QueueLimit, QueueRules, Waiting};
use warmcore_policy::{Policy, Queues};
use warmcore_scenario::{Effects, Extensions, Parallelism, RunLength, Scheduling};
use warmcore_units::Fault;
use warmcore_workload::{Arrivals, ClosedLoop, Key, TimeFactors};
use work::{Recorded, WorkRecorder};

/// A host to simulate: `P` chooses processors, `C` says what packets cost, `W` holds those that wait, and `S` says how
/// service times vary.
///
/// Runs are pure functions of it and of the arrivals: each begins with a clone of the policy and of the service times.
pub struct Simulation<P, C, W = PacketQueues<Packet>, S = TimeFactors> {
    shape: Shape,
    policy: P,
    costs: C,
    service: S,
    scheduling: Scheduling,
    effects: Effects,
    speeds: Vec<f64>,
    key: Key,
    precision: Precision,
    limit: Option<QueueLimit>,
    classes: Vec<u32>,
    closed: Option<ClosedLoop>,
    /// The streams' shares of the packets; empty if they are not known.
    shares: Vec<f64>,
    start: Start,
    /// Packets to find the capacity with; `None` for as many as the host needs.
    capacity_packets: Option<u64>,
    queues: MakeQueues<W>,
}

/// Packets of a run that shows the work of each server, at least.
const WORK_PACKETS: u64 = 80_000;

/// Makes the queues for a layout, of which the policy says how many there are.
type MakeQueues<W> = Arc<dyn Fn(&Layout, Queues) -> W + Send + Sync>;

/// A run of as many packets as were asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct FixedRun {
    /// What it came to.
    pub outcome: Outcome,
    /// Whether queues were growing at its end.
    pub grows: bool,
}

/// Why a simulation of one's own ended.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimulationError {
    /// A setting is not possible.
    #[error("{0}")]
    Setting(Fault),
    /// A policy, a cost model, a service distribution or arrivals returned something impossible. The fault's field says
    /// which.
    #[error("{0}")]
    Model(Fault),
}

impl<P: Policy, C: CostModel> Simulation<P, C> {
    /// A host of this shape. Packets wait first come first served in the queues that the policy asks for, every packet takes
    /// what it costs, and all processors share one stack.
    #[must_use]
    pub fn new(shape: Shape, policy: P, costs: C) -> Self {
        let RunLength { precision, max_packets, .. } = RunLength::default();
        Self {
            shape,
            policy,
            costs,
            service: TimeFactors::ONE,
            scheduling: Scheduling::default(),
            effects: Effects::NONE,
            speeds: Vec::new(),
            key: Key { seed: 1, point: 0, replication: 0 },
            precision: Precision { relative: precision, max_packets, mean_gap: None },
            limit: None,
            classes: Vec::new(),
            closed: None,
            shares: Vec::new(),
            start: Start::default(),
            capacity_packets: None,
            queues: Arc::new(PacketQueues::new),
        }
    }
}

impl<P: Policy, C: CostModel, W: Waiting<Job = Packet>, S: ServiceDistribution> Simulation<P, C, W, S> {
    /// The name of the random numbers that the policy and the service times draw. Arrivals drawn with it have streams of
    /// their own.
    #[must_use]
    pub fn key(&self) -> Key {
        self.key
    }

    /// Simulates `arrivals` until the mean delay is known as precisely as asked for. The outcome is
    /// [`Ended::Unknown`](crate::packet::Ended::Unknown) if queues grow, as they do on a saturated host.
    ///
    /// # Errors
    /// If a setting or an answer of a model is impossible.
    pub fn run(&self, arrivals: &mut dyn Arrivals) -> Result<Outcome, SimulationError> {
        Ok(self.replication(arrivals, self.precision, GrowthRule::Stop)?.outcome)
    }

    /// As [`run`](Self::run), for this many independent replications, which are averaged. `arrivals` gives those of each, from
    /// its key, whose number counts from that of [`key`](Self::key) on.
    ///
    /// # Errors
    /// As [`run`](Self::run), if there are no replications, and of `arrivals`.
    pub fn replicate<E: From<SimulationError>>(
        &mut self,
        replications: u32,
        mut arrivals: impl FnMut(Key) -> Result<Box<dyn Arrivals>, E>,
    ) -> Result<Outcome, E> {
        let (key, precision) = (self.key, self.precision);
        // Averaged together, they are more precise than one alone by the square root of their number.
        let each = Precision { relative: precision.relative * f64::from(replications).sqrt(), ..precision };
        let mut replication = |number: u64| -> Result<Replication, E> {
            self.key = Key { replication: key.replication + number, ..key };
            Ok(self.replication(&mut *arrivals(self.key)?, each, GrowthRule::Stop)?)
        };
        let runs = (0..replications.into()).map(&mut replication).collect::<Result<Vec<_>, E>>();
        self.key = key;
        let fault = || SimulationError::Setting(Fault::new("replications", 0, "at least 1"));
        Ok(combined(runs?, precision.relative).ok_or_else(fault)?)
    }

    /// One run. Where queues cannot grow for ever, `growth` does not matter.
    fn replication(
        &self,
        arrivals: &mut dyn Arrivals,
        precision: Precision,
        growth: GrowthRule,
    ) -> Result<Replication, SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        // Queues of one's own may be limited too.
        let is_limited = self.limit.is_some() || W::LIMITED && self.classes.is_empty();
        let (extensions, feed) = (self.extensions(), Feed::new(&mut arrivals));
        let judged = Judged::new(self.shape, feed, &extensions, is_limited, precision, growth, self.start);
        self.perform(judged, &faults)
    }

    /// The highest rate that the host keeps up with, for packets like those of `arrivals`. Of their times only the pattern
    /// matters.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn capacity(&self, arrivals: &mut dyn Arrivals) -> Result<Capacity, SimulationError> {
        Ok(self.bound(arrivals)?.capacity)
    }

    /// As [`capacity`](Self::capacity), with what sets it. Where packets wait in a common queue, the host is offered more than
    /// it can process, so that it is never idle. Where they wait for certain processors or stacks, the busiest one may keep up
    /// with less than all together: [rates are tried](self) until its time in service is all time. The half-width holds whichever
    /// is the busiest; it is infinite if queues are limited, since none grows for ever then.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn bound(&self, arrivals: &mut dyn Arrivals) -> Result<Bound, SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        let packets = self.capacity_packets.unwrap_or_else(|| wanted(self.shape));
        // Clients would wait: what the host can do does not depend on them.
        let open = || Extensions { closed: None, ..self.extensions() };
        let has_servers = P::QUEUES == Queues::PerProcessor || W::HOLDS_STACK;
        if !has_servers || open().are_bounded() {
            let saturated = Saturated { shape: self.shape, feed: Feed::new(&mut arrivals), packets };
            let capacity = self.perform_with(open(), saturated, &faults)?;
            let known = if has_servers { capacity.unknown() } else { capacity };
            return Ok(Bound { capacity: known, all: capacity.rate, busiest: None });
        }
        let recorded = Recorded::new(&mut arrivals, Saturated::offered(self.shape, packets));
        let mut again = recorded.at(ANY_RATE, u64::MAX);
        let saturated = Saturated { shape: self.shape, feed: Feed::new(&mut again), packets };
        let capacity = self.perform_with(open(), saturated, &faults)?;
        let work_at = |rate| {
            let mut again = recorded.at(rate, packets.max(WORK_PACKETS));
            self.perform_with(open(), WorkRecorder { feed: Feed::new(&mut again) }, &faults)
        };
        let busiest = match busiest(work_at, &self.shares, capacity.rate.mean)? {
            Some(server) if is_helped(work_at, &server, capacity.rate)? => None,
            busiest => busiest,
        };
        Ok(Bound::with(capacity, busiest))
    }

    /// Simulates all of the `arrivals`, which are so many `packets`. Another run would be the same, and nothing shows how much other
    /// arrivals would differ: so no packet is left out as warm-up, and no figure has an interval.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn replay(&self, arrivals: &mut dyn Arrivals, packets: u64) -> Result<Outcome, SimulationError> {
        let mut all = TraceTally::new(self.shape);
        self.trace(arrivals, u64::MAX, &mut |finished| all.push(&finished))?;
        let outcome = all.outcome(self.shape.processors);
        let is_limited = self.limit.is_some() || W::LIMITED && self.classes.is_empty();
        Ok(if is_limited { outcome.with_lost_of(packets) } else { outcome })
    }

    /// Simulates until `packets` are finished or no more arrive, and calls `see` with each finished packet.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn trace(
        &self,
        arrivals: &mut dyn Arrivals,
        packets: u64,
        see: &mut dyn FnMut(Finished),
    ) -> Result<(), SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        self.perform(Traced { feed: Feed::new(&mut arrivals), packets, see }, &faults)
    }

    /// Simulates exactly `packets` of `arrivals`, however precise the mean delay is before, and even if queues grow: a run of
    /// a [comparison](mod@crate::packet::compare).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn fixed_run(&self, arrivals: &mut dyn Arrivals, packets: u64) -> Result<FixedRun, SimulationError> {
        let run = self.replication(arrivals, self.precision.fixed_length(packets), GrowthRule::Continue)?;
        Ok(FixedRun { outcome: run.outcome, grows: run.grows })
    }

    /// Simulates until `see` breaks or no more packets arrive, and shows it every arrival, loss and finished packet in order of
    /// time.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn events(
        &self,
        arrivals: &mut dyn Arrivals,
        see: &mut dyn FnMut(SimulationEvent) -> ControlFlow<()>,
    ) -> Result<(), SimulationError> {
        self.watch(arrivals, &mut EventWatcher { see, goes_on: ControlFlow::Continue(()) })
    }

    fn watch(&self, arrivals: &mut dyn Arrivals, watcher: &mut dyn Watcher) -> Result<(), SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        self.perform(Watched { feed: Feed::new(&mut arrivals), watcher }, &faults)
    }

    /// Checks that packets wait at independent stacks if there are such, and only then.
    fn check_queues(&self) -> Result<(), Fault> {
        let has_stacks = self.scheduling.approach == Parallelism::Ips;
        if has_stacks == W::HOLDS_STACK {
            return Ok(());
        }
        let expected = match has_stacks {
            true => "queues in which a packet holds its stack, such as `StackQueues`, or another approach",
            false => "ips, whose stacks these queues hold, or queues of packets",
        };
        Err(Fault::new("scheduling.approach", self.scheduling.approach, expected))
    }

    fn extensions(&self) -> Extensions<'_> {
        Extensions {
            speeds: &self.speeds,
            queues: QueueRules { limit: self.limit, classes: &self.classes },
            closed: self.closed.as_ref(),
            ..Extensions::NONE
        }
    }

    fn perform<T: SystemTask>(&self, task: T, faults: &Faults) -> Result<T::Output, SimulationError> {
        self.perform_with(self.extensions(), task, faults)
    }

    fn perform_with<T: SystemTask>(
        &self,
        extensions: Extensions,
        task: T,
        faults: &Faults,
    ) -> Result<T::Output, SimulationError> {
        let model = CheckedCosts::new(&self.costs, faults);
        let host = SimulatedHost {
            shape: self.shape,
            scheduling: self.scheduling,
            model: &model,
            effects: self.effects,
            extensions,
            key: self.key,
        };
        host.check().and_then(|()| self.check_queues()).map_err(SimulationError::Setting)?;
        let policy = CheckedPolicy::new(self.policy.clone(), faults);
        let service = CheckedService::new(self.service.clone(), faults);
        let waiting = (self.queues)(&host.layout(), P::QUEUES);
        let system =
            System::<_, W, Own<CheckedCosts<C>, CheckedService<S>>>::new(policy, waiting, &host, service);
        let output = task.run(system);
        faults.first().map_or(Ok(output), |fault| Err(SimulationError::Model(fault)))
    }
}
