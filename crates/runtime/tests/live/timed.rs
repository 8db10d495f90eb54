//! Timing of one packet in every few.

use super::numbered::Numbered;
use super::support::*;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_runtime::run;
use warmcore_runtime::{Options, Stopwatch};
use warmcore_scenario::Scheduling;
use warmcore_units::Nanos;

const EVERY: u32 = 7;
static READINGS: AtomicU64 = AtomicU64::new(0);

/// A counter that advances by a thousand with each reading.
fn read() -> u64 {
    READINGS.fetch_add(1, Ordering::Relaxed) * 1_000
}

/// The counter is read before and after one packet in `EVERY`, and the overhead of reading is
/// subtracted.
#[test]
fn one_packet_in_every_few_is_timed() {
    let _lock = lock_processors();
    let watch = Stopwatch { read, nanos_per_tick: 1.0, overhead: Nanos(900.0), every: EVERY };
    let all = options(Scheduling::default(), 3);
    let options = Options { cpus: all.cpus[..1].to_vec(), stopwatch: Some(watch), ..all };
    let mut driver = Numbered::new(3, 500);
    let (offered, total) = (driver.offered.clone(), driver.total());
    let report = run(&options, &mut driver, &flows(3), &ignoring, |watch| {
        wait_until(watch, || offered.load(Ordering::Relaxed) == total);
    })
    .unwrap();
    assert_eq!(report.total().packets(), total);
    assert_eq!(READINGS.load(Ordering::Relaxed), 2 * (total / u64::from(EVERY)));
    // Packets that met a stall are not counted.
    let timed: Vec<_> = report.total().timed.into_iter().filter(|timed| timed.packets > 0).collect();
    assert!(timed.iter().map(|timed| timed.packets).sum::<u64>() <= total / u64::from(EVERY));
    assert!(timed.iter().all(|timed| timed.time == Nanos(100.0) * timed.packets as f64), "{timed:?}");
}
