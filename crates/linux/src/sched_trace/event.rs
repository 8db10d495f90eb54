//! A line of the trace, as the kernel prints events (`Documentation/trace/ftrace.rst`):
//!
//! ```text
//!      kworker/1:0-2306    [001] d..2. 61844.588430: sched_switch: prev_comm=… prev_pid=2306 …
//!      command and thread   cpu  context  seconds     event         fields
//! ```
//!
//! A command may hold any character, so fields are looked for from the end.

use warmcore_units::{CpuId, Nanos};

/// In what state a thread leaves its cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopState {
    /// It can go on: its time is over, a better thread came, or it yielded.
    Runnable,
    /// It waits for an event that a signal may interrupt.
    Sleeping,
    /// It waits for an event that nothing interrupts, mostly a device.
    Uninterruptible,
    /// It has ended.
    Dead,
    /// Another state: a kernel thread without work, a thread that a debugger has stopped.
    Other,
}

/// What woke a thread up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waker {
    /// The thread that ran there, in a system call.
    Thread,
    /// Deferred work of an interrupt; often of the thread that ran there, as when it sends to its own host.
    Deferred,
    /// An interrupt.
    Interrupt,
}

/// What the scheduler did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SchedEvent<'a> {
    /// A cpu goes from one thread to another. Thread 0 is the idle one.
    Switch {
        /// The thread that stops.
        from: u32,
        /// Its command at this time.
        command: &'a str,
        /// Its priority, 120 for nice 0.
        priority: i32,
        /// Its state.
        state: StopState,
        /// The thread that runs next.
        to: u32,
        /// Its command.
        to_command: &'a str,
        /// Its priority.
        to_priority: i32,
    },
    /// A thread is about to be able to run again (`sched_waking`), or for the first time (`sched_wakeup_new`).
    Woken {
        /// The thread.
        thread: u32,
        /// What woke it up.
        waker: Waker,
        /// Where it last ran; for a new one, where it will.
        cpu: CpuId,
        /// Whether it is a new one.
        is_new: bool,
    },
    /// The thread that runs has made another, which `sched_wakeup_new` will start (`task_newtask`).
    Made {
        /// The new thread.
        thread: u32,
        /// Whether it is one of the maker's process, and not a process of its own.
        is_of_process: bool,
    },
    /// The thread that runs goes on with another program.
    Exec,
}

/// An event, its time and its cpu.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SchedRecord<'a> {
    /// Time since an unknown start, the same for all cpus.
    pub at: Nanos,
    /// Where it happened.
    pub cpu: CpuId,
    /// The thread that ran there; 0 for the idle one.
    pub thread: u32,
    /// What happened.
    pub event: SchedEvent<'a>,
}

/// What a line of the trace is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Line<'a> {
    /// An event.
    Record(SchedRecord<'a>),
    /// So many events were lost before the next one, as nobody read them in time.
    Lost(u64),
    /// A comment, or an event of another kind.
    Other,
    /// Nothing that the kernel writes.
    Malformed,
}

/// Reads a line of the trace.
#[must_use]
pub fn parse(line: &str) -> Line<'_> {
    if line.starts_with('#') || line.trim().is_empty() {
        return Line::Other;
    }
    if let Some(lost) = lost(line) {
        return Line::Lost(lost);
    }
    let events: [(&str, Reader); 5] = [
        (": sched_switch: ", switch),
        (": sched_waking: ", |fields, context| woken(fields, context, false)),
        (": sched_wakeup_new: ", |fields, context| woken(fields, context, true)),
        (": sched_process_exec: ", |_, _| Some(SchedEvent::Exec)),
        (": task_newtask: ", |fields, _| made(fields)),
    ];
    for (name, read) in events {
        // The fields may hold a command that looks like an event.
        if let Some((head, fields)) = line.split_once(name) {
            return record(head, fields, read).map_or(Line::Malformed, Line::Record);
        }
    }
    if holds_event(line) { Line::Other } else { Line::Malformed }
}

/// Whether the name of an event is in `line`.
pub(super) fn holds_event(line: &str) -> bool {
    line.contains(": sched_") || line.contains(": task_")
}

/// Reads the fields of an event; the other argument is the context in which it happened.
type Reader = for<'a> fn(&'a str, &str) -> Option<SchedEvent<'a>>;

