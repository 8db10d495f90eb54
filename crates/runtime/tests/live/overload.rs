use super::numbered::{Numbered, Spread};
use super::stage::*;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_runtime::{Options, Overload};
use warmcore_stack::Delivery;

const CAPACITY: u32 = 16;

/// More comes than is handled: what cannot be held is dropped and counted, or left with the
/// driver; and never is more held than there is room for.
#[test]
fn capacity_is_respected() {
    let _alone = alone();
    for scheduling in every_scheduling().step_by(4) {
        for overload in [Overload::Drop, Overload::HoldBack] {
            for spread in [Spread::Steered, Spread::Astray] {
                let case = format!("{scheduling}, {overload:?}, {spread:?}");
                let driver = Numbered { spread, ..Numbered::new(5, 1_000) };
                let account = Account::new(&driver);
                let (offered, total) = (driver.offered.clone(), driver.total());
                let most = AtomicU64::new(0);
                // What has been taken in and is not handled yet, where nothing is dropped.
                let handler = |delivery: &Delivery<'_>, _: &mut warmcore_runtime::Context<'_>| {
                    // In this order: what is delivered in between makes the difference smaller, never larger.
                    let offered = offered.load(Ordering::SeqCst);
                    most.fetch_max(offered.saturating_sub(account.delivered()), Ordering::Relaxed);
                    account.deliver(delivery);
                    (0..500).for_each(|_| std::hint::spin_loop());
                };
                let options = Options { overload, capacity: CAPACITY, ..options(scheduling, 5) };
                let report = run(&options, &mut { driver }, &flows(5), &handler, |watch| {
                    await_that(watch, || offered.load(Ordering::Relaxed) == total);
                })
                .unwrap();
                let overflowed = report.total().overflowed;
                assert_eq!(accounted(&report), total, "{case}: {:?}", report.total());
                assert_eq!((account.missing(), account.doubled()), (overflowed, 0), "{case}");
                if promises_order(&scheduling) {
                    assert_eq!(account.overtaken(), 0, "{case}");
                }
                if overload == Overload::HoldBack {
                    assert_eq!(overflowed, 0, "{case}: what there is no room for stays where it is");
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
