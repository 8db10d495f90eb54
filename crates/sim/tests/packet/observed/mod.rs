//! What is observed of a point besides its result: it agrees with the result, with theory, and with single events.

mod events;

use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{OpenTraffic, PacketScenario, Process, ProcessorPolicy, Traffic};
use warmcore_sim::packet::{Ended, Observations, Observed, Point, PointError, PointResult, simulate};
use warmcore_units::{Nanos, PerSecond};

/// The service time of the queues of theory.
const SERVICE: Nanos = Nanos(50_000.0);

pub(crate) fn scenario(rate: f64) -> PacketScenario {
    let mut scenario = PacketScenario { rate_per_s: Some(PerSecond(rate)), ..PacketScenario::default() };
    scenario.scheduling.policy = ProcessorPolicy::Mru;
    scenario.run.precision = 0.05;
    scenario
}

/// M/D/1 at this load, with one stream.
fn queue(load: f64, seed: u64) -> PacketScenario {
    let rate = PerSecond::every(SERVICE) * load;
    let traffic = Traffic { streams: 1, ..Traffic::default() };
    PacketScenario { seed, processors: 1, traffic, ..scenario(rate.0) }
}

fn everything() -> Observations {
    Observations {
        quantiles: vec![0.5, 0.99],
        histogram: true,
        streams: true,
        window: Some(Nanos(10e6)),
        warmup: true,
        ..Observations::default()
    }
}

fn observe_with(
    scenario: &PacketScenario,
    wanted: &Observations,
    profile: &Profile,
) -> Result<(PointResult, Observed), PointError> {
    let traffic: OpenTraffic = scenario.traffic.open()?;
    Point::new(scenario, &traffic, profile)?.observe(wanted)
}

fn observe(scenario: &PacketScenario, wanted: &Observations) -> (PointResult, Observed) {
    observe_with(scenario, wanted, &Profile::sgi_challenge_xl()).expect("a point")
}

#[test]
fn observing_changes_nothing_and_agrees_with_the_result() {
    for replications in [1, 3, 12] {
        let mut scenario = scenario(20_000.0);
        scenario.run.replications = replications;
        let (result, observed) = observe(&scenario, &everything());
        assert_eq!(result, simulate(&scenario, &Profile::sgi_challenge_xl()).expect("a point"));
        let outcome = result.outcome.expect("it keeps up");
        let of = outcome.quantiles;
        for (figure, plain) in observed.quantiles.iter().zip([of.p50, of.p99]) {
            // Observed packets enter the statistics as they are finished; others may enter in another order, which changes
            // which of them are cut at the start and the end.
            let delay = figure.delay_ns.expect("a delay");
            assert!((delay / plain.mean.0 - 1.0).abs() < 1e-3, "{figure:?} and {plain:?}");
            let known = plain.half_width.filter(|half| half.0.is_finite()).map(|half| half.0);
            let is_alike = match (figure.half_width_ns, known) {
                (Some(half), Some(known)) => (half / known - 1.0).abs() < 0.05,
                (half, known) => half.is_some() == known.is_some(),
            };
            // With ten runs and more, an interval needs enough packets beyond the quantile.
            assert!(is_alike || figure.packets_needed.is_some(), "{figure:?} and {plain:?}");
        }
        let steady = outcome.packets - outcome.warmup;
        let (delays, services) = (observed.delays.expect("wanted"), observed.services.expect("wanted"));
        assert_eq!([delays.count(), services.count()], [steady; 2]);
        let streams = observed.streams.expect("wanted");
        assert_eq!(streams.packets.len(), 8);
        assert_eq!(streams.packets.iter().sum::<u64>(), steady);
        let mean = |of: &[Option<f64>]| of.iter().flatten().sum::<f64>() / 8.0;
        assert!((mean(&streams.mean_delay_ns) / outcome.delay.mean.0 - 1.0).abs() < 0.01);
        assert!(streams.delay_half_width_ns.iter().all(|half| half.is_some_and(|half| half > 0.0)));
        let warmup = observed.warmup.expect("wanted");
        assert!(warmup.warmup_packets.iter().sum::<u64>() <= outcome.warmup);
        assert!(warmup.cut[0] && !warmup.cut[warmup.cut.len() - 1]);
    }
}

