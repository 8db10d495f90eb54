//! The highest rate within a limit of the delay, and what sets the capacity.

use crate::machines::one_time;
use warmcore_costs::Profile;
use warmcore_scenario::{PacketScenario, Parallelism, Process, ProcessorPolicy, Traffic};
use warmcore_sim::packet::limit::{LimitVerdict, RateWithin, rate_within};
use warmcore_sim::packet::{Bound, PointError, ServerKind, highest_bound, simulate};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{OnOff, Popularity};

const SERVICE: Nanos = Nanos(50_000.0);

fn scenario(processors: u32, policy: ProcessorPolicy, traffic: Traffic) -> PacketScenario {
    let mut scenario = PacketScenario { processors, traffic, ..PacketScenario::default() };
    scenario.scheduling.policy = policy;
    scenario.run.max_packets = 500_000;
    scenario
}

fn bound(scenario: &PacketScenario, profile: &Profile) -> Bound {
    highest_bound(scenario, &scenario.traffic.generated().expect("traffic"), profile).expect("a capacity")
}

fn within(scenario: &PacketScenario, profile: &Profile, limit: f64) -> Result<RateWithin, PointError> {
    let traffic = scenario.traffic.generated().expect("traffic");
    rate_within(scenario, &traffic, profile, bound(scenario, profile).capacity, Nanos(limit))
}

/// The load of M/D/1 at which one packet in a hundred waits longer than `x` service times (Erlang 1909), by halves.
fn load_of_theory(x: f64) -> f64 {
    let waits_longer = |load: f64| {
        let term = |k: u32| {
            let y = load * (f64::from(k) - x);
            (1..=k).fold(1.0, |product, i| product * y / f64::from(i)) * (-y).exp()
        };
        1.0 - (1.0 - load) * (0..=x.floor() as u32).map(term).sum::<f64>()
    };
    let (mut low, mut high) = (0.01, 0.99);
    for _ in 0..60 {
        let load = f64::midpoint(low, high);
        if waits_longer(load) > 0.01 { high = load } else { low = load }
    }
    low
}

/// M/D/1: the rate of theory lies between the two of the search, which are close.
#[test]
fn the_rate_within_a_limit_is_that_of_theory() {
    let traffic = Traffic { streams: 1, ..Traffic::default() };
    let scenario = scenario(1, ProcessorPolicy::Mru, traffic);
    for x in [1.5, 4.0] {
        let found = within(&scenario, &one_time(SERVICE), SERVICE.0 * (1.0 + x)).expect("a search");
        let exact = load_of_theory(x) / SERVICE.secs();
        let least = found.least.expect("a rate within").0;
        assert!(least <= exact && exact <= found.most.0, "{exact} {found:?}");
        assert!(found.most.0 / least < 1.25, "{found:?}");
        assert!(found.trials.iter().any(|trial| trial.verdict == LimitVerdict::Within));
    }
}

/// The ends of the interval are what `simulate` says of these rates.
#[test]
fn the_ends_agree_with_simulations_of_their_own() {
    let traffic = Traffic { streams: 16, ..Traffic::default() };
    let mut asked = scenario(4, ProcessorPolicy::Mru, traffic);
    let (profile, limit) = (Profile::sgi_challenge_xl(), 400_000.0);
    let found = within(&asked, &profile, limit).expect("a search");
    asked.run.packets = Some(1_000_000);
    asked.seed = 77;
    let p99 = |rate: PerSecond| {
        let point = PacketScenario { rate_per_s: Some(rate), ..asked.clone() };
        simulate(&point, &profile).expect("a point").outcome.expect("it keeps up").quantiles.p99
    };
    let (least, most) = (p99(found.least.expect("a rate within")), p99(found.most));
    // Another seed: twice its half-width, as each end is itself known to within as much.
    assert!(
        least.mean.0 - 2.0 * least.half() <= limit && most.mean.0 + 2.0 * most.half() >= limit,
        "{least:?} {most:?}"
    );
}

#[test]
fn a_limit_that_no_rate_meets_or_that_all_do_is_said() {
    let mut scenario = scenario(2, ProcessorPolicy::Mru, Traffic::default());
    scenario.run.max_packets = 2_000_000;
    let profile = one_time(SERVICE);
    let none = within(&scenario, &profile, SERVICE.0 / 2.0).expect("a search");
    assert_eq!((none.least, none.rate()), (None, None));
    assert!(none.trials.iter().any(|trial| trial.verdict == LimitVerdict::Beyond));
    let all = within(&scenario, &profile, 1e12).expect("a search");
    let capacity = bound(&scenario, &profile).capacity.rate.mean.0;
    assert!(all.least.expect("a rate within").0 >= 0.9 * capacity && all.most.0 >= capacity, "{all:?}");
}

#[test]
fn what_has_no_intervals_is_refused() {
    let source = Process::SelfSimilar(OnOff { alpha: 1.4, burst: 20.0, peak: 10.0 });
    let heavy = scenario(2, ProcessorPolicy::Mru, Traffic { process: source, ..Traffic::default() });
    let steady = scenario(2, ProcessorPolicy::Mru, Traffic::default());
    for (scenario, limit) in [(&heavy, 1e6), (&steady, 0.0), (&steady, f64::NAN)] {
        let refused = within(scenario, &one_time(SERVICE), limit);
        assert!(
            matches!(&refused, Err(PointError::Scenario(fault)) if fault.field == "p99_below"),
            "{refused:?}"
        );
    }
}

/// With equal streams all servers are as busy; with unequal ones that of the busiest stream sets the capacity.
#[test]
fn the_bound_names_what_sets_it() {
    let unequal = |policy, approach| {
        let traffic = Traffic { popularity: Popularity::Zipf(1.0), ..Traffic::default() };
        let mut scenario = scenario(4, policy, traffic);
        scenario.scheduling.approach = approach;
        bound(&scenario, &one_time(SERVICE))
    };
    let equal = bound(&scenario(4, ProcessorPolicy::WiredStreams, Traffic::default()), &one_time(SERVICE));
    assert!(equal.busiest.is_none() && equal.all == equal.capacity.rate);
    let mru = unequal(ProcessorPolicy::Mru, Parallelism::Locking);
    assert!(mru.busiest.is_none());
    let wired = unequal(ProcessorPolicy::WiredStreams, Parallelism::Locking).busiest.expect("a server");
    let stack = unequal(ProcessorPolicy::Mru, Parallelism::Ips).busiest.expect("a server");
    // Streams 0 and 4 of eight share the first of four processors, and the first of four stacks.
    let weights: f64 = (1..=8).map(|k| 1.0 / f64::from(k)).sum();
    let share = (1.0 + 1.0 / 5.0) / weights;
    for (server, kind) in [(wired, ServerKind::Processor), (stack, ServerKind::Stack)] {
        assert_eq!((server.kind, server.number), (kind, 0));
        assert!((server.share - share).abs() < 1e-9, "{server:?}");
        assert!((server.rate.mean.0 * share * SERVICE.secs() - 1.0).abs() < 0.01, "{server:?}");
    }
}
