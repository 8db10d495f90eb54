//! Coverage: over hundreds of replications, 95% intervals must contain the exact value as often as they
//! claim. The exact values come from queueing theory. A binomial test decides; it refuses a correct simulator
//! about once in 10⁵ tests. The seeds are fixed, so that the result never changes.

pub(crate) mod coverage;
pub(crate) mod formulas;
mod sizes;

use crate::machines::{one_time, two_times};
use coverage::{Queue, assert_covered, assert_unbiased};
use formulas::{
    Moments, exceptional_first, sojourn_quantile_mm1, wait_batches, wait_mdc, wait_mg1, wait_mmc,
};
use sizes::Size;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Batch, BatchDistribution};

/// The service time of a packet apart from its size.
const NOTHING: Nanos = Nanos(1e-6);

/// Packets at `rate` per nanosecond, at one processor.
fn single(point: u64, size: Size, rate: f64) -> Queue {
    Queue {
        point,
        profile: one_time(NOTHING),
        approach: Parallelism::Ips,
        policy: ProcessorPolicy::WiredStreams,
        servers: 1,
        rate: PerSecond(rate * 1e9),
        batch: Batch::ONE,
        size,
        controlled: false,
        replications: 300,
        packets: 40_000,
    }
}

/// The same at `servers` processors with one queue.
fn several(point: u64, size: Size, servers: u32, load: f64) -> Queue {
    let rate = load / size.moments().mean;
    let (approach, policy) = (Parallelism::Locking, ProcessorPolicy::Mru);
    Queue { servers, approach, policy, ..single(point, size, rate) }
}

const CONSTANT: Size = Size::Always(3_000);

#[test]
fn one_server_and_constant_services() {
    let service = CONSTANT.moments();
    for (point, load) in [(0, 0.3), (1, 0.8)] {
        let rate = load / service.mean;
        let outcomes = single(point, CONSTANT, rate).outcomes();
        let exact = wait_mg1(rate, service) + service.mean;
        assert_covered(&format!("M/D/1 at {load}"), &outcomes, |outcome| outcome.delay, exact);
    }
}

#[test]
fn one_server_and_exponential_services() {
    let (load, service) = (0.7, Size::EXPONENTIAL.moments());
    let rate = load / service.mean;
    let outcomes = single(2, Size::EXPONENTIAL, rate).outcomes();
    let exact = wait_mg1(rate, service) + service.mean;
    assert_covered("M/M/1, delay", &outcomes, |outcome| outcome.delay, exact);
    assert_covered("M/M/1, service", &outcomes, |outcome| outcome.service, service.mean);
    assert_covered("M/M/1, utilisation", &outcomes, |outcome| outcome.utilisation, load);
    assert_unbiased("M/M/1, utilisation", &outcomes, |outcome| outcome.utilisation.mean, load);
    assert_unbiased("M/M/1, throughput", &outcomes, |outcome| outcome.throughput.0, rate * 1e9);
}

/// With the control variate intervals are narrower, and must still cover.
#[test]
fn intervals_helped_by_the_exact_rate() {
    let (load, service) = (0.7, Size::EXPONENTIAL.moments());
    let rate = load / service.mean;
    let plain = single(2, Size::EXPONENTIAL, rate);
    let outcomes = Queue { controlled: true, ..plain }.outcomes();
    let exact = wait_mg1(rate, service) + service.mean;
    assert_covered("M/M/1, controlled", &outcomes, |outcome| outcome.delay, exact);
}

/// The 99th percentile needs long runs: 200 packets beyond it in each of 16 groups.
#[test]
fn quantiles_of_one_server_and_exponential_services() {
    let (load, service) = (0.5, Size::EXPONENTIAL.moments().mean);
    let long = Queue { replications: 200, packets: 360_000, ..single(14, Size::EXPONENTIAL, load / service) };
    let outcomes = long.outcomes();
    let exact = |quantile| sojourn_quantile_mm1(quantile, load, service);
    assert_covered("M/M/1, p50", &outcomes, |outcome| outcome.quantiles.p50, exact(0.5));
    assert_covered("M/M/1, p99", &outcomes, |outcome| outcome.quantiles.p99, exact(0.99));
}

