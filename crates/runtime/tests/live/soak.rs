//! Random runs with everything at once, for as long as `WARMCORE_SOAK_SECONDS` says.

use super::numbered::{Numbered, Spread};
use super::support::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use warmcore_runtime::driver::{Driver, Faulty, InjectedFault};
use warmcore_runtime::run;
use warmcore_runtime::{Idle, Options, Overload, Shutdown};
use warmcore_scenario::Scheduling;
use warmcore_units::Nanos;

const SECONDS: u64 = 10;

#[test]
fn everything_at_once() {
    let _lock = lock_processors();
    let from = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let seconds = from("WARMCORE_SOAK_SECONDS").unwrap_or(SECONDS);
    let seed = from("WARMCORE_SOAK_SEED").unwrap_or_else(|| rand::rng().random());
    println!("again with WARMCORE_SOAK_SEED={seed} WARMCORE_SOAK_SECONDS={seconds}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let schedulings: Vec<Scheduling> = every_scheduling().collect();
    let begun = Instant::now();
    let mut runs = 0;
    while begun.elapsed() < Duration::from_secs(seconds) {
        let scheduling = *schedulings.choose(&mut random).expect("there are some");
        soak(scheduling, &mut random);
        runs += 1;
    }
    println!("{runs} runs");
}

/// One run of a random kind, of about a quarter of a second.
fn soak(scheduling: Scheduling, random: &mut Xoshiro256PlusPlus) {
    let streams = random.random_range(1..20);
    let driver = Numbered {
        spread: *[Spread::Steered, Spread::NextQueue, Spread::SingleQueue]
            .choose(random)
            .expect("there are some"),
        prepared: random.random(),
        seed: random.random(),
        ..Numbered::new(streams, 20_000 / u64::from(streams))
    };
    let (log, offered, total) = (DeliveryLog::new(&driver), driver.offered.clone(), driver.total());
    let options = Options {
        overload: if random.random() { Overload::Drop } else { Overload::HoldBack },
        shutdown: if random.random() { Shutdown::Drain } else { Shutdown::Discard },
        idle: if random.random() { Idle::Poll } else { Idle::Sleep },
        capacity: random.random_range(2..100),
        seed: random.random(),
        ..options(scheduling, streams)
    };
    let case = format!("{scheduling}, {driver:?}, {options:?}");
    let dropping = Faulty::new(driver, InjectedFault::Drop(random.random_range(0.0..0.1)), random.random());
    let stall =
        InjectedFault::Stall { every: Nanos::from_micros(2_000.0), lasting: Nanos::from_micros(500.0) };
    let stalling = Faulty::new(dropping, stall, random.random());
    let doubling =
        Faulty::new(stalling, InjectedFault::Duplicate(random.random_range(0.0..0.1)), random.random());
    let count = doubling.count();
    let mut driver: Box<dyn Driver> = Box::new(doubling);
    let until = random.random_range(total / 2..=total);
    let report = run(&options, &mut driver, &flows(streams), &recording(&log), |watch| {
        wait_until(watch, || {
            if random.random_bool(0.1) {
                watch.pause();
                std::thread::sleep(Duration::from_micros(random.random_range(0..300)));
                watch.resume();
            }
            offered.load(Ordering::Relaxed) >= until
        });
    });
    let report = report.unwrap_or_else(|error| panic!("{case}: {error}"));
    let taken_in = offered.load(Ordering::Relaxed) + count.injected() - count.withheld() - report.lost;
    assert_eq!(accounted(&report), taken_in, "{case}: {:?}", report.total());
    assert_eq!((log.delivered(), log.damaged()), (report.total().packets(), 0), "{case}");
    assert!(log.doubled() <= count.injected(), "{case}");
    if options.shutdown == Shutdown::Drain {
        assert_eq!(report.given_up, 0, "{case}");
    }
}
