//! Runs under injected faults of the driver.

use super::numbered::Numbered;
use super::support::*;
use rand::RngExt;
use std::sync::atomic::Ordering;
use warmcore_runtime::driver::faults::Count;
use warmcore_runtime::driver::{Driver, Faulty, InjectedFault, QueueRequest};
use warmcore_runtime::run;
use warmcore_units::Nanos;

/// One driver with every fault, and how often each was injected.
struct AllFaults {
    driver: Box<dyn Driver>,
    counts: Vec<(InjectedFault, std::sync::Arc<Count>)>,
}

fn all_faults(driver: Numbered, seed: u64) -> AllFaults {
    let faults = [
        InjectedFault::Corrupt(0.02),
        InjectedFault::Drop(0.05),
        InjectedFault::Delay { probability: 0.05, by: Nanos::from_micros(200.0) },
        InjectedFault::Stall { every: Nanos::from_micros(2_000.0), lasting: Nanos::from_micros(1_000.0) },
        InjectedFault::Reorder(0.05),
        InjectedFault::Duplicate(0.05),
    ];
    let mut counts = Vec::new();
    let mut driver: Box<dyn Driver> = Box::new(driver);
    for fault in faults {
        let faulty = Faulty::new(driver, fault, seed ^ counts.len() as u64);
        counts.push((fault, faulty.count()));
        driver = Box::new(faulty);
    }
    AllFaults { driver, counts }
}

impl AllFaults {
    fn injected(&self, which: impl Fn(InjectedFault) -> bool) -> u64 {
        self.counts.iter().filter(|(fault, _)| which(*fault)).map(|(_, count)| count.injected()).sum()
    }

    fn withheld(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count.withheld()).sum()
    }
}

/// With every fault at once all packets are accounted for, and delivered payloads are those that were
/// sent.
#[test]
fn every_packet_is_accounted_for_with_faults() {
    let _lock = lock_processors();
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    for (number, scheduling) in every_scheduling().step_by(4).enumerate() {
        let driver = Numbered { seed, prepared: number % 2 == 0, ..Numbered::new(5, 1_000) };
        let log = DeliveryLog::new(&driver);
        let (offered, total) = (driver.offered.clone(), driver.total());
        let mut faults = all_faults(driver, seed);
        let counts = faults.counts.clone();
        let report = run(&options(scheduling, 5), &mut faults.driver, &flows(5), &recording(&log), |watch| {
            wait_until(watch, || {
                let withheld: u64 = counts.iter().map(|(_, count)| count.withheld()).sum();
                offered.load(Ordering::Relaxed) == total && withheld == 0
            });
        })
        .unwrap();
        let duplicated = faults.injected(|fault| matches!(fault, InjectedFault::Duplicate(_)));
        let dropped = faults.injected(|fault| matches!(fault, InjectedFault::Drop(_)));
        let corrupted = faults.injected(|fault| matches!(fault, InjectedFault::Corrupt(_)));
        assert!(faults.injected(|_| true) > total / 10, "{scheduling}: there were faults");
        assert_eq!(report.lost, dropped, "{scheduling}");
        assert_eq!(
            accounted(&report) + report.lost,
            total + duplicated,
            "{scheduling}: {:?}",
            report.total()
        );
        assert_eq!(log.damaged(), 0, "{scheduling}: checksums tell what was corrupted");
        assert!(report.total().refused.values().sum::<u64>() <= 2 * corrupted, "{scheduling}");
        assert!(log.missing() <= dropped + corrupted, "{scheduling}");
        assert!(log.doubled() <= duplicated, "{scheduling}");
        assert_eq!(faults.withheld(), 0, "{scheduling}");
    }
}

/// Packets that a fault does not hit stay in order and are not lost.
#[test]
fn a_stream_stays_in_order_through_losses_and_stalls() {
    let _lock = lock_processors();
    let stall = InjectedFault::Stall { every: Nanos::from_micros(500.0), lasting: Nanos::from_micros(300.0) };
    for scheduling in every_scheduling().filter(promises_order).step_by(4) {
        for fault in [InjectedFault::Drop(0.1), stall] {
            let driver = Numbered::new(5, 1_000);
            let log = DeliveryLog::new(&driver);
            let (offered, total) = (driver.offered.clone(), driver.total());
            let mut driver = Faulty::new(driver, fault, 7);
            let report = run(&options(scheduling, 5), &mut driver, &flows(5), &recording(&log), |watch| {
                wait_until(watch, || offered.load(Ordering::Relaxed) == total);
            })
            .unwrap();
            assert_eq!((log.overtaken(), log.doubled()), (0, 0), "{scheduling}, {fault:?}");
            assert_eq!(log.missing(), report.lost, "{scheduling}, {fault:?}");
        }
    }
}

#[test]
fn an_invalid_fault_is_refused() {
    let request = QueueRequest { queues: 1, steering: &[] };
    let impossible = [
        InjectedFault::Drop(-0.1),
        InjectedFault::Duplicate(1.1),
        InjectedFault::Reorder(f64::NAN),
        InjectedFault::Delay { probability: 0.1, by: Nanos(-1.0) },
        InjectedFault::Stall { every: Nanos(0.0), lasting: Nanos(1.0) },
    ];
    for fault in impossible {
        let opened = Faulty::new(Numbered::new(1, 1), fault, 1).open(&request);
        let error = opened.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("expected"), "{fault:?}: {error}");
    }
}
