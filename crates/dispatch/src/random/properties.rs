//! Plans on real threads. `WARMCORE_PLANS` says how many, and `WARMCORE_PLAN_SEED` which one again.

use super::plan::{Plan, Size};
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
