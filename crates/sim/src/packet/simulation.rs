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

mod checked;
mod event;
mod observed;

pub use event::SimulationEvent;

use crate::packet::capacity::{Capacity, Saturated, wanted};
use crate::packet::dispatch::SystemTask;
use crate::packet::features::Own;
use crate::packet::feed::Feed;
use crate::packet::figures::ExtensionTally;
use crate::packet::host::{Packet, Shape, SimulatedHost};
use crate::packet::observe::watch::{Watched, Watcher};
use crate::packet::outcome::Outcome;
use crate::packet::run::{GrowthRule, Judged, Precision, Replication, Start, Traced};
use crate::packet::service::ServiceDistribution;
use crate::packet::system::{Finished, System};
use checked::{CheckedArrivals, CheckedCosts, CheckedPolicy, CheckedService, Faults};
use core::ops::ControlFlow;
use event::EventWatcher;
use std::sync::Arc;
use warmcore_costs::CostModel;
use warmcore_policy::dispatch::{ClassQueues, Layout, PacketQueues, QueueLimit, QueueRules, Waiting};
use warmcore_policy::{Policy, Queues};
use warmcore_scenario::{Effects, Extensions, Parallelism, RunLength, Scheduling};
use warmcore_units::{Fault, Nanos};
use warmcore_workload::{Arrivals, ClosedLoop, Key, TimeFactors};

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
    queues: MakeQueues<W>,
}

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
            queues: Arc::new(PacketQueues::new),
        }
    }
}

impl<P: Policy, C: CostModel, W: Waiting<Job = Packet>, S: ServiceDistribution> Simulation<P, C, W, S> {
    /// Packets wait in `Q` instead. It must provide the queues that the policy asks for:
    /// [`StreamQueue`](warmcore_policy::dispatch::StreamQueue) has a common one only.
    #[must_use]
    pub fn queues<Q: Waiting<Job = Packet> + 'static>(self) -> Simulation<P, C, Q, S> {
        let plain = Self { limit: None, classes: Vec::new(), ..self };
        plain.with(Arc::new(Q::new), |service| service)
    }

    /// Packets wait in queues with these rules: a limit, beyond which they are lost, and classes, the most urgent of which
    /// comes first. The outcome's [`ExtensionFigures`](crate::packet::ExtensionFigures) say what is lost, and how long each
    /// class takes.
    #[must_use]
    pub fn queue_rules(self, rules: QueueRules) -> Simulation<P, C, ClassQueues<Packet>, S> {
        let QueueRules { limit, classes } = rules;
        let classes = classes.to_vec();
        let ruled = Self { limit, classes: classes.clone(), ..self };
        let make = move |layout: &Layout, queues| {
            ClassQueues::with_rules(layout, queues, &QueueRules { limit, classes: &classes })
        };
        ruled.with(Arc::new(make), |service| service)
    }

    /// Each stream is a client of a closed loop, in addition to the arrivals that are given to a run. Without any, give it
    /// [`Silence`](warmcore_workload::Silence).
    #[must_use]
    pub fn closed(self, closed: ClosedLoop) -> Self {
        Self { closed: Some(closed), ..self }
    }

    /// Service times vary as `service` says.
    #[must_use]
    pub fn service<T: ServiceDistribution>(self, service: T) -> Simulation<P, C, W, T> {
        let queues = self.queues.clone();
        self.with(queues, |_| service)
    }

    /// How processing is made parallel, and how threads and memory are organised. Under IPS give
    /// [`queues`](Self::queues)`::<StackQueues<Packet>>()` too. Its `policy` is not used, except that the
    /// order of a global pool of threads depends on it.
    #[must_use]
    pub fn scheduling(self, scheduling: Scheduling) -> Self {
        Self { scheduling, ..self }
    }

    /// Costs beside those of the model.
    #[must_use]
    pub fn effects(self, effects: Effects) -> Self {
        Self { effects, ..self }
    }

    /// The speed of each processor, 1 without this.
    #[must_use]
    pub fn speeds(self, speeds: impl Into<Vec<f64>>) -> Self {
        Self { speeds: speeds.into(), ..self }
    }

    /// The seed of every random choice, 1 without this.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { key: Key { seed, ..self.key }, ..self }
    }

    /// Names the random numbers of the runs that follow.
    pub fn set_key(&mut self, key: Key) {
        self.key = key;
    }

    /// The name of the random numbers, for several points or replications with one seed.
    #[must_use]
    pub fn with_key(self, key: Key) -> Self {
        Self { key, ..self }
    }

    /// A run ends when the half-width of the mean delay is at most this fraction of the mean: 0.005 without this.
    #[must_use]
    pub fn precision(self, relative: f64) -> Self {
        Self { precision: Precision { relative, ..self.precision }, ..self }
    }

    /// A run ends after this many packets at the latest: 20 million without this.
    #[must_use]
    pub fn max_packets(self, max_packets: u64) -> Self {
        Self { precision: Precision { max_packets, ..self.precision }, ..self }
    }

    /// The exact mean time between packets, where it is known: as a control variate it narrows the interval of the delay.
    #[must_use]
    pub fn mean_gap(self, mean_gap: Nanos) -> Self {
        Self { precision: Precision { mean_gap: Some(mean_gap), ..self.precision }, ..self }
    }

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
        let growth = if self.extensions().are_bounded() { GrowthRule::Impossible } else { GrowthRule::Stop };
        Ok(self.replicate(arrivals, self.precision, growth)?.outcome)
    }

    fn replicate(
        &self,
        arrivals: &mut dyn Arrivals,
        precision: Precision,
        growth: GrowthRule,
    ) -> Result<Replication, SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        let judged = Judged {
            shape: self.shape,
            feed: Feed::new(&mut arrivals),
            precision: precision.for_extensions(&self.extensions()),
            growth,
            start: Start { settled: self.shape.settled(), warmup: None },
            // Queues of one's own may be limited too.
            extra: ExtensionTally::new(
                self.limit.is_some() || W::LIMITED && self.classes.is_empty(),
                &self.extensions(),
            ),
        };
        self.perform(judged, &faults)
    }

    /// The highest rate that the host keeps up with, for packets like those of `arrivals`, whose times are ignored. It is
    /// what the host processes when it is never idle; if streams have unequal rates and processors of their own, the
    /// busiest processor keeps up with less.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn capacity(&self, arrivals: &mut dyn Arrivals) -> Result<Capacity, SimulationError> {
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        let saturated =
            Saturated { shape: self.shape, feed: Feed::new(&mut arrivals), packets: wanted(self.shape) };
        // Clients would wait: what the host can do does not depend on them.
        let open = Extensions { closed: None, ..self.extensions() };
        self.perform_with(open, saturated, &faults)
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
        let growth =
            if self.extensions().are_bounded() { GrowthRule::Impossible } else { GrowthRule::Continue };
        let run = self.replicate(arrivals, self.precision.fixed_length(packets), growth)?;
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

    fn with<Q, T>(self, queues: MakeQueues<Q>, change: impl FnOnce(S) -> T) -> Simulation<P, C, Q, T> {
        let Self { shape, policy, costs, service, scheduling, effects, speeds, key, .. } = self;
        let Self { precision, limit, classes, closed, .. } = self;
        let service = change(service);
        Simulation {
            shape,
            policy,
            costs,
            service,
            scheduling,
            effects,
            speeds,
            key,
            precision,
            limit,
            classes,
            closed,
            queues,
        }
    }
}