fn record<'a>(head: &str, fields: &'a str, read: Reader) -> Option<SchedRecord<'a>> {
    let mut words = head.split_ascii_whitespace().rev();
    let at = Nanos(words.next()?.parse::<f64>().ok()? * 1e9);
    let context = words.next()?;
    let cpu = words.next()?.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    let thread = words.next()?.rsplit_once('-')?.1.parse().ok()?;
    Some(SchedRecord { at, cpu: CpuId(cpu), thread, event: read(fields, context)? })
}

/// `CPU:3 [LOST 127 EVENTS]`
fn lost(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("CPU:")?.split_once("[LOST ")?;
    rest.split(' ').next()?.parse().ok()
}

/// `prev_comm=bash prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=cc1 next_pid=9 next_prio=120`
fn switch<'a>(fields: &'a str, _: &str) -> Option<SchedEvent<'a>> {
    // Either command may look like what is between them, but not like the state before that too.
    let mut betweens = fields.match_indices(" ==> next_comm=");
    let (from, state, to) = betweens.find_map(|(at, between)| {
        let (from, state) = fields[..at].rsplit_once(" prev_state=")?;
        (!state.contains(' ')).then(|| (from, state, &fields[at + between.len()..]))
    })?;
    let (to_command, to) = to.rsplit_once(" next_pid=")?;
    let (to, to_priority) = to.split_once(" next_prio=")?;
    let (command, from) = from.rsplit_once(" prev_pid=")?;
    let (from, priority) = from.split_once(" prev_prio=")?;
    let state = match state.as_bytes().first()? {
        // `R+` was preempted, whatever it was about to do.
        b'R' => StopState::Runnable,
        _ if state.ends_with('+') => StopState::Runnable,
        b'S' => StopState::Sleeping,
        b'D' => StopState::Uninterruptible,
        b'X' | b'Z' => StopState::Dead,
        _ => StopState::Other,
    };
    Some(SchedEvent::Switch {
        from: from.parse().ok()?,
        command: command.strip_prefix("prev_comm=")?,
        priority: priority.parse().ok()?,
        state,
        to: to.parse().ok()?,
        to_command,
        to_priority: to_priority.trim_end().parse().ok()?,
    })
}

/// `comm=bash pid=7 prio=120 target_cpu=001`
fn woken<'a>(fields: &'a str, context: &str, is_new: bool) -> Option<SchedEvent<'a>> {
    // The third letter says whether an interrupt or its deferred part runs.
    let waker = match context.as_bytes().get(2) {
        Some(b'h' | b'H' | b'z' | b'Z') => Waker::Interrupt,
        Some(b's') => Waker::Deferred,
        _ => Waker::Thread,
    };
    let (fields, cpu) = fields.rsplit_once(" target_cpu=")?;
    let thread = fields.rsplit_once(" pid=")?.1.split(' ').next()?.parse().ok()?;
    Some(SchedEvent::Woken { thread, waker, cpu: CpuId(cpu.trim_end().parse().ok()?), is_new })
}

/// The flag of `clone` that makes a thread of the same process.
const CLONE_THREAD: u64 = 0x1_0000;