/// Little's law: packets present are the rate times the delay. The run has all three.
#[test]
fn a_time_series_obeys_littles_law() {
    let mut scenario = scenario(50_000.0);
    scenario.run.packets = Some(200_000);
    let (result, observed) =
        observe(&scenario, &Observations { window: Some(Nanos(1e6)), ..Default::default() });
    let (series, outcome) = (observed.series.expect("wanted"), result.outcome.expect("it keeps up"));
    let windows = series.start_ns.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / windows;
    let (arrivals, finished) = (series.arrivals.iter().sum::<u64>(), series.finished.iter().sum::<u64>());
    assert_eq!(arrivals - finished, *series.present.last().expect("windows"));
    let rate = arrivals as f64 / (windows * 1e6);
    let sum: f64 = series
        .mean_delay_ns
        .iter()
        .zip(&series.finished)
        .map(|(mean, &n)| mean.unwrap_or(0.0) * n as f64)
        .sum();
    let delay = sum / finished as f64;
    // They differ by the packets present at the end.
    assert!((mean(&series.mean_present) / (rate * delay) - 1.0).abs() < 1e-2);
    assert!((mean(&series.utilisation) / outcome.utilisation.mean - 1.0).abs() < 0.02);
    assert!(series.max_delay_ns.iter().flatten().all(|&longest| longest >= SERVICE.0));
}

/// The probability that a packet of M/D/1 waits no longer than `x` service times (Erlang 1909).
fn waits_at_most(load: f64, x: f64) -> f64 {
    let term = |k: u32| {
        let y = load * (f64::from(k) - x);
        let power = (1..=k).fold(1.0, |product, i| product * y / f64::from(i));
        power * (-y).exp()
    };
    (1.0 - load) * (0..=x.floor() as u32).map(term).sum::<f64>()
}

/// Of 60 intervals of the 0.9 quantile of M/D/1, those that hold the exact one: fewer than 49 come with a probability
/// below 1e-4 (binomial).
#[test]
fn intervals_of_a_quantile_hold_that_of_theory() {
    let profile = Profile::sgi_challenge_xl().with_constant_time(SERVICE);
    let wanted = Observations { quantiles: vec![0.9], ..Observations::default() };
    let covers = |seed: &u64| {
        let mut scenario = queue(0.6, *seed);
        scenario.run.packets = Some(100_000);
        let (_, observed) = observe_with(&scenario, &wanted, &profile).expect("a queue");
        let figure = observed.quantiles[0];
        let (delay, half) = (figure.delay_ns.expect("a delay"), figure.half_width_ns.expect("an interval"));
        let share = |delay: f64| waits_at_most(0.6, delay / SERVICE.0 - 1.0);
        // The share of slower packets at the quantile is what the quantile says.
        let wanted = Observations { slower_than: Some(Nanos(delay)), ..Observations::default() };
        let (_, observed) = observe_with(&scenario, &wanted, &profile).expect("a queue");
        let slower = observed.slower.expect("wanted");
        assert!(
            (slower.share - 0.1).abs() < 5e-3 && slower.half_width.is_some_and(|half| half > 0.0),
            "{slower:?}"
        );
        share(delay - half) <= 0.9 && share(delay + half) >= 0.9
    };
    let seeds: Vec<u64> = (0..60).collect();
    let covered = seeds.par_iter().filter(|seed| covers(seed)).count();
    assert!(covered >= 49, "{covered} of 60");
}

