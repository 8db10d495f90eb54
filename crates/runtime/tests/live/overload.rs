//! More packets than the handler can process.

use super::numbered::{Numbered, Spread};
use super::support::*;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_runtime::run;
use warmcore_runtime::{Options, Overload};
use warmcore_stack::Delivery;

const CAPACITY: u32 = 16;

/// More packets arrive than are handled. Those that cannot be held are dropped and counted, or stay in
/// the driver; and never more are held than allowed.
#[test]
fn capacity_is_respected() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        for overload in [Overload::Drop, Overload::HoldBack] {
            for spread in [Spread::Steered, Spread::NextQueue] {
                let case = format!("{scheduling}, {overload:?}, {spread:?}");
                let driver = Numbered { spread, ..Numbered::new(5, 1_000) };
                let log = DeliveryLog::new(&driver);
                let (offered, total) = (driver.offered.clone(), driver.total());
                let most = AtomicU64::new(0);
                // Packets received and not yet handled, if none are dropped.
                let handler = |delivery: &Delivery<'_>, _: &mut warmcore_runtime::Context<'_>| {
                    // The order matters: deliveries in between make the difference smaller, never
                    // larger.
                    let offered = offered.load(Ordering::SeqCst);
                    most.fetch_max(offered.saturating_sub(log.delivered()), Ordering::Relaxed);
                    log.deliver(delivery);
                    (0..500).for_each(|_| std::hint::spin_loop());
                };
                let options = Options { overload, capacity: CAPACITY, ..options(scheduling, 5) };
                let report = run(&options, &mut { driver }, &flows(5), &handler, |watch| {
                    wait_until(watch, || offered.load(Ordering::Relaxed) == total);
                })
                .unwrap();
                let overflowed = report.total().overflowed;
                assert_eq!(accounted(&report), total, "{case}: {:?}", report.total());
                assert_eq!((log.missing(), log.doubled()), (overflowed, 0), "{case}");
                if promises_order(&scheduling) {
                    assert_eq!(log.overtaken(), 0, "{case}");
                }
                if overload == Overload::HoldBack {
                    assert_eq!(overflowed, 0, "{case}: packets without room stay in the driver");
                }
                if overload == Overload::HoldBack && spread == Spread::Steered {
                    let room = u64::from(CAPACITY) * options.cpus.len() as u64;
                    let most = most.into_inner();
                    assert!(most <= room, "{case}: {most} packets were held at once, of {room}");
                }
            }
        }
    }
}
