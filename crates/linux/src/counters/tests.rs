//! Counters on fake cpus and on this machine.

use super::*;
use crate::fake::counters::{FakeCounter, FakeSource};
use crate::{affinity, pin_to};
use std::thread::sleep;
use std::time::Duration;

/// Counts once on two fake cpus.
fn counted(source: &FakeSource) -> EventCounts {
    let mut counters = Counters::open(source, &[CpuId(0), CpuId(1)]);
    let before = counters.read();
    counters.read().since(&before)
}

#[test]
fn events_are_added_up_over_cpus() {
    let source = FakeSource::zen()
        .with("cycles", FakeCounter::always_running(1000))
        .with("instructions", FakeCounter::always_running(700));
    let counted = counted(&source);
    assert_eq!(counted.get(Event::Cycles), Ok(EventCount { count: 2000.0, running: 1.0 }));
    assert_eq!(counted.get(Event::Instructions).map(|tally| tally.count), Ok(1400.0));
    let absent = counted.get(Event::L2Misses).expect_err("there is no such counter").to_string();
    assert!(absent.starts_with("the system answered `No such file or directory"), "{absent}");
    assert!(absent.contains("to `l2_cache_req_stat.ic_dc_miss_in_l2` on cpu0: this processor"), "{absent}");
}

#[test]
fn a_count_over_part_of_the_time_is_scaled_unless_that_part_is_small() {
    let source = FakeSource::zen()
        .with("cycles", FakeCounter { step: 600, running: 0.75 })
        .with("instructions", FakeCounter { step: 600, running: 0.4 });
    let counted = counted(&source);
    assert_eq!(counted.get(Event::Cycles), Ok(EventCount { count: 1600.0, running: 0.75 }));
    let why = counted.get(Event::Instructions).expect_err("too little").to_string();
    assert!(why.contains("ran for only 40% of the time; below 50%"), "{why}");
}

/// Software events of the kernel use the same code as hardware events, and every machine has them.
#[test]
fn software_events_are_counted_on_a_cpu() {
    let cpu = affinity::mask().expect("a mask").first().expect("a cpu");
    let _pinned = pin_to(cpu).expect("it may be used");
    let kernel = Kernel::default();
    let open = |code: Code| kernel.open(code, cpu);
    let mut switches = match open(Code::CONTEXT_SWITCHES) {
        Ok(switches) => switches,
        Err(error) => {
            let why = CounterError::refused(Code::CONTEXT_SWITCHES.name, cpu, &error);
            return println!("skipped: {why}");
        }
    };
    let mut others = [Code::CPU_CLOCK, Code::CPU_MIGRATIONS, Code::PAGE_FAULTS]
        .map(|code| open(code).unwrap_or_else(|error| panic!("{code}: {error}")));
    let mut read = || {
        let of_all = others.each_mut().map(|counter| counter.read().expect("it is open"));
        (switches.read().expect("it is open"), of_all)
    };
    let (before, [clock_before, ..]) = read();
    let fresh = vec![1_u8; 4 << 20];
    for _ in 0..20 {
        sleep(Duration::from_millis(1));
    }
    let (after, [clock, moves, faults]) = read();
    assert!(fresh.iter().all(|&byte| byte == 1));
    assert!(after.count >= before.count + 20, "{before:?} {after:?}");
    assert!(clock.count > clock_before.count && faults.count > 0, "{clock:?} {faults:?}");
    for reading in [after, clock, moves, faults] {
        assert!(reading.enabled.0 > 20e6 && reading.running == reading.enabled, "{reading:?}");
    }
}

#[test]
fn this_machine_counts_or_reports_the_error() {
    let cpu = affinity::mask().expect("a mask").first().expect("a cpu");
    let mut counters = Counters::open(&Kernel::default(), &[cpu]);
    let before = counters.read();
    sleep(Duration::from_millis(20));
    let counted = counters.read().since(&before);
    for event in Event::ALL {
        match counted.get(event) {
            Ok(tally) => assert!(tally.count >= 0.0 && tally.running > 0.0, "{event}: {tally:?}"),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
        assert!(counters.code(event).is_ok() || counted.get(event).is_err(), "{event}");
    }
}

#[test]
fn errors_of_the_system_are_explained() {
    let message = |number: i32| {
        let answer = io::Error::from_raw_os_error(number);
        CounterError::refused(Code::CYCLES.name, CpuId(3), &answer).to_string()
    };
    assert!(message(libc::EACCES).contains("to `cycles` on cpu3: it needs CAP_PERFMON"));
    assert!(message(libc::EPERM).contains("perf_event_paranoid"));
    assert!(
        message(libc::ENOSYS).contains("without counters")
            && message(libc::EOPNOTSUPP).contains("hypervisor")
    );
    assert!(message(libc::EINVAL).ends_with("on cpu3"));
}
