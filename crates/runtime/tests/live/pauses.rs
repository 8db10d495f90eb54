//! Runs that pause and continue.

use super::numbered::Numbered;
use super::support::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use warmcore_runtime::run;
use warmcore_stack::Delivery;

/// While paused nothing is handled; afterwards the run continues as before.
#[test]
fn pauses_at_random_times_change_nothing() {
    let _lock = lock_processors();
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered { seed, ..Numbered::new(5, 2_000) };
        let (log, handling) = (DeliveryLog::new(&driver), AtomicU32::new(0));
        let (offered, total) = (driver.offered.clone(), driver.total());
        let handler = |delivery: &Delivery<'_>, _: &mut warmcore_runtime::Context<'_>| {
            handling.fetch_add(1, Ordering::SeqCst);
            log.deliver(delivery);
            handling.fetch_sub(1, Ordering::SeqCst);
        };
        let report = run(&options(scheduling, 5), &mut { driver }, &flows(5), &handler, |watch| {
            wait_until(watch, || {
                watch.pause();
                let before = (log.delivered(), offered.load(Ordering::SeqCst));
                assert_eq!(handling.load(Ordering::SeqCst), 0, "{scheduling}: nothing is in hand");
                std::thread::sleep(Duration::from_micros(random.random_range(0..300)));
                let after = (log.delivered(), offered.load(Ordering::SeqCst));
                assert_eq!(before, after, "{scheduling}: nothing goes on");
                watch.resume();
                offered.load(Ordering::Relaxed) == total
            });
            // Some of the runs end while paused.
            if random.random() {
                watch.pause();
            }
        })
        .unwrap();
        assert_eq!((log.missing(), log.doubled()), (0, 0), "{scheduling}");
        assert_eq!((report.total().packets(), accounted(&report)), (total, total), "{scheduling}");
        if promises_order(&scheduling) {
            assert_eq!(log.overtaken(), 0, "{scheduling}");
        }
    }
}