/// Most packets are short; the others have the longest size of FDDI.
#[test]
fn one_server_and_services_of_two_lengths() {
    let size = Size::Two { low: 100, high: 4_432, share: 0.3 };
    let service = size.moments();
    let rate = 0.7 / service.mean;
    let outcomes = single(3, size, rate).outcomes();
    let exact = wait_mg1(rate, service) + service.mean;
    assert_covered("M/G/1", &outcomes, |outcome| outcome.delay, exact);
}

/// Processors whose caches are cold after any pause, each with its own stream and stack: IPS under
/// Wired-Streams.
#[test]
fn wired_stacks_and_an_exceptional_first_service() {
    let (hot, cold) = (60_000.0, 240_000.0);
    for (point, servers, load) in [(4, 1, 0.3), (5, 1, 0.8), (15, 8, 0.6)] {
        let rate = load / hot;
        let profile = two_times(Nanos(hot), Nanos(cold));
        let all = single(point, Size::Always(0), rate * f64::from(servers));
        let outcomes = Queue { profile, servers, ..all }.outcomes();
        let (wait, first) = exceptional_first(rate, Moments::of_constant(cold), Moments::of_constant(hot));
        let service = hot + (cold - hot) * first;
        let what = format!("{servers} M/G/1 with exceptional first service at {load}");
        assert_covered(&what, &outcomes, |outcome| outcome.delay, wait + service);
        assert_covered(&format!("{what}, service"), &outcomes, |outcome| outcome.service, service);
    }
}

/// The mean wait does not depend on the order of service, as long as the order does not depend on sizes. So
/// stealing from the longest queue gives the same mean wait.
#[test]
fn several_servers_and_exponential_services() {
    for (point, policy) in [(6, ProcessorPolicy::Mru), (7, ProcessorPolicy::HashStealing)] {
        let (servers, load, service) = (4, 3.2, Size::EXPONENTIAL.moments().mean);
        let outcomes = Queue { policy, ..several(point, Size::EXPONENTIAL, servers, load) }.outcomes();
        let exact = wait_mmc(servers, load, service) + service;
        assert_covered(&format!("M/M/4, {policy}"), &outcomes, |outcome| outcome.delay, exact);
        let utilisation = load / f64::from(servers);
        assert_covered("M/M/4, utilisation", &outcomes, |outcome| outcome.utilisation, utilisation);
    }
}

#[test]
fn several_servers_and_constant_services() {
    for (point, policy, servers, utilisation) in
        [(8, ProcessorPolicy::Lru, 2, 0.8), (9, ProcessorPolicy::CentralQueue, 8, 0.9)]
    {
        let (load, service) = (utilisation * f64::from(servers), CONSTANT.moments().mean);
        let outcomes = Queue { policy, ..several(point, CONSTANT, servers, load) }.outcomes();
        let exact = wait_mdc(servers, load, service) + service;
        assert_covered(&format!("M/D/{servers}"), &outcomes, |outcome| outcome.delay, exact);
    }
}

#[test]
fn one_server_and_batches() {
    use BatchDistribution::{Deterministic, Geometric};
    for (point, distribution, size, packets) in [
        (10, Deterministic, CONSTANT, Moments::of_constant(4.0)),
        (11, Geometric, CONSTANT, Moments::of_geometric(4.0)),
        (12, Geometric, Size::EXPONENTIAL, Moments::of_geometric(4.0)),
    ] {
        let service = size.moments();
        let rate = 0.6 / service.mean;
        let batch = Batch { mean: packets.mean, distribution };
        let outcomes = Queue { batch, ..single(point, size, rate) }.outcomes();
        let exact = wait_batches(rate / packets.mean, packets, service) + service.mean;
        assert_covered(
            &format!("{distribution:?} batches, {size:?}"),
            &outcomes,
            |outcome| outcome.delay,
            exact,
        );
    }
}