/// Each of 40 streams of five queues has the mean of M/D/1 (Pollaczek 1930); fewer than 171 of 200 intervals hold it
/// with a probability below 1e-4.
#[test]
fn intervals_of_streams_hold_the_mean_of_theory() {
    let profile = Profile::sgi_challenge_xl().with_constant_time(SERVICE);
    let load: f64 = 0.6;
    let exact = SERVICE.0 * (1.0 + load / (2.0 * (1.0 - load)));
    let wanted = Observations { streams: true, ..Observations::default() };
    let covered = |seed: u64| {
        let mut scenario = queue(load, seed);
        scenario.traffic.streams = 40;
        scenario.run.packets = Some(200_000);
        let (_, observed) = observe_with(&scenario, &wanted, &profile).expect("a queue");
        let streams = observed.streams.expect("wanted");
        let holds = |index: &usize| {
            let half = streams.delay_half_width_ns[*index].expect("an interval");
            (streams.mean_delay_ns[*index].expect("a mean") - exact).abs() <= half
        };
        (0..40).filter(holds).count()
    };
    let covered: usize = (0..5_u64).into_par_iter().map(covered).sum();
    assert!(covered >= 171, "{covered} of 200");
}

#[test]
fn a_run_of_ones_own_length_has_exactly_that_and_ones_own_warmup() {
    let mut own = scenario(20_000.0);
    own.run.packets = Some(70_000);
    own.run.warmup_packets = Some(10_000);
    for (replications, process) in [(1, Process::Poisson), (12, Process::Poisson), (12, Process::Periodic)] {
        own.run.replications = replications;
        own.traffic.process = process;
        let outcome = simulate(&own, &Profile::sgi_challenge_xl()).unwrap().outcome.expect("it keeps up");
        let replications = u64::from(replications);
        assert_eq!((outcome.packets, outcome.ended), (70_000 * replications, Ended::FixedLength));
        let warmup = outcome.warmup / replications;
        assert!((10_000..10_000 + 70_000 / 256 + 1).contains(&warmup), "{warmup}");
    }
    own.run.warmup_packets = Some(0);
    own.run.replications = 1;
    own.traffic.process = Process::Poisson;
    assert_eq!(simulate(&own, &Profile::sgi_challenge_xl()).unwrap().outcome.expect("it keeps up").warmup, 0);
}

#[test]
fn what_cannot_be_known_is_refused_with_what_it_would_take() {
    let refused =
        |wanted: Observations| match observe_with(&scenario(20_000.0), &wanted, &Profile::sgi_challenge_xl())
        {
            Err(PointError::Scenario(fault)) => (fault.field.clone(), fault.to_string()),
            other => panic!("{other:?}"),
        };
    let quantile = |p| refused(Observations { quantiles: vec![p], ..Observations::default() });
    assert_eq!(quantile(1.0).0, "quantiles");
    let (field, text) = quantile(0.9999);
    assert!(field == "quantiles" && text.contains("needs 35556000 packets"), "{text}");
    let window = |ns| refused(Observations { window: Some(Nanos(ns)), ..Observations::default() }).0;
    assert_eq!([window(0.0), window(f64::NAN), window(1.0)], ["time_series"; 3]);
    // A run that may be long enough, but ends earlier as it is precise.
    let mut long = scenario(20_000.0);
    long.run.max_packets = 10_000_000_000;
    let wanted = Observations { quantiles: vec![0.9998, 0.999999], ..Observations::default() };
    let (_, observed) = observe(&long, &wanted);
    let [near, far] = [observed.quantiles[0], observed.quantiles[1]];
    assert!(
        near.delay_ns.is_some() && near.half_width_ns.is_none() && near.packets_needed == Some(17_778_000),
        "{near:?}"
    );
    assert!(far.delay_ns.is_none());
}

#[test]
fn a_saturated_host_has_a_time_series_and_nothing_else() {
    let (result, observed) = observe(&scenario(200_000.0), &everything());
    assert_eq!(result.outcome, None);
    let series = observed.series.expect("wanted");
    assert!(series.present.is_sorted() && series.present.len() > 10);
    assert_eq!(Observed { series: None, ..observed }, Observed::default());
}
