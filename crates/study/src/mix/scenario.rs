//! Threads of one command together, as an application of a scenario.

use super::threads::{Did, Threads};
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{
    Application, Blocking, Bursts, Ends, Footprint, Lock, RunQueueMachine, RunQueueScenario, SchedulerKind,
    UnixScheduler, WakeSource,
};
use warmcore_units::Nanos;

/// How many applications a scenario has at most: the other threads are one together.
const MOST: usize = 40;
/// The burst of a thread that never stopped by itself: longer than any run.
const ENDLESS_MS: f64 = 3_600_000.0;

/// What was recorded, for comparison with what is simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Mix {
    /// The scenario.
    pub scenario: RunQueueScenario,
    /// How long was recorded.
    pub recorded: Nanos,
    /// The cpus on which anything happened.
    pub cpus: usize,
    /// How many switches were missing in the trace, and were inferred from what came after.
    pub inferred: u64,
    /// The share of their time in which threads ran.
    pub utilisation: f64,
    /// How often a thread began to run.
    pub dispatches: u64,
    /// How often it had last run on another cpu.
    pub migrations: u64,
    /// Each application, the one that ran longest first.
    pub applications: Vec<ApplicationSummary>,
}

/// What was recorded of an application.
#[derive(Clone, PartialEq, Debug)]
pub struct ApplicationSummary {
    /// Its command.
    pub command: String,
    /// How many threads of it there were in all.
    pub threads: u64,
    /// How many there were at a time, on average.
    pub at_a_time: f64,
    /// How long they ran.
    pub ran: Nanos,
    /// How long they could have run and did not.
    pub waited: Nanos,
    /// How often they began to run.
    pub dispatches: u64,
    /// How often elsewhere than before.
    pub migrations: u64,
    /// How often they stopped by themselves.
    pub stops: u64,
    /// How often of those they ended.
    pub exits: u64,
    /// How often of those nothing could interrupt the wait, mostly for a device.
    pub uninterruptible: u64,
    /// The share of wake-ups that interrupts caused.
    pub woken_by_interrupts: f64,
}

/// Makes a scenario of what was recorded; `None` if nothing ran.
#[must_use]
pub fn mix(threads: Threads, cpus: u32) -> Option<Mix> {
    let inferred = threads.inferred();
    let (did, recorded, seen) = threads.finish();
    let mut did: Vec<(String, Did)> = did.into_iter().filter(|(_, did)| did.ran > Nanos::ZERO).collect();
    did.sort_by(|(_, a), (_, b)| b.ran.0.total_cmp(&a.ran.0));
    if did.is_empty() || recorded == Nanos::ZERO {
        return None;
    }
    if did.len() > MOST {
        let mut others = Did::default();
        did.drain(MOST - 1..).for_each(|(_, one)| others.merge(&one));
        did.push(("others".to_owned(), others));
    }
    let ran: f64 = did.iter().map(|(_, one)| one.ran.0).sum();
    let scenario = RunQueueScenario {
        schema: RunQueueScenario::SCHEMA,
        name: "recorded".to_owned(),
        seed: 1,
        runs: 5,
        seconds: Some(recorded.0 / 1e9),
        // What the kernel and the caches cost is in the times already.
        machine: RunQueueMachine {
            cpus,
            miss_ns: 0.0,
            reschedule_us: 0.0,
            interrupt_us: 0.0,
            interrupt_misses: 0.0,
            ..RunQueueMachine::default()
        },
        scheduler: UnixScheduler {
            kind: SchedulerKind::Fair,
            tick_ms: 1.0,
            quantum_ms: 3.0,
            ..UnixScheduler::default()
        },
        applications: did.iter().map(|(command, did)| application(command, did, recorded)).collect(),
    };
    Some(Mix {
        scenario,
        recorded,
        cpus: seen,
        inferred,
        utilisation: ran / (recorded.0 * f64::from(cpus)),
        dispatches: did.iter().map(|(_, one)| one.dispatches).sum(),
        migrations: did.iter().map(|(_, one)| one.migrations).sum(),
        applications: did.into_iter().map(|(command, did)| summary(command, &did, recorded)).collect(),
    })
}

fn application(command: &str, did: &Did, recorded: Nanos) -> Application {
    let processes = (did.alive.0 / recorded.0).round().max(1.0);
    let stops = to_f64(did.stops);
    // Whatever part of the time a place for a process is neither running nor waiting for a cpu, it is blocked or, between two
    // short-lived processes, empty.
    let blocked = (processes * recorded.0 - did.ran.0 - did.waited.0).max(0.0);
    let by_interrupt = did.by_interrupt * 2 >= did.wakes;
    let bursts = if did.stops == 0 {
        Bursts { edges_ms: Vec::new(), shares: Vec::new(), tail_ms: ENDLESS_MS }
    } else {
        did.bursts.bursts(Nanos(did.ran.0 / stops))
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of threads that lived at a time"
    )]
    let processes = processes as u32;
    Application {
        name: command.to_owned(),
        processes,
        work_ms: None,
        serial_ms: 0.0,
        jobs: None,
        footprint: Footprint::default(),
        bursts,
        ends: Ends { block: 1.0, ..Ends::default() },
        blocking: Blocking {
            mean_ms: if did.stops == 0 { 0.0 } else { blocked / stops / 1e6 },
            wake: if by_interrupt { WakeSource::Interrupt } else { WakeSource::Process },
            ..Blocking::default()
        },
        lock: Lock::default(),
        base: 0,
        attached: Vec::new(),
    }
}

