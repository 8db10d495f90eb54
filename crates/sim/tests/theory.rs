//! Coverage: over many replications the 95% interval contains the exact value as often as it
//! says. The exact values are those of queueing theory; where a count of successes is judged,
//! the bounds are such that a correct simulator is refused less than once in 10^5 runs of the
//! test, and the seeds are fixed anyway.

use warmcore_costs::displacement::Intervening;
use warmcore_costs::profile::Measured;
use warmcore_costs::{Approach, ExecutionModel, Profile};
use warmcore_scenario::{Combination, Organisation, ProcessorPolicy};
use warmcore_sim::packet::{Precision, Shape, run};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Key, Poisson};

const REPLICATIONS: u64 = 300;
/// A binomial count of 300 at 95% falls outside with probability below 1e-5.
const COVERED: std::ops::RangeInclusive<usize> = 267..=299;

/// The published profile, with every time replaced: `hot` with everything in the first level,
/// `cold` otherwise, and all caches flushed by the shortest pause.
fn two_times(hot: Nanos, cold: Nanos) -> Profile {
    let mut profile = Profile::sgi_challenge_xl();
    profile.intervening = Intervening { references_per_us: 1e15, ..Intervening::MVS };
    for times in [&mut profile.times.locking, &mut profile.times.independent_stacks] {
        times.fully_cold = Measured::published(cold);
        for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
            receive.hot = Measured::published(hot);
            receive.cold.fill(Measured::published(cold));
        }
    }
    profile
}

/// How many replications' intervals contain `exact`, for one processor at `rate`.
fn covered(profile: &Profile, rate: PerSecond, exact: Nanos, point: u64) -> usize {
    let pools = Organisation::PerProcessor;
    let combination = Combination {
        approach: Approach::IndependentStacks,
        policy: ProcessorPolicy::WiredStreams,
        threads: pools,
        memory: pools,
    };
    let shape = Shape { processors: 1, streams: 1, stacks: 1 };
    let model = ExecutionModel::new(profile, combination.approach, 1).unwrap();
    let precision = Precision { relative: f64::MIN_POSITIVE, max_packets: 60_000 };
    let contained = |&replication: &u64| {
        let key = Key { seed: 94, point, replication };
        let outcome = run(combination, shape, &model, Poisson::new(rate, 1, key).unwrap(), precision);
        let half_width = outcome.delay.half_width.unwrap();
        (outcome.delay.mean - exact).0.abs() <= half_width.0
    };
    (0..REPLICATIONS).filter(contained).count()
}

/// M/D/1 by the Pollaczek–Khinchine formula.
#[test]
fn a_single_server_with_constant_service_is_covered() {
    let service = Nanos::from_micros(100.0);
    let profile = two_times(service, service);
    for (point, load) in [0.3, 0.8].into_iter().enumerate() {
        let exact = service * (1.0 + load / (2.0 * (1.0 - load)));
        let covered = covered(&profile, PerSecond::every(service) * load, exact, point as u64);
        assert!(COVERED.contains(&covered), "load {load}: {covered} of {REPLICATIONS}");
    }
}

/// M/G/1 with an exceptional first service in each busy period (Welch 1964), which is exactly
/// what one processor does whose cache is cold after any pause.
#[test]
fn an_exceptional_first_service_is_covered() {
    let (hot, cold) = (Nanos::from_micros(60.0), Nanos::from_micros(240.0));
    let profile = two_times(hot, cold);
    for (point, load) in [0.3, 0.8].into_iter().enumerate() {
        let rate = load / hot.0;
        let cold_load = rate * cold.0;
        let first = (1.0 - load) / (1.0 - load + cold_load);
        let waiting = rate * hot.0.powi(2) / (2.0 * (1.0 - load))
            + rate * (cold.0.powi(2) - hot.0.powi(2)) / (2.0 * (1.0 - load + cold_load));
        let exact = Nanos(waiting) + cold * first + hot * (1.0 - first);
        let covered = covered(&profile, PerSecond(rate * 1e9), exact, 10 + point as u64);
        assert!(COVERED.contains(&covered), "load {load}: {covered} of {REPLICATIONS}");
    }
}
