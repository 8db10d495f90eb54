//! Saturated workers process packets in batches.

use super::support::*;
use std::time::Duration;
use warmcore_runtime::{Idle, Memory, Options, run};
use warmcore_scenario::{Parallelism, ProcessorPolicy, Scheduling};
use warmcore_units::StreamId;

const STREAMS: u32 = 6;

/// Most packets share a reading of the clock with others, and every one is counted either so or as alone.
#[test]
fn saturated_workers_read_the_clock_less_often_than_they_process_packets() {
    let _lock = lock_processors();
    for approach in [Parallelism::Locking, Parallelism::Ips] {
        let policy = ProcessorPolicy::WiredStreams;
        let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
        let options = Options { link: Memory::LINK, idle: Idle::Poll, ..options(scheduling, STREAMS) };
        let mix = Box::new((0..).map(|number| StreamId(number * 7 % 13 % STREAMS)));
        let mut driver = Memory::saturating(STREAMS, 64, mix);
        let mut least = 0;
        let report = run(&options, &mut driver, &flows(STREAMS), &ignoring, |run| {
            wait_until(run, || {
                least = run.streams().iter().flatten().sum::<u64>();
                least > 20_000
            });
            assert!(!run.wait(Duration::from_millis(1)));
        })
        .unwrap();
        let total = report.total();
        assert!(total.packets() >= least, "{scheduling}");
        assert_eq!(accounted(&report), total.packets(), "{scheduling}: no packet is lost");
        let alone: u64 = total.clean.alone.iter().map(|served| served.packets).sum();
        let (clean, shared) = (total.clean.packets(), total.interpolated.packets);
        assert!(alone + shared >= clean, "{scheduling}: {alone} alone, {shared} share, of {clean}");
        assert!(alone * 2 < total.packets(), "{scheduling}: {alone} of {} alone", total.packets());
        assert_eq!(total.interpolated.longest.0 > 0.0, shared > 0, "{scheduling}");
    }
}
