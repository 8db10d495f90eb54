//! Checks the service times at high load that Salehi, Kurose & Towsley 1994 state for their machine: 125 µs
//! under Locking with MRU and 103 µs with Wired-Streams (§6.1), 57.4 µs under IPS (§6.2). The model must not
//! be adjusted to reach them; the choices that the text leaves open are documented where they are made.

use warmcore_costs::{Approach, ExecutionModel, Profile};
use warmcore_scenario::{Combination, Effects, Extensions, Organisation, ProcessorPolicy};
use warmcore_sim::packet::{Shape, SimulatedHost, capacity};
use warmcore_units::PerSecond;
use warmcore_workload::{Key, Poisson};

const SEEDS: u64 = 5;

#[test]
fn service_times_at_high_load_are_the_published_ones() {
    use ProcessorPolicy::{Lru, Mru, WiredStreams};
    let profile = Profile::sgi_challenge_xl();
    for (approach, policy, published_us) in [
        (Approach::Locking, Mru, 125.0),
        (Approach::Locking, Lru, 125.0),
        (Approach::Locking, WiredStreams, 103.0),
        (Approach::IndependentStacks, Mru, 57.4),
        (Approach::IndependentStacks, Lru, 57.4),
        (Approach::IndependentStacks, WiredStreams, 57.4),
    ] {
        let pools = Organisation::PerProcessor;
        let combination = Combination { approach, policy, threads: pools, memory: pools };
        let model = ExecutionModel::new(&profile, approach, 8).unwrap();
        for seed in 0..SEEDS {
            let key = Key { seed, point: 0, replication: 0 };
            let mut arrivals = Poisson::new(PerSecond(1.0), 8, key).unwrap();
            let (shape, scheduling) = (Shape::square(8), combination.into());
            let host = SimulatedHost {
                shape,
                scheduling,
                model: &model,
                effects: Effects::NONE,
                extensions: Extensions::NONE,
                key,
            };
            let capacity = capacity(&host, &mut arrivals);
            let service = capacity.service.mean.micros();
            assert!(
                (service / published_us - 1.0).abs() <= 0.005,
                "{combination}: {service} µs instead of {published_us} µs (seed {seed})"
            );
            let rate = 8.0 / capacity.service.mean.secs();
            assert!((capacity.rate.mean.0 / rate - 1.0).abs() < 0.005, "{combination}: {}", capacity.rate);
        }
    }
}
