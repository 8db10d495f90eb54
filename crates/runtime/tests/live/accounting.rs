//! Every packet is delivered once, in order, or counted as lost.

use super::numbered::{Numbered, Spread};
use super::support::*;
use std::sync::atomic::Ordering;
use warmcore_runtime::run;
use warmcore_runtime::{Idle, Shutdown, Work};
use warmcore_scenario::{Parallelism, Scheduling};

/// Runs all packets of `driver` under `scheduling` and checks that each is delivered once.
fn check_all_delivered(scheduling: Scheduling, driver: Numbered, idle: Idle) {
    let case = format!("{scheduling}, {:?}, idle {idle:?}", driver.spread);
    let options = warmcore_runtime::Options { idle, ..options(scheduling, driver.streams) };
    let log = DeliveryLog::new(&driver);
    let (offered, total) = (driver.offered.clone(), driver.total());
    let flows = flows(driver.streams);
    let report = run(&options, &mut { driver }, &flows, &recording(&log), |watch| {
        wait_until(watch, || offered.load(Ordering::Relaxed) == total);
    });
    let report = report.unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(log.damaged(), 0, "{case}: payloads arrive as they were sent");
    assert_eq!((log.missing(), log.doubled()), (0, 0), "{case}: each packet comes once");
    assert_eq!((report.total().packets(), accounted(&report)), (total, total), "{case}: {report:?}");
    if promises_order(&scheduling) {
        assert_eq!(log.overtaken(), 0, "{case}: streams are in order");
    }
    let by_stream: u64 = report.streams.iter().flatten().sum();
    assert_eq!(by_stream, total, "{case}: each is counted with its stream");
}

#[test]
fn each_packet_is_delivered_once_and_in_order_under_every_scheduling() {
    let _lock = lock_processors();
    for scheduling in every_scheduling() {
        check_all_delivered(scheduling, Numbered::new(5, 300), Idle::Sleep);
    }
}

#[test]
fn every_packet_is_delivered_on_whichever_queue_it_arrives() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        for spread in [Spread::NextQueue, Spread::SingleQueue] {
            check_all_delivered(scheduling, Numbered { spread, ..Numbered::new(5, 300) }, Idle::Poll);
        }
        let prepared = Numbered { prepared: true, ..Numbered::new(5, 300) };
        check_all_delivered(scheduling, prepared, Idle::Poll);
    }
}

/// All packets are delivered with one stream or many, and with other work in between.
#[test]
fn one_stream_or_many_beside_other_work() {
    struct Sum(u64);
    impl Work for Sum {
        fn step(&mut self) {
            self.0 = (0..200).fold(self.0, |sum: u64, term| sum.wrapping_mul(31) ^ term);
        }
    }
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        for (streams, each) in [(1, 500), (64, 20)] {
            let work = Idle::Work(std::sync::Arc::new(|worker| Box::new(Sum(worker.into()))));
            check_all_delivered(scheduling, Numbered::new(streams, each), work);
        }
    }
}

/// However a run ends, every received packet is accounted for; and a run that drains gives up nothing.
#[test]
fn every_packet_is_accounted_for_however_the_run_ends() {
    let _lock = lock_processors();
    for scheduling in every_scheduling().step_by(4) {
        for shutdown in [Shutdown::Drain, Shutdown::Discard] {
            for spread in [Spread::Steered, Spread::NextQueue] {
                let driver = Numbered { spread, ..Numbered::new(6, 20_000) };
                let options = warmcore_runtime::Options { shutdown, ..options(scheduling, 6) };
                let (log, offered) = (DeliveryLog::new(&driver), driver.offered.clone());
                let report = run(&options, &mut { driver }, &flows(6), &recording(&log), |watch| {
                    wait_until(watch, || offered.load(Ordering::Relaxed) > 500);
                })
                .unwrap();
                let case = format!("{scheduling}, {shutdown:?}, {spread:?}");
                let offered = offered.load(Ordering::Relaxed);
                assert_eq!(accounted(&report), offered, "{case}: {:?}", report.total());
                assert_eq!(log.delivered(), report.total().packets(), "{case}");
                assert_eq!((log.doubled(), report.total().overflowed), (0, 0), "{case}");
                if shutdown == Shutdown::Drain {
                    assert_eq!(report.given_up, 0, "{case}: everything is processed");
                }
                if promises_order(&scheduling) {
                    assert_eq!(log.overtaken(), 0, "{case}");
                }
            }
        }
    }
}

/// The context tells the handler its processor, and each worker has its own.
#[test]
fn a_handler_is_told_where_it_runs() {
    let _lock = lock_processors();
    let mut cpus = cpus();
    cpus.reverse();
    let scheduling = Scheduling { approach: Parallelism::Ips, ..Scheduling::default() };
    let driver = Numbered::new(4, 500);
    let options = warmcore_runtime::Options { cpus: cpus.clone(), ..options(scheduling, 4) };
    let (offered, total) = (driver.offered.clone(), driver.total());
    let handler = |_: &warmcore_stack::Delivery<'_>, context: &mut warmcore_runtime::Context<'_>| {
        assert_eq!(context.cpu(), cpus[context.worker()]);
    };
    let report = run(&options, &mut { driver }, &flows(4), &handler, |watch| {
        wait_until(watch, || offered.load(Ordering::Relaxed) == total);
    })
    .unwrap();
    assert_eq!((report.total().packets(), report.total().failed), (total, 0));
}
