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

use crate::packet::capacity::{Capacity, Saturated, wanted};
use crate::packet::dispatch::SystemTask;
use crate::packet::features::Own;
use crate::packet::feed::Feed;
use crate::packet::host::{Packet, Shape, SimulatedHost};
use crate::packet::outcome::Outcome;
use crate::packet::run::{GrowthRule, Judged, Precision, Traced};
use crate::packet::service::ServiceDistribution;
use crate::packet::system::{Finished, System};
use checked::{CheckedArrivals, CheckedCosts, CheckedPolicy, CheckedService, Faults};
use core::marker::PhantomData;
use warmcore_costs::CostModel;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{PacketQueues, Waiting};
use warmcore_scenario::{Effects, Extensions, RunLength, Scheduling};
use warmcore_units::{Fault, Nanos};
use warmcore_workload::{Arrivals, Key, TimeFactors};

/// A host to simulate: `P` chooses processors, `C` says what packets cost, `W` holds those that wait, and `S` says how
/// service times vary.
///
/// Runs are pure functions of it and of the arrivals: each begins with a clone of the policy and of the service times.
#[derive(Debug)]
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
    queues: PhantomData<fn() -> W>,
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
            queues: PhantomData,
        }
    }
}

impl<P: Policy, C: CostModel, W: Waiting<Job = Packet>, S: ServiceDistribution> Simulation<P, C, W, S> {
    /// Packets wait in `Q` instead. It must provide the queues that the policy asks for:
    /// [`StreamQueue`](warmcore_policy::dispatch::StreamQueue) has a common one only.
    #[must_use]
    pub fn queues<Q: Waiting<Job = Packet>>(self) -> Simulation<P, C, Q, S> {
        self.with(PhantomData, |service| service)
    }

    /// Service times vary as `service` says.
    #[must_use]
    pub fn service<T: ServiceDistribution>(self, service: T) -> Simulation<P, C, W, T> {
        self.with(PhantomData, |_| service)
    }

    /// How processing is made parallel, and how threads and memory are organised. Its `policy` is not used, except that the
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
        let faults = Faults::default();
        let mut arrivals = CheckedArrivals::new(arrivals, self.shape.streams, &faults);
        let judged = Judged {
            shape: self.shape,
            feed: Feed::new(&mut arrivals),
            precision: self.precision,
            growth: GrowthRule::Stop,
            settled: self.shape.settled(),
        };
        Ok(self.perform(judged, &faults)?.outcome)
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
        self.perform(saturated, &faults)
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

    fn perform<T: SystemTask>(&self, task: T, faults: &Faults) -> Result<T::Output, SimulationError> {
        let model = CheckedCosts::new(&self.costs, faults);
        let host = SimulatedHost {
            shape: self.shape,
            scheduling: self.scheduling,
            model: &model,
            effects: self.effects,
            extensions: Extensions { speeds: &self.speeds, ..Extensions::NONE },
            key: self.key,
        };
        host.check().map_err(SimulationError::Setting)?;
        let policy = CheckedPolicy::new(self.policy.clone(), faults);
        let service = CheckedService::new(self.service.clone(), faults);
        let waiting = W::new(&host.layout(), P::QUEUES);
        let system =
            System::<_, W, Own<CheckedCosts<C>, CheckedService<S>>>::new(policy, waiting, &host, service);
        let output = task.run(system);
        faults.first().map_or(Ok(output), |fault| Err(SimulationError::Model(fault)))
    }

    fn with<Q, T>(
        self,
        queues: PhantomData<fn() -> Q>,
        change: impl FnOnce(S) -> T,
    ) -> Simulation<P, C, Q, T> {
        let Self { shape, policy, costs, service, scheduling, effects, speeds, key, precision, .. } = self;
        let service = change(service);
        Simulation { shape, policy, costs, service, scheduling, effects, speeds, key, precision, queues }
    }
}
