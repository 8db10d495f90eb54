use super::numbered::{Numbered, Packet};
use super::stage::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use warmcore_runtime::{AfterPanic, Context, Handler, Idle, Options, RunError, Work};
use warmcore_stack::Delivery;
use warmcore_units::StreamId;

/// Cannot stand this packet.
struct Touchy<'a> {
    account: &'a Account,
    packet: Packet,
    verdict: AfterPanic,
    told: Mutex<Vec<(StreamId, String)>>,
}

impl Handler for Touchy<'_> {
    fn deliver(&self, delivery: &Delivery<'_>, _: &mut Context<'_>) {
        assert!(Packet::parse(delivery.payload) != Some(self.packet), "not this one");
        self.account.deliver(delivery);
    }

    fn panicked(&self, stream: StreamId, message: &str) -> AfterPanic {
        self.told.lock().unwrap().push((stream, message.to_owned()));
        self.verdict
    }
}

const EACH: u64 = 400;
const TOUCHED: Packet = Packet { stream: 1, number: 123 };

fn touchy(account: &Account, verdict: AfterPanic) -> Touchy<'_> {
    Touchy { account, packet: TOUCHED, verdict, told: Mutex::default() }
}

#[test]
fn a_packet_is_skipped_and_everything_else_is_delivered() {
    let _alone = alone();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let (account, offered) = (Account::new(&driver), driver.offered.clone());
        let handler = touchy(&account, AfterPanic::Skip);
        let total = driver.total();
        let report = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            await_that(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        assert_eq!(*handler.told.lock().unwrap(), [(StreamId(1), "not this one".to_owned())]);
        assert_eq!((report.total().failed, accounted(&report)), (1, total), "{scheduling}");
        assert_eq!((account.missing(), account.doubled()), (1, 0), "{scheduling}");
    }
}

#[test]
fn a_stream_ends_and_others_are_not_touched() {
    let _alone = alone();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let (account, offered) = (Account::new(&driver), driver.offered.clone());
        let handler = touchy(&account, AfterPanic::EndStream);
        let total = driver.total();
        let report = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            await_that(watch, || offered.load(Ordering::Relaxed) == total);
        })
        .unwrap();
        assert_eq!(handler.told.lock().unwrap().len(), 1, "{scheduling}: it is told once");
        let by_stream = |stream: usize| report.streams.iter().map(|worker| worker[stream]).sum::<u64>();
        assert_eq!([by_stream(0), by_stream(2), by_stream(3)], [EACH; 3], "{scheduling}");
        assert_eq!(by_stream(1) + report.total().failed, EACH, "{scheduling}");
        if promises_order(&scheduling) {
            assert_eq!(by_stream(1), TOUCHED.number, "{scheduling}: nothing after the panic");
        }
        assert_eq!((accounted(&report), account.doubled()), (total, 0), "{scheduling}");
    }
}

#[test]
fn a_run_ends_and_says_so() {
    let _alone = alone();
    for scheduling in every_scheduling().step_by(4) {
        let driver = Numbered::new(4, EACH);
        let account = Account::new(&driver);
        let handler = touchy(&account, AfterPanic::EndRun);
        let ended = run(&options(scheduling, 4), &mut { driver }, &flows(4), &handler, |watch| {
            while !watch.has_ended() {
                // Whoever pauses a run that is ending does not wait for ever, nor does it revive.
                watch.pause();
                watch.resume();
            }
        });
        assert!(matches!(ended, Err(RunError::Handler)), "{scheduling}");
    }
}

/// A handler that panics over its own panic ends the run, and nothing hangs.
#[test]
fn a_panic_over_a_panic_ends_the_run() {
    struct Hopeless;
    impl Handler for Hopeless {
        fn deliver(&self, _: &Delivery<'_>, _: &mut Context<'_>) {
            panic!("no");
        }
        fn panicked(&self, _: StreamId, _: &str) -> AfterPanic {
            panic!("no, no");
        }
    }
    let _alone = alone();
    let ended =
        run(&options(Default::default(), 4), &mut Numbered::new(4, 50), &flows(4), &Hopeless, |watch| {
            while !watch.has_ended() {
                std::thread::yield_now();
            }
        });
    assert!(matches!(ended, Err(RunError::Handler)));
}

/// Other work that panics, at once or later, ends the run with a message.
#[test]
fn a_panic_of_other_work_ends_the_run() {
    struct Tired(Arc<AtomicU64>);
    impl Work for Tired {
        fn step(&mut self) {
            assert!(self.0.fetch_add(1, Ordering::Relaxed) < 100, "enough");
        }
    }
    let _alone = alone();
    let steps = Arc::new(AtomicU64::new(0));
    let work = Idle::Work(Arc::new(move |_| Box::new(Tired(Arc::clone(&steps)))));
    let never = Idle::Work(Arc::new(|worker| panic!("worker {worker} will not have enough")));
    for idle in [work, never] {
        let options = Options { idle, ..options(Default::default(), 4) };
        let account = Account::new(&Numbered::new(4, 50));
        let ended = run(&options, &mut Numbered::new(4, 50), &flows(4), &keeping(&account), |watch| {
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

/// Whoever watches may panic: the workers go home, and the panic goes on.
#[test]
fn a_panic_of_the_watcher_is_passed_on() {
    let _alone = alone();
    let watching = std::panic::AssertUnwindSafe(|| {
        let options = options(Default::default(), 4);
        run(&options, &mut Numbered::new(4, 50), &flows(4), &ignoring, |_| panic!("seen enough"))
    });
    let panic = std::panic::catch_unwind(watching).map(|_| ()).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"seen enough"));
}
