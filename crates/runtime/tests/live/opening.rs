//! Streams that open while packets arrive.

use super::numbered::Numbered;
use super::support::*;
use std::sync::atomic::Ordering;
use warmcore_runtime::run;
use warmcore_runtime::run_handle::OpenStreamError;
use warmcore_runtime::{Memory, Options};
use warmcore_stack::DropReason;
use warmcore_units::StreamId;

/// Streams are opened while packets arrive. Packets that came before are refused and counted, and all
/// others are delivered.
#[test]
fn streams_open_while_packets_flow() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(6, 3_000);
        let log = DeliveryLog::new(&driver);
        let (offered, total) = (driver.offered.clone(), driver.total());
        let report = run(&options(scheduling, 6), &mut { driver }, &flows(2), &recording(&log), |watch| {
            for stream in 2..6 {
                let before = offered.load(Ordering::Relaxed);
                wait_until(watch, || offered.load(Ordering::Relaxed) > before.min(total / 2));
                assert_eq!(watch.open(&Memory::flow(StreamId(stream))), Ok(StreamId(stream)), "{scheduling}");
            }
            wait_until(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        let refused = report.total().refused;
        assert!(
            refused.keys().all(|reason| *reason == DropReason::UdpNoSession),
            "{scheduling}: {refused:?}"
        );
        assert_eq!(log.missing(), refused.values().sum::<u64>(), "{scheduling}");
        assert_eq!((accounted(&report), log.doubled()), (total, 0), "{scheduling}");
        if promises_order(&scheduling) {
            assert_eq!(log.overtaken(), 0, "{scheduling}");
        }
    }
}

#[test]
fn a_stream_that_cannot_be_opened_is_refused_and_nothing_else_changes() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(3, 500);
        let log = DeliveryLog::new(&driver);
        let (offered, total) = (driver.offered.clone(), driver.total());
        let options = options(scheduling, 3);
        let report = run(&options, &mut { driver }, &flows(2), &recording(&log), |watch| {
            watch.pause();
            let twice = watch.open(&Memory::flow(StreamId(1)));
            assert!(matches!(twice, Err(OpenStreamError::Refused(_))), "{scheduling}: {twice:?}");
            assert_eq!(watch.open(&Memory::flow(StreamId(2))), Ok(StreamId(2)));
            let many = watch.open(&Memory::flow(StreamId(3)));
            assert_eq!(many, Err(OpenStreamError::TooMany { limit: 3 }), "{scheduling}");
            let before = log.delivered();
            std::thread::sleep(std::time::Duration::from_millis(2));
            assert_eq!(log.delivered(), before, "{scheduling}: it is still paused");
            watch.resume();
            wait_until(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        assert_eq!(accounted(&report), total, "{scheduling}");
    }
}

/// A run with a duplicate flow does not start.
#[test]
fn a_flow_that_is_given_twice_is_named() {
    let _lock = lock_processors();
    let options: Options = options(Default::default(), 4);
    let flows = [flows(2), flows(1)].concat();
    let driver = Numbered::new(2, 10);
    let offered = driver.offered.clone();
    let error = run(&options, &mut { driver }, &flows, &ignoring, |_| {}).unwrap_err();
    assert!(error.to_string().contains("stream 2 cannot be opened"), "{error}");
    assert_eq!(offered.load(Ordering::Relaxed), 0);
}
