//! Plans on real threads. `WARMCORE_PLANS` says how many, and `WARMCORE_PLAN_SEED` which one again.

use super::ledger::{Happened, Ledger};
use super::plan::{Plan, Size, Touches};
use super::run;
use super::watchdog::Watchdog;
use rand::RngExt;

/// Small plans that are drawn, if nothing is said; of large ones, a tenth.
const PLANS: usize = if cfg!(miri) { 12 } else { 1_000 };

/// Few events, so that the beginning and the end weigh much.
const SMALL: Size = Size {
    workers: 1..=3,
    producers: 1..=2,
    events: 1..=12,
    keys: 1..=3,
    capacity: 2..=4,
    strands: 1..=4,
    panics: 0.3,
    interludes: true,
};
/// Many events, so that queues are full, and go round many times.
const LARGE: Size = Size {
    workers: 1..=6,
    producers: 1..=4,
    events: 200..=2_000,
    keys: 1..=20,
    capacity: 2..=64,
    strands: 1..=4,
    panics: 0.02,
    interludes: true,
};

#[test]
fn small_plans() {
    carry_out("small_plans", &SMALL, 1);
}

#[test]
#[cfg_attr(miri, ignore = "takes hours there")]
fn large_plans() {
    carry_out("large_plans", &LARGE, 10);
}

/// A ledger that finds nothing would be no check.
#[test]
#[cfg_attr(miri, ignore = "tests the ledger, and takes long there")]
fn what_breaks_the_rules_is_found() {
    let (mut exchanged, mut moved) = (0, 0);
    for seed in 0.. {
        let _watched = Watchdog::begin(format!("plan {seed}"));
        let (ledger, totals) = run(Plan::draw(seed, &SMALL));
        let happened = ledger.happened();
        for [a, b] in ordered_pairs(&ledger, &happened) {
            let other = |id| {
                if id == a {
                    b
                } else if id == b {
                    a
                } else {
                    id
                }
            };
            let broken = changed(&happened, |id, worker| (other(id), worker));
            assert!(ledger.judge(&totals.homes, &broken).is_err(), "seed {seed}: {a} and {b} of {broken:?}");
            exchanged += 1;
        }
        for &what in &happened {
            if let Happened::Began(moves, Some(at)) = what
                && let (Touches::Key(_), [_, ..]) = (&ledger.plan().events[moves].touches, &totals.homes[..])
            {
                let broken = changed(&happened, |id, on| (id, if id == moves { Some(at + 1) } else { on }));
                assert!(ledger.judge(&totals.homes, &broken).is_err(), "seed {seed}: {moves} of {broken:?}");
                moved += 1;
            }
        }
        if exchanged >= 20 && moved >= 20 {
            break;
        }
    }
}

/// What happened, with other events handled, and elsewhere.
fn changed(
    happened: &[Happened],
    change: impl Fn(usize, Option<usize>) -> (usize, Option<usize>),
) -> Vec<Happened> {
    let changed = happened.iter().map(|what| match *what {
        Happened::Began(id, worker) => {
            let (id, worker) = change(id, worker);
            Happened::Began(id, worker)
        }
        Happened::Ended(id) => Happened::Ended(change(id, None).0),
        arrival => arrival,
    });
    changed.collect()
}

/// Two events that one source has dispatched and that must not change places.
fn ordered_pairs(ledger: &Ledger, happened: &[Happened]) -> Vec<[usize; 2]> {
    let events = &ledger.plan().events;
    let began = |what: &Happened| if let Happened::Began(id, _) = what { Some(*id) } else { None };
    let handled: Vec<usize> = happened.iter().filter_map(began).collect();
    let is_ordered = |&[a, b]: &[usize; 2]| {
        let (first, second) = (&events[a], &events[b]);
        let is_fresh = |touches: &Touches| matches!(touches, Touches::Freshest(_));
        let (keys, others) = (first.keys(), second.keys());
        let meet = first.touches == Touches::All
            || second.touches == Touches::All
            || keys.iter().any(|key| others.contains(key));
        first.source == second.source && meet && !is_fresh(&first.touches) && !is_fresh(&second.touches)
    };
    let pairs = handled.iter().flat_map(|&a| handled.iter().map(move |&b| [a, b]));
    pairs.filter(|[a, b]| events[*a].number < events[*b].number).filter(is_ordered).collect()
}

/// As many plans as there are, or one of `part`. They come from seeds and not from strategies: what threads do is
/// another thing each time, and a failure cannot be made smaller.
fn carry_out(test: &str, size: &Size, part: usize) {
    let given = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let plans = given("WARMCORE_PLANS").map_or(PLANS, |plans| plans as usize) / part;
    let seeds: Vec<u64> = match given("WARMCORE_PLAN_SEED") {
        Some(seed) => vec![seed],
        None => rand::rng().random_iter().take(plans.max(1)).collect(),
    };
    for &seed in &seeds {
        let again = format!("WARMCORE_PLAN_SEED={seed} cargo test -p warmcore-dispatch --lib {test}");
        let _watched = Watchdog::begin(again);
        run(Plan::draw(seed, size));
    }
    println!("{} plans", seeds.len());
}
