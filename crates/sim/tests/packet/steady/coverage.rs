//! Coverage of the 95% intervals of points, for every arrival process: for how many seeds they contain the
//! exact value, or that of a far longer independent run; or that no interval is given.
//!
//! `WARMCORE_COVERAGE_SEEDS` raises the number of seeds. With 300 seeds and a precision of 5%, 267 is the
//! least plausible count for 95% intervals. These counts were found, by load:
//!
//! | arrivals | 0.3 | 0.5 | 0.7 | 0.85 |
//! |---|---|---|---|---|
//! | Poisson | 288 | 291 | 287 | 282 |
//! | Poisson, geometric batches | 274 | 283 | 279 | 280 |
//! | constant | 300 | 300 | 300 | 300 |
//! | constant, batches | 300 | 300 | 300 | 300 |
//! | constant, geometric batches | 291 | 285 | 283 | 285 |
//! | periodic | 285 | 275 | 280 | 278 |
//! | periodic, unequal | 287 | 284 | 283 | 283 |
//! | modulated, fast | 285 | 290 | 288 | 289 |
//! | modulated, slow | 290 | 290 | 285 | 276 |
//! | modulated, overloaded at times | 290 | 284 | 288 | 289 |
//! | trains, fast | 283 | 292 | 283 | 288 |
//! | trains, slow | 274 | 286 | 293 | 278 |
//! | self-similar, of both exponents | none | none | none | none |

use super::{arriving, point};
use crate::theory::coverage::least_plausible;
use crate::theory::formulas::{Moments, wait_batches, wait_mg1};
use rayon::prelude::*;
use warmcore_costs::Profile;
use warmcore_scenario::{PacketScenario, Process, Traffic};
use warmcore_sim::packet::{Ended, Outcome, simulate};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Batch, BatchDistribution, Gaps, Modulation, OnOff, Popularity, Train};

/// Service time of every packet on the one processor.
const SERVICE: Nanos = Nanos(50_000.0);
/// Maximum packets of a run; few runs take as many.
const MOST: u64 = 20_000_000;
/// Seed of the reference run, which no other run has.
const REFERENCE: u64 = 1_000_000_007;

/// What an interval must contain.
enum Truth {
    /// A mean wait from queueing theory, in service times.
    Wait(f64),
    /// The mean of a run that is five times as precise.
    LongRun,
    /// No interval is given.
    None,
}

struct Case {
    name: &'static str,
    traffic: Traffic,
    truth: Truth,
    max_packets: u64,
}

fn cases(load: f64) -> Vec<Case> {
    let case = |name, process, truth| Case { name, traffic: arriving(process), truth, max_packets: MOST };
    let batches = |distribution, mean| Batch { mean, distribution };
    let with = |batch, case: Case| Case { traffic: Traffic { batch, ..case.traffic }, ..case };
    let modulated =
        |calm, busy| Process::Modulated(Modulation { ratio: 1.5, calm: Nanos(calm), busy: Nanos(busy) });
    let trains = |gap, gaps| Process::Trains(Train { cars: 6.0, gap: Nanos(gap), gaps });
    let geometric = Moments::of_geometric(8.0);
    let always = Moments::of_constant(1.0);
    vec![
        case("Poisson", Process::Poisson, Truth::Wait(wait_mg1(load, always))),
        with(
            batches(BatchDistribution::Geometric, 8.0),
            case(
                "Poisson, geometric batches",
                Process::Poisson,
                Truth::Wait(wait_batches(load / 8.0, geometric, always)),
            ),
        ),
        case("constant", Process::Constant, Truth::Wait(0.0)),
        // The packets of a batch are served one after the other.
        with(
            batches(BatchDistribution::Deterministic, 4.0),
            case("constant, batches", Process::Constant, Truth::Wait(1.5)),
        ),
        with(
            batches(BatchDistribution::Geometric, 4.0),
            case("constant, geometric batches", Process::Constant, Truth::LongRun),
        ),
        case("periodic", Process::Periodic, Truth::Wait(wait_periodic(8, load))),
        Case {
            traffic: Traffic { popularity: Popularity::Zipf(1.0), ..arriving(Process::Periodic) },
            ..case("periodic, unequal", Process::Periodic, Truth::LongRun)
        },
        case("modulated, fast", modulated(2e6, 1e6), Truth::LongRun),
        case("modulated, slow", modulated(8e7, 2e7), Truth::LongRun),
        // Phases of high load bring several times what the host can process; runs end before they are
        // precise.
        Case {
            max_packets: 2_500_000,
            ..case(
                "modulated, overloaded at times",
                Process::Modulated(Modulation { ratio: 10.0, calm: Nanos(2e7), busy: Nanos(2e6) }),
                Truth::LongRun,
            )
        },
        case("trains, fast", trains(4e4, Gaps::Exponential), Truth::LongRun),
        case("trains, slow", trains(4e6, Gaps::Fixed), Truth::LongRun),
        case("self-similar", Process::SelfSimilar(OnOff { alpha: 1.2, burst: 10.0, peak: 4.0 }), Truth::None),
        case(
            "self-similar, nearly not",
            Process::SelfSimilar(OnOff { alpha: 1.9, burst: 10.0, peak: 2.0 }),
            Truth::None,
        ),
    ]
}

