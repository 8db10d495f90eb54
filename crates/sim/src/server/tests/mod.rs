//! Tests of whole servers, against measured rows, hand computations and theory.

mod capacities;
mod low_load;
mod meetings;
mod queueing;
mod refused;

use super::flows::Flows;
use super::machine::{Finished, Machine};
use super::synthetic::Synthetic;
use super::{ServerHost, ServerPrecision, ServerSetup};
use warmcore_scenario::ServerPolicy;
use warmcore_units::PerSecond;
use warmcore_workload::random::Key;

const SEED: u64 = 0x5e4;
const PRECISION: ServerPrecision = ServerPrecision { relative: 0.02, max_requests: 400_000 };

fn setup(policy: ServerPolicy, processors: u32, flows: u32) -> ServerSetup {
    ServerSetup { policy, processors, flows, seed: SEED }
}

fn host(costs: &Synthetic, policy: ServerPolicy, processors: u32, flows: u32) -> ServerHost {
    ServerHost::new(&costs.costs(), setup(policy, processors, flows)).unwrap()
}

/// A host of as many flows as `workers`, which are theirs under the policies by hash.
fn placed(costs: &Synthetic, policy: ServerPolicy, processors: u32, workers: &[u32]) -> ServerHost {
    let mut host = host(costs, policy, processors, workers.len() as u32);
    host.flows = Flows::with_workers(processors, workers.to_vec());
    host
}

fn machine(host: &ServerHost, rate: f64) -> Machine<'_> {
    Machine::new(host, PerSecond(rate), Key { seed: SEED, point: 0, replication: 0 })
}

/// The next `requests` that `machine` finishes.
fn finished(machine: &mut Machine, requests: usize) -> Vec<Finished> {
    let mut all = Vec::new();
    while all.len() < requests {
        machine.step();
        all.extend_from_slice(machine.finished());
        machine.clear_finished();
    }
    all
}

#[test]
fn the_same_seed_gives_the_same_bits_on_one_thread_or_many() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for policy in ServerPolicy::BASIC {
        let host = host(&Synthetic::default(), policy, 3, 12);
        let results = || (host.simulate(PerSecond(2e5), PRECISION).unwrap(), host.capacity());
        let (here, alone) = (results(), one.install(results));
        assert_eq!(here, alone, "{policy}");
        let other = ServerHost { seed: SEED + 1, ..host.clone() };
        assert_ne!(other.simulate(PerSecond(2e5), PRECISION).unwrap(), here.0, "{policy}");
    }
}