fn summary(command: String, did: &Did, recorded: Nanos) -> ApplicationSummary {
    ApplicationSummary {
        command,
        threads: did.threads,
        at_a_time: did.alive.0 / recorded.0,
        ran: did.ran,
        waited: did.waited,
        dispatches: did.dispatches,
        migrations: did.migrations,
        stops: did.stops,
        exits: did.exits,
        uninterruptible: did.uninterruptible,
        woken_by_interrupts: to_f64(did.by_interrupt) / to_f64(did.wakes.max(1)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of events")]
const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::sched_trace::event::{Line, parse};

    /// Two threads take turns on one cpu for a second: `spin` computes, `tick` wakes up every 10 ms for 1 ms.
    fn recording() -> String {
        let mut lines = String::new();
        let mut line = |ms: u32, context: &str, event: &str| {
            let seconds = f64::from(ms) / 1e3;
            lines += &format!("           x-1       [000] {context} {seconds:.6}: {event}\n");
        };
        for round in 0..100 {
            let ms = 1000 + round * 10;
            line(ms, "dNh2.", "sched_wakeup: comm=tick pid=7 prio=120 target_cpu=000");
            line(
                ms,
                "d..2.",
                "sched_switch: prev_comm=spin prev_pid=6 prev_prio=120 prev_state=R ==> next_comm=tick \
                              next_pid=7 next_prio=120",
            );
            line(
                ms + 1,
                "d..2.",
                "sched_switch: prev_comm=tick prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=spin \
                                  next_pid=6 next_prio=120",
            );
        }
        lines
    }

    fn recorded(text: &str, excluded: &[u32]) -> Option<Mix> {
        let mut threads = Threads::new(excluded.iter().copied());
        for line in text.lines() {
            let Line::Record(record) = parse(line) else { panic!("{line}") };
            threads.record(&record);
        }
        mix(threads, 1)
    }

    #[test]
    fn demands_are_found_again() {
        let mix = recorded(&recording(), &[]).expect("something ran");
        assert_eq!(mix.scenario.check(), Ok(()));
        assert!((mix.recorded.0 / 1e6 - 991.0).abs() < 0.01, "{}", mix.recorded);
        assert!((mix.utilisation - 1.0).abs() < 1e-6);
        let [spin, tick] = &mix.scenario.applications[..] else { panic!("{:?}", mix.scenario.applications) };
        assert_eq!((spin.name.as_str(), tick.name.as_str()), ("spin", "tick"));
        assert!(spin.bursts.mean_ms() >= 3_600_000.0, "it never stopped by itself");
        assert!((tick.bursts.mean_ms() - 1.0).abs() < 0.01, "{:?}", tick.bursts);
        // 99 waits of 9 ms, and the recording ends with a stop.
        assert!((tick.blocking.mean_ms - 8.91).abs() < 0.01, "{:?}", tick.blocking);
        assert_eq!(tick.blocking.wake, WakeSource::Interrupt);
        assert_eq!((mix.dispatches, mix.migrations), (200, 0));
        let text = toml::to_string(&mix.scenario).expect("it can be written");
        assert_eq!(toml::from_str::<RunQueueScenario>(&text).expect("and read"), mix.scenario);
    }

    #[test]
    fn who_is_excluded_is_not_in_it() {
        let mix = recorded(&recording(), &[7]).expect("something ran");
        assert_eq!(mix.applications.len(), 1);
        assert_eq!(mix.applications[0].command, "spin");
        assert!(mix.utilisation < 1.0);
    }

    #[test]
    fn switches_that_are_not_in_the_trace_are_inferred() {
        // Without the switches to `tick`, and so from `spin`.
        let text: String = recording()
            .lines()
            .filter(|line| !line.contains("prev_comm=spin"))
            .map(|line| format!("{line}\n"))
            .collect();
        let mix = recorded(&text, &[]).expect("something ran");
        assert_eq!(mix.inferred, 99, "the first one is before the recording");
        let tick = mix.scenario.applications.iter().find(|one| one.name == "tick").expect("it ran");
        assert!((tick.bursts.mean_ms() - 1.0).abs() < 0.05, "{:?}", tick.bursts);
        assert!((mix.utilisation - 1.0).abs() < 0.02, "{}", mix.utilisation);
    }

    #[test]
    fn nothing_makes_no_scenario() {
        assert_eq!(recorded("", &[]), None);
    }

    #[test]
    fn short_lived_threads_share_a_place() {
        let mut text = String::new();
        for child in 0..50 {
            let (start, end) = (1.0 + f64::from(child) * 0.02, 1.015 + f64::from(child) * 0.02);
            let pid = 100 + child;
            text += &format!(
                "a-1 [000] d..2. {start:.6}: sched_wakeup_new: comm=sh pid={pid} prio=120 target_cpu=000\n"
            );
            text += &format!(
                "a-1 [000] d..2. {start:.6}: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> \
                 next_comm=sh next_pid={pid} next_prio=120\n"
            );
            text += &format!(
                "a-1 [000] d..2. {end:.6}: sched_switch: prev_comm=cc1 prev_pid={pid} prev_prio=120 prev_state=Z ==> \
                 next_comm=swapper/0 next_pid=0 next_prio=120\n"
            );
        }
        let mix = recorded(&text, &[]).expect("something ran");
        let [cc1] = &mix.scenario.applications[..] else { panic!("{:?}", mix.scenario.applications) };
        assert_eq!((cc1.name.as_str(), cc1.processes), ("cc1", 1), "named by what they became");
        assert!((cc1.bursts.mean_ms() - 15.0).abs() < 0.01, "{:?}", cc1.bursts);
        assert!((cc1.blocking.mean_ms - 4.9).abs() < 0.1, "the gaps between them: {:?}", cc1.blocking);
        assert_eq!(mix.applications[0].exits, 50);
    }
}