/// The mean wait, in service times, of `streams` periodic streams with random phases at one processor with
/// constant services: the work of the other streams that an arrival finds (Roberts & Virtamo 1991, after
/// Beneš).
fn wait_periodic(streams: u32, load: f64) -> f64 {
    const STEPS: u32 = 20_000;
    let (others, period) = (streams - 1, f64::from(streams) / load);
    let exceeds = |x: f64| -> f64 {
        let term = |n: u32| {
            let (left, n_) = ((f64::from(n) - x) / period, f64::from(n));
            let ways = (0..n).fold(1.0, |ways, i| ways * f64::from(others - i) / f64::from(i + 1));
            let free = (period - f64::from(others) + x) / (period - n_ + x);
            ways * left.powf(n_) * (1.0 - left).powi((others - n).cast_signed()) * free
        };
        (0..=others).filter(|&n| f64::from(n) > x).map(term).sum()
    };
    let step = f64::from(others) / f64::from(STEPS);
    (0..STEPS).map(|i| exceeds((f64::from(i) + 0.5) * step) * step).sum()
}

#[test]
fn two_periodic_streams_meet_as_often_as_their_phases_are_near() {
    // The other stream is ahead by less than a service time with probability 1/T, and half a service remains
    // on average.
    assert!((wait_periodic(2, 0.5) - 0.125).abs() < 1e-4, "{}", wait_periodic(2, 0.5));
}

fn outcome(scenario: &PacketScenario, profile: &Profile) -> Outcome {
    let result = simulate(scenario, profile).expect("a point");
    result.outcome.unwrap_or_else(|| panic!("saturated: {scenario:?}"))
}

#[test]
fn intervals_contain_the_true_mean_under_every_process() {
    let seeds: Option<u64> =
        std::env::var("WARMCORE_COVERAGE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let loads: &[f64] = if seeds.is_some() { &[0.3, 0.5, 0.7, 0.85] } else { &[0.7] };
    let seeds = seeds.unwrap_or(40);
    let mut wrong = Vec::new();
    for &load in loads {
        for case in cases(load) {
            let row = covered(&case, load, seeds);
            println!("{row}");
            if row.contains("WRONG") {
                wrong.push(row);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One row of the table.
fn covered(case: &Case, load: f64, seeds: u64) -> String {
    let profile = Profile::sgi_challenge_xl().with_constant_time(SERVICE);
    let rate = PerSecond::every(SERVICE) * load;
    let scenario = |seed| {
        let mut scenario = PacketScenario { processors: 1, seed, ..point(rate, case.traffic.clone()) };
        scenario.run.max_packets = case.max_packets;
        if matches!(case.truth, Truth::None) { shortened(scenario) } else { scenario }
    };
    let outcomes: Vec<Outcome> =
        (0..seeds).into_par_iter().map(|seed| outcome(&scenario(seed), &profile)).collect();
    let precise = outcomes.iter().filter(|outcome| outcome.is_precise()).count();
    let what = format!("| {} | {load} |", case.name);
    let exact = match case.truth {
        Truth::Wait(services) => SERVICE.0 * (services + 1.0),
        Truth::LongRun => {
            let mut long = scenario(REFERENCE);
            long.run.precision = 0.01;
            long.run.max_packets = MOST;
            long.run.replications = 4;
            outcome(&long, &profile).delay.mean.0
        }
        Truth::None => {
            let open = |outcome: &&Outcome| {
                outcome.ended == Ended::HeavyTailed && outcome.delay.half_width == Some(Nanos::INFINITY)
            };
            let none = outcomes.iter().filter(open).count() as u64;
            let verdict = if none == seeds && precise == 0 { "" } else { " WRONG" };
            return format!("{what} none: {none} of {seeds} without interval{verdict} |");
        }
    };
    // Sums of exact service times are exact only up to rounding.
    let contains = |outcome: &&Outcome| {
        let half = outcome.delay.half_width.map_or(0.0, |half| half.0);
        half.is_finite() && (outcome.delay.mean.0 - exact).abs() <= half + 1e-9 * exact
    };
    let covered = outcomes.iter().filter(contains).count() as u64;
    let least = least_plausible(seeds, 0.95);
    let verdict = if covered >= least { "" } else { " WRONG" };
    format!("{what} {covered} of {seeds} (at least {least}), {precise} precise{verdict} |")
}

/// The scenario with a small maximum, for traffic whose runs always take the maximum.
fn shortened(mut scenario: PacketScenario) -> PacketScenario {
    scenario.run.max_packets = 20_000;
    scenario
}
