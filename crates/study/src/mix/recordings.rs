//! Short recordings, for tests.

use super::threads::Threads;
use warmcore_linux::sched_trace::event::{Line, parse};

/// The threads of a trace.
pub(super) fn threads(text: &str) -> Threads {
    let mut threads = Threads::default();
    for line in text.lines() {
        let Line::Record(record) = parse(line) else { panic!("{line}") };
        threads.record(&record);
    }
    threads
}

/// The fields of a switch.
pub(super) fn switch(from: &str, pid: u32, state: &str, to: &str, next: u32) -> String {
    format!(
        "sched_switch: prev_comm={from} prev_pid={pid} prev_prio=120 prev_state={state} ==> next_comm={to} \
         next_pid={next} next_prio=120"
    )
}