/// `pid=9 comm=bash clone_flags=1200000 oom_score_adj=0`
fn made<'a>(fields: &str) -> Option<SchedEvent<'a>> {
    let (fields, flags) = fields.rsplit_once(" clone_flags=")?;
    let flags = u64::from_str_radix(flags.split(' ').next()?, 16).ok()?;
    let thread = fields.strip_prefix("pid=")?.split(' ').next()?.parse().ok()?;
    Some(SchedEvent::Made { thread, is_of_process: flags & CLONE_THREAD != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> SchedEvent<'_> {
        match parse(line) {
            Line::Record(record) => record.event,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_switch_names_both_threads_and_why_one_stops() {
        let line = "     kworker/1:0-2306    [001] d..2. 61844.588430: sched_switch: prev_comm=kworker/1:0 \
                    prev_pid=2306 prev_prio=120 prev_state=I ==> next_comm=bash next_pid=2476 next_prio=120";
        let Line::Record(record) = parse(line) else { panic!("no record") };
        assert_eq!((record.cpu, record.thread), (CpuId(1), 2306));
        assert!((record.at.0 - 61_844.588_43e9).abs() < 100.0);
        let expected = SchedEvent::Switch {
            from: 2306,
            command: "kworker/1:0",
            priority: 120,
            state: StopState::Other,
            to: 2476,
            to_command: "bash",
            to_priority: 120,
        };
        assert_eq!(record.event, expected);
        for (state, expected) in [
            ("R", StopState::Runnable),
            ("R+", StopState::Runnable),
            ("S+", StopState::Runnable),
            ("S", StopState::Sleeping),
            ("D", StopState::Uninterruptible),
            ("Z", StopState::Dead),
            ("t", StopState::Other),
        ] {
            let line = line.replace("prev_state=I", &format!("prev_state={state}"));
            assert!(matches!(event(&line), SchedEvent::Switch { state, .. } if state == expected), "{line}");
        }
    }

    /// The kernel cuts commands to 15 bytes, so no longer ones can come.
    #[test]
    fn a_command_may_look_like_anything() {
        for name in [
            " ==> next_comm=",
            " prev_state=Z",
            "x prev_pid=9",
            " next_pid=3 n",
            ": sched_waking:",
            "a [002] d..2.",
            "a-9 1.5: x-8",
        ] {
            assert!(name.len() <= 15, "{name}");
            for (from, to) in [(name, "x"), ("x", name), (name, name)] {
                let line = format!(
                    "{from}-7 [000] dNh2. 1.5: sched_switch: prev_comm={from} prev_pid=7 prev_prio=120 prev_state=S ==> \
                     next_comm={to} next_pid=9 next_prio=110"
                );
                let Line::Record(record) = parse(&line) else { panic!("{line}") };
                assert_eq!((record.cpu, record.thread), (CpuId(0), 7), "{line}");
                let expected = SchedEvent::Switch {
                    from: 7,
                    command: from,
                    priority: 120,
                    state: StopState::Sleeping,
                    to: 9,
                    to_command: to,
                    to_priority: 110,
                };
                assert_eq!(record.event, expected, "{line}");
            }
        }
        let spaced =
            "a b pid=9-7 [000] dNh2. 1.5: sched_waking: comm=a b pid=9 pid=7 prio=120 target_cpu=000";
        let woken = SchedEvent::Woken { thread: 7, waker: Waker::Interrupt, cpu: CpuId(0), is_new: false };
        assert_eq!(event(spaced), woken);
    }

    #[test]
    fn a_wake_up_tells_what_caused_it() {
        for (context, waker) in [
            ("dNh2.", Waker::Interrupt),
            ("dNs5.", Waker::Deferred),
            ("dN.4.", Waker::Thread),
            ("d..2.", Waker::Thread),
        ] {
            let line =
                format!("<idle>-0 [000] {context} 1.5: sched_waking: comm=a pid=7 prio=120 target_cpu=001");
            let expected = SchedEvent::Woken { thread: 7, waker, cpu: CpuId(1), is_new: false };
            assert_eq!(event(&line), expected, "{line}");
        }
        let new = "bash-6 [000] d..2. 1.5: sched_wakeup_new: comm=a pid=7 prio=120 target_cpu=000";
        let expected = SchedEvent::Woken { thread: 7, waker: Waker::Thread, cpu: CpuId(0), is_new: true };
        assert_eq!(event(new), expected);
        let exec = "make-6 [000] ..... 1.5: sched_process_exec: filename=/usr/bin/cc pid=6 old_pid=6";
        assert_eq!(event(exec), SchedEvent::Exec);
        for (flags, is_of_process) in [("3d0f00", true), ("1200000", false)] {
            let made = format!(
                "a-6 [000] ..... 1.5: task_newtask: pid=9 comm=a pid=8 clone_flags={flags} oom_score_adj=0"
            );
            assert_eq!(event(&made), SchedEvent::Made { thread: 9, is_of_process }, "{made}");
        }
    }

    #[test]
    fn what_is_no_event_is_told_apart() {
        assert_eq!(parse("# tracer: nop"), Line::Other);
        assert_eq!(parse("CPU:1 [LOST 4711 EVENTS]"), Line::Lost(4711));
        assert_eq!(parse("a-7 [000] ..... 1.5: sched_process_exit: comm=a pid=7 prio=120"), Line::Other);
        assert_eq!(parse("a-7 [0x0] ..... 1.5: sched_waking: comm=a pid=7 prio=120"), Line::Malformed);
        assert_eq!(parse("anything"), Line::Malformed);
    }
}
