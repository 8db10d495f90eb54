//! The settings of a simulation of one's own, each of which has a default.

use super::{MakeQueues, Simulation};
use crate::packet::host::Packet;
use crate::packet::run::{Precision, Start};
use crate::packet::service::ServiceDistribution;
use std::sync::Arc;
use warmcore_costs::CostModel;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{ClassQueues, Layout, QueueRules, Waiting};
use warmcore_scenario::{Effects, Scheduling};
use warmcore_units::Nanos;
use warmcore_workload::{ClosedLoop, Key};

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

    /// Leaves out this many packets at the start of each run, rounded up to whole batches. Without this, the start is found.
    #[must_use]
    pub fn warmup_packets(self, packets: u64) -> Self {
        Self { start: Start { warmup: Some(packets), ..self.start }, ..self }
    }

    /// A run is not judged before this many packets, and has no intervals if it ends before that: for arrivals that take long
    /// to forget how they began ([`RunNeeds`](crate::packet::RunNeeds)).
    #[must_use]
    pub fn settled(self, packets: u64) -> Self {
        Self { start: Start { settled: packets, ..self.start }, ..self }
    }

    /// As [`settled`](Self::settled), of the runs that follow.
    pub fn set_settled(&mut self, packets: u64) {
        self.start.settled = packets;
    }

    /// Finds the [capacity](Self::bound) with this many packets.
    #[must_use]
    pub fn capacity_packets(self, packets: u64) -> Self {
        Self { capacity_packets: Some(packets), ..self }
    }

    /// The share of the packets that each stream sends, where it is known: it narrows the interval of the
    /// [capacity](Self::bound). They add up to 1; streams beyond the list send nothing.
    #[must_use]
    pub fn shares(self, shares: impl Into<Vec<f64>>) -> Self {
        Self { shares: shares.into(), ..self }
    }

    fn with<Q, T>(self, queues: MakeQueues<Q>, change: impl FnOnce(S) -> T) -> Simulation<P, C, Q, T> {
        let Self { shape, policy, costs, service, scheduling, effects, speeds, key, .. } = self;
        let Self { precision, limit, classes, closed, shares, start, capacity_packets, .. } = self;
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
            shares,
            start,
            capacity_packets,
            queues,
        }
    }
}
