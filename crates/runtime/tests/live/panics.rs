//! Panics of handlers, of other work and of the watcher.

use super::numbered::{Numbered, Packet};
use super::support::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use warmcore_runtime::run;
use warmcore_runtime::{AfterPanic, Context, Handler, Idle, Options, RunError, Work};
use warmcore_stack::Delivery;
use warmcore_units::StreamId;

/// A handler that panics on one packet.
struct PanicsOn<'a> {
    log: &'a DeliveryLog,
    packet: Packet,
    after: AfterPanic,
    reported: Mutex<Vec<(StreamId, String)>>,
}

impl Handler for PanicsOn<'_> {
    fn deliver(&self, delivery: &Delivery<'_>, _: &mut Context<'_>) {
        assert!(Packet::parse(delivery.payload) != Some(self.packet), "not this one");
        self.log.deliver(delivery);
    }

    fn panicked(&self, stream: StreamId, message: &str) -> AfterPanic {
        self.reported.lock().unwrap().push((stream, message.to_owned()));
        self.after
    }
}

const EACH: u64 = 400;
const PANICKING: Packet = Packet { stream: 1, number: 123 };

fn panics_on(log: &DeliveryLog, after: AfterPanic) -> PanicsOn<'_> {
    PanicsOn { log, packet: PANICKING, after, reported: Mutex::default() }
}

#[test]
fn a_packet_is_skipped_and_everything_else_is_delivered() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let (log, offered) = (DeliveryLog::new(&driver), driver.offered.clone());
        let handler = panics_on(&log, AfterPanic::Skip);
        let total = driver.total();
        let report = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            wait_until(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        assert_eq!(*handler.reported.lock().unwrap(), [(StreamId(1), "not this one".to_owned())]);
        assert_eq!((report.total().failed, accounted(&report)), (1, total), "{scheduling}");
        assert_eq!((log.missing(), log.doubled()), (1, 0), "{scheduling}");
    }
}

#[test]
fn a_stream_ends_and_others_are_not_touched() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let (log, offered) = (DeliveryLog::new(&driver), driver.offered.clone());
        let handler = panics_on(&log, AfterPanic::EndStream);
        let total = driver.total();
        let report = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            wait_until(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        assert_eq!(handler.reported.lock().unwrap().len(), 1, "{scheduling}: it is reported once");
        let by_stream = |stream: usize| report.streams.iter().map(|worker| worker[stream]).sum::<u64>();
        assert_eq!([by_stream(0), by_stream(2), by_stream(3)], [EACH; 3], "{scheduling}");
        assert_eq!(by_stream(1) + report.total().failed, EACH, "{scheduling}");
        if promises_order(&scheduling) {
            assert_eq!(by_stream(1), PANICKING.number, "{scheduling}: nothing after the panic");
        }
        assert_eq!((accounted(&report), log.doubled()), (total, 0), "{scheduling}");
    }
}

#[test]
fn a_handler_can_end_the_run() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let log = DeliveryLog::new(&driver);
        let handler = panics_on(&log, AfterPanic::EndRun);
        let ended = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            while !watch.has_ended() {
                // Pausing a run that is ending neither blocks nor revives it.
                watch.pause();
                watch.resume();
            }
        });
        assert!(matches!(ended, Err(RunError::Handler)), "{scheduling}");
    }
}

/// A handler that panics in `panicked` ends the run, and nothing hangs.
#[test]
fn a_panic_while_handling_a_panic_ends_the_run() {
    struct PanicsTwice;
    impl Handler for PanicsTwice {
        fn deliver(&self, _: &Delivery<'_>, _: &mut Context<'_>) {
            panic!("no");
        }
        fn panicked(&self, _: StreamId, _: &str) -> AfterPanic {
            panic!("no, no");
        }
    }
    let _lock = lock_processors();
    let ended =
        run(&options(Default::default(), 4), &mut Numbered::new(4, 50), &flows(4), &PanicsTwice, |watch| {
            while !watch.has_ended() {
                std::thread::yield_now();
            }
        });
    assert!(matches!(ended, Err(RunError::Handler)));
}

/// If other work panics, at once or later, the run ends with its message.
#[test]
fn a_panic_of_other_work_ends_the_run() {
    struct PanicsLater(Arc<AtomicU64>);
    impl Work for PanicsLater {
        fn step(&mut self) {
            assert!(self.0.fetch_add(1, Ordering::Relaxed) < 100, "enough");
        }
    }
    let _lock = lock_processors();
    let steps = Arc::new(AtomicU64::new(0));
    let work = Idle::Work(Arc::new(move |_| Box::new(PanicsLater(Arc::clone(&steps)))));
    let never = Idle::Work(Arc::new(|worker| panic!("worker {worker} will not have enough")));
    for idle in [work, never] {
        let options = Options { idle, ..options(Default::default(), 4) };
        let log = DeliveryLog::new(&Numbered::new(4, 50));
        let ended = run(&options, &mut Numbered::new(4, 50), &flows(4), &recording(&log), |watch| {
            while !watch.has_ended() {
                std::thread::yield_now();
            }
        });
        let error = ended.unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked { message, .. } if message.contains("enough")),
            "{error}"
        );
    }
}

/// A watcher that only waits is told at once, with the reason.
#[test]
fn a_watcher_that_waits_is_told_that_a_worker_panicked() {
    let _lock = lock_processors();
    // The first step follows the start of the watcher.
    let idle = Idle::Work(Arc::new(|worker| Box::new(move || panic!("worker {worker} has had enough"))));
    let options = Options { idle, ..options(Default::default(), 4) };
    let mut told = None;
    let ended = run(&options, &mut Numbered::new(4, 50), &flows(4), &ignoring, |watch| {
        assert!(watch.wait(Duration::MAX), "it ends only when the run has ended");
        told = watch.failure();
    });
    assert!(matches!(ended, Err(RunError::Panicked { .. })));
    assert!(told.is_some_and(|told| told.contains("has had enough")));
}

/// If the watching closure panics, the workers stop and the panic propagates.
#[test]
fn a_panic_of_the_watcher_propagates() {
    let _lock = lock_processors();
    let watching = std::panic::AssertUnwindSafe(|| {
        let options = options(Default::default(), 4);
        run(&options, &mut Numbered::new(4, 50), &flows(4), &ignoring, |_| panic!("seen enough"))
    });
    let panic = std::panic::catch_unwind(watching).map(|_| ()).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"seen enough"));
}
