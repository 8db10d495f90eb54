//! Full queues for a while: `WARMCORE_DISPATCH_SOAK_SECONDS` says for how long, all in all, and
//! `WARMCORE_PLAN_SEED` which plan alone.

use super::plan::{Plan, Size};
use super::run;
use super::watchdog::Watchdog;
use core::time::Duration;
use rand::RngExt;
use std::thread;
use std::time::Instant;
use warmcore_linux::affinity::{mask, pin_to};

/// For both of them, if nothing is said.
const SECONDS: u64 = 10;

/// More workers than processors, and more to do than there is room for.
const SIZE: Size = Size {
    workers: 3..=8,
    producers: 2..=4,
    events: 2_000..=20_000,
    keys: 1..=16,
    capacity: 2..=16,
    strands: 1..=4,
    panics: 0.01,
    interludes: false,
};

#[test]
fn full_queues_on_all_processors() {
    soak("full_queues_on_all_processors");
}

#[test]
fn full_queues_on_one_processor() {
    let cpu = mask().expect("a mask").iter().last().expect("a thread may run somewhere");
    let _pinned = pin_to(cpu).expect("a processor of this thread's");
    // Threads are pinned as those that start them.
    let inherited = thread::spawn(|| mask().expect("a mask").iter().collect::<Vec<_>>());
    assert_eq!(inherited.join().expect("it only looks"), [cpu]);
    soak("full_queues_on_one_processor");
}

/// Half of the time: there are two of this.
fn soak(test: &str) {
    let given = |name: &str| std::env::var(name).ok().map(|value| value.parse().expect("a number"));
    let time = Duration::from_secs(given("WARMCORE_DISPATCH_SOAK_SECONDS").unwrap_or(SECONDS)) / 2;
    let mut random = rand::rng();
    let (begun, mut plans, mut events) = (Instant::now(), 0, 0);
    while plans == 0 || begun.elapsed() < time {
        let seed = given("WARMCORE_PLAN_SEED").unwrap_or_else(|| random.random());
        let again = format!("WARMCORE_PLAN_SEED={seed} cargo test -p warmcore-dispatch --lib {test}");
        let _watched = Watchdog::begin(again);
        let plan = Plan::draw(seed, &SIZE);
        events += plan.events.len();
        run(plan);
        plans += 1;
    }
    println!("{plans} plans of {events} events");
}
