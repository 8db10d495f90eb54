//! Warmcore's packet simulator. Nothing else in this benchmark calls it.

use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS, Service};
use std::time::Instant;
use warmcore_costs::profile::Measured;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::{Effects, Extensions, Organisation, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Precision, Shape, SimulatedHost, capacity, run};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Key, Poisson};

/// A host to simulate, and the rate at which it is saturated.
pub(crate) struct LoadedHost {
    scheduling: Scheduling,
    shape: Shape,
    model: ExecutionModel,
    /// Packets per second.
    capacity: PerSecond,
}

impl LoadedHost {
    /// A host with the costs of the published profile; under IPS it has one stack per stream.
    pub(crate) fn published(
        approach: Parallelism,
        policy: ProcessorPolicy,
        processors: u32,
        streams: u32,
    ) -> Self {
        let mut loaded = Self::new(&Profile::sgi_challenge_xl(), approach, policy, processors, streams);
        let key = Key { seed: 0, point: 0, replication: 0 };
        // The capacity depends only on the order of packets, so any rate will do.
        let mut packets = Poisson::new(PerSecond(1.0), streams, key).expect("there is a stream");
        loaded.capacity = capacity(&loaded.host(key), &mut packets).rate.mean;
        loaded
    }

    /// A host on which every packet takes `service`, whatever is in the cache.
    fn constant(service: Nanos, processors: u32) -> Self {
        let mut profile = Profile::sgi_challenge_xl();
        for times in [&mut profile.times.locking, &mut profile.times.independent_stacks] {
            times.fully_cold = Measured::published(service);
            for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
                receive.hot = Measured::published(service);
                receive.cold.fill(Measured::published(service));
            }
        }
        let mut loaded =
            Self::new(&profile, Parallelism::Locking, ProcessorPolicy::Mru, processors, processors);
        loaded.capacity = PerSecond::every(service) * f64::from(processors);
        loaded
    }

    fn new(
        profile: &Profile,
        approach: Parallelism,
        policy: ProcessorPolicy,
        processors: u32,
        streams: u32,
    ) -> Self {
        let own = Organisation::PerProcessor;
        let model = ExecutionModel::new(profile, approach.costs(), processors);
        Self {
            scheduling: Scheduling { approach, policy, threads: own, memory: own, ..Scheduling::default() },
            shape: Shape { processors, streams, stacks: streams },
            model: model.expect("the profile is complete"),
            capacity: PerSecond(0.0),
        }
    }

    fn host(&self, key: Key) -> SimulatedHost<'_> {
        let Self { scheduling, shape, ref model, .. } = *self;
        SimulatedHost { shape, scheduling, model, effects: Effects::NONE, extensions: Extensions::NONE, key }
    }

    /// Simulates `packets` Poisson packets at `load` times the capacity, with all statistics on. Returns the
    /// elapsed seconds and the mean delay.
    pub(crate) fn simulate(&self, load: f64, packets: u64, seed: u64) -> (f64, Nanos) {
        let key = Key { seed, point: 1, replication: 0 };
        // A precision that is never reached, so that the run does not stop before `packets`.
        let precision = Precision { relative: f64::MIN_POSITIVE, max_packets: packets, mean_gap: None };
        let start = Instant::now();
        let arrivals = Poisson::new(self.capacity * load, self.shape.streams, key);
        let mut arrivals = arrivals.expect("there are streams and a rate");
        let outcome = run(&self.host(key), &mut arrivals, precision);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(outcome.packets, packets, "every packet is simulated");
        (seconds, outcome.delay.mean)
    }
}

/// The full packet model as a peer. Where every packet takes equally long, Locking under MRU is M/D/c; the
/// model still keeps the state of all caches.
pub(crate) struct PacketModel {
    host: LoadedHost,
}

impl PacketModel {
    const SERVICE: Nanos = Nanos::from_micros(100.0);

    pub(crate) fn new() -> Self {
        Self { host: LoadedHost::constant(Self::SERVICE, SERVERS) }
    }
}

impl Peer for PacketModel {
    fn name(&self) -> String {
        format!("warmcore {}, full packet model", env!("CARGO_PKG_VERSION"))
    }

    fn customers(&self) -> u64 {
        3_000_000
    }

    fn supports(&self, service: Service) -> bool {
        service == Service::Constant
    }

    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError> {
        let (seconds, delay) = self.host.simulate(queue.load, customers, seed);
        Ok(Run { customers, seconds, mean_sojourn: delay / Self::SERVICE })
    }
}
