//! Which threads are one application: those of processes of one command, and what is left.
//!
//! What is not asked for is kept, thread by thread, in an application of its own in the background: it takes cpus and wakes
//! up others as it did, so that what is asked for meets the machine that it met.

use super::threads::FinishedThread;
use super::totals::{Delays, ThreadTotals};
use std::collections::HashMap;
use warmcore_units::Nanos;

/// How many commands have an application of their own at most.
const MOST: usize = 40;
/// The application of the other commands, and of threads that never ran: others may wake them up.
const OTHERS: &str = "others";
/// The application of what is not asked for.
const EVERYTHING_ELSE: &str = "everything else";

/// What was recorded of an application.
#[derive(Clone, PartialEq, Debug)]
pub struct ApplicationSummary {
    /// Its command.
    pub command: String,
    /// Whether it is what was not asked for.
    pub is_background: bool,
    /// How many threads of it there were in all.
    pub threads: u64,
    /// How many there were at a time, on average.
    pub at_a_time: f64,
    /// How long they ran.
    pub ran: Nanos,
    /// How long they could have run and did not.
    pub waited: Nanos,
    /// How long they waited for a cpu after they were woken up.
    pub delays: Delays,
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

/// Threads that are one application.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) is_background: bool,
    pub(super) totals: ThreadTotals,
}

/// The applications, the one that ran longest first, and which one each thread is of. After those of one command each there
/// may be the others together, and after that what is not asked for.
pub(super) fn groups(threads: &[FinishedThread]) -> (Vec<Group>, Vec<usize>) {
    let mut by_command: HashMap<&str, ThreadTotals> = HashMap::new();
    for one in threads.iter().filter(|one| one.is_selected) {
        by_command.entry(&one.command).or_default().merge(&one.totals);
    }
    let mut own: Vec<(&str, ThreadTotals)> =
        by_command.into_iter().filter(|(_, totals)| totals.ran > Nanos::ZERO).collect();
    own.sort_by(|(a, one), (b, other)| other.ran.0.total_cmp(&one.ran.0).then(a.cmp(b)));
    own.truncate(MOST);
    let named: HashMap<&str, usize> =
        own.iter().zip(0..).map(|((command, _), place)| (*command, place)).collect();
    let mut groups: Vec<Group> = own
        .iter()
        .map(|(command, totals)| Group {
            name: (*command).to_owned(),
            is_background: false,
            totals: totals.clone(),
        })
        .collect();
    let mut places = vec![0; threads.len()];
    for (is_background, name) in [(false, OTHERS), (true, EVERYTHING_ELSE)] {
        let mut rest = ThreadTotals::default();
        for (one, place) in
            threads.iter().zip(&mut places).filter(|(one, _)| one.is_selected != is_background)
        {
            match named.get(one.command.as_str()) {
                Some(&named) if !is_background => *place = named,
                _ => {
                    *place = groups.len();
                    rest.merge(&one.totals);
                }
            }
        }
        if rest.threads > 0 {
            groups.push(Group { name: name.to_owned(), is_background, totals: rest });
        }
    }
    (groups, places)
}

impl Group {
    /// What was recorded of it in so long.
    pub(super) fn summary(self, recorded: Nanos) -> ApplicationSummary {
        let totals = self.totals;
        ApplicationSummary {
            command: self.name,
            is_background: self.is_background,
            threads: totals.threads,
            at_a_time: totals.alive.0 / recorded.0,
            ran: totals.ran,
            waited: totals.waited,
            delays: totals.delays,
            dispatches: totals.dispatches,
            migrations: totals.migrations,
            stops: totals.stops,
            exits: totals.exits,
            uninterruptible: totals.uninterruptible,
            woken_by_interrupts: to_f64(totals.by_interrupt) / to_f64(totals.wakes.max(1)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of events")]
const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::recordings::{switch, threads};
    use super::super::scenario::{Mix, NothingRan, mix};
    use super::super::selection::Selection;
    use super::super::threads::Threads;
    use super::*;
    use warmcore_linux::sched_trace::Attributes;
    use warmcore_linux::sched_trace::event::{Line, parse};
    use warmcore_scenario::document::Checked;
    use warmcore_scenario::runqueue::FairScheduler;

    /// A shell starts a compiler, one of whose two threads has another name; a server runs beside it, and wakes up who never
    /// runs.
    fn build_beside_server() -> Threads {
        let waking =
            |comm: &str, pid: u32| format!("sched_waking: comm={comm} pid={pid} prio=120 target_cpu=000");
        let new =
            |comm: &str, pid: u32| format!("sched_wakeup_new: comm={comm} pid={pid} prio=120 target_cpu=000");
        let made = |pid: u32, flags: &str| {
            format!("task_newtask: pid={pid} comm=sh clone_flags={flags} oom_score_adj=0")
        };
        let lines = [
            ("server-4", "1.000000", waking("sh", 5)),
            ("server-4", "1.000100", waking("idler", 8)),
            ("server-4", "1.000200", switch("server", 4, "S", "sh", 5)),
            ("sh-5", "1.000300", made(6, "1200000")),
            ("sh-5", "1.000300", new("sh", 6)),
            ("sh-5", "1.000500", switch("sh", 5, "S", "sh", 6)),
            ("sh-6", "1.000600", "sched_process_exec: filename=/bin/rustc pid=6 old_pid=6".to_owned()),
            ("rustc-6", "1.000700", made(7, "3d0f00")),
            ("rustc-6", "1.000700", new("rustc", 7)),
            ("rustc-6", "1.000900", switch("rustc", 6, "S", "lto cgu.05", 7)),
            ("lto cgu.05-7", "1.001400", switch("lto cgu.05", 7, "Z", "server", 4)),
            ("server-4", "1.002000", switch("server", 4, "S", "swapper/0", 0)),
        ];
        let lines = lines.map(|(who, at, event)| format!("   {who}     [000] d..2. {at}: {event}\n"));
        threads(&lines.concat())
    }

    fn names(mix: &Mix) -> Vec<(&str, u32)> {
        mix.scenario.applications.iter().map(|one| (one.name.as_str(), one.processes)).collect()
    }

    #[test]
    fn threads_are_of_the_command_of_their_process_and_who_never_ran_is_of_none_that_did() {
        let mix = mix(build_beside_server(), 1, FairScheduler::default(), &Selection::default());
        let mix = mix.expect("something ran");
        assert_eq!(mix.scenario.check(), Ok(()));
        assert_eq!(names(&mix), [("rustc", 2), ("server", 1), ("sh", 1), (OTHERS, 1)]);
        let others = &mix.applications[3];
        assert_eq!((others.ran, others.dispatches), (Nanos::ZERO, 0));
        // From being woken up, or new, to running: 200 µs of `sh`; 200 and 200 of the compiler's threads.
        let delays = |place: usize| {
            let Delays { count, sum, longest } = mix.applications[place].delays;
            (count, (sum.0 / 1e3).round(), (longest.0 / 1e3).round())
        };
        assert_eq!([delays(0), delays(1), delays(2)], [(2, 400.0, 200.0), (0, 0.0, 0.0), (1, 200.0, 200.0)]);
        let recorded = mix.scenario.applications[0].recorded.expect("recorded");
        assert!(recorded.count == 2 && (recorded.mean_ms - 0.2).abs() < 1e-6, "{recorded:?}");
    }

    /// A thread of a process that runs since before the recording may end before anybody looks at it.
    #[test]
    fn what_is_known_before_the_recording_names_processes() {
        let attributes = |process| Attributes {
            process,
            process_command: "rustc".to_owned(),
            control_groups: vec!["/build".to_owned()],
            ..Attributes::default()
        };
        let recorded = |selection: &Selection| {
            let mut threads = Threads::default();
            threads.foresee(7, attributes(6));
            threads.foresee(6, attributes(6));
            let lines = [
                ("1.000", switch("swapper/0", 0, "R", "lto cgu.05", 7)),
                ("1.001", switch("lto cgu.05", 7, "Z", "rustc", 6)),
                ("1.002", switch("rustc", 6, "S", "x", 9)),
                ("1.003", switch("x", 9, "S", "swapper/0", 0)),
            ];
            for (at, event) in lines {
                let line = format!("  x-1  [000] d..2. {at}: {event}");
                let Line::Record(record) = parse(&line) else { panic!("{line}") };
                threads.record(&record);
            }
            mix(threads, 1, FairScheduler::default(), selection).expect("something ran")
        };
        assert_eq!(names(&recorded(&Selection::default())), [("rustc", 2), ("x", 1)]);
        let by_number = Selection { processes: vec![6], ..Selection::default() };
        assert_eq!(names(&recorded(&by_number)), [("rustc", 2), (EVERYTHING_ELSE, 1)]);
        let by_group = Selection { control_groups: vec!["/build".to_owned()], ..Selection::default() };
        assert_eq!(names(&recorded(&by_group)), [("rustc", 2), (EVERYTHING_ELSE, 1)]);
    }

    /// Whatever is asked for, every thread does the same: only whose they are differs.
    #[test]
    fn what_is_not_asked_for_is_in_the_background_and_does_what_it_did() {
        let all = mix(build_beside_server(), 1, FairScheduler::default(), &Selection::default());
        let all = all.expect("something ran");
        let by_number = |number: u32| Selection { processes: vec![number], ..Selection::default() };
        let by_command = Selection { commands: vec!["rustc".to_owned()], ..Selection::default() };
        for (selection, expected) in [
            // The shell and what it started.
            (by_number(5), vec![("rustc", 2), ("sh", 1), (EVERYTHING_ELSE, 2)]),
            // A thread's number is that of its process too.
            (by_number(6), vec![("rustc", 2), (EVERYTHING_ELSE, 3)]),
            (by_number(7), vec![("rustc", 1), (EVERYTHING_ELSE, 4)]),
            (by_command, vec![("rustc", 2), (EVERYTHING_ELSE, 3)]),
        ] {
            let found = mix(build_beside_server(), 1, FairScheduler::default(), &selection);
            let found = found.expect("something ran");
            assert_eq!(found.scenario.check(), Ok(()), "{selection:?}");
            assert_eq!(names(&found), expected, "{selection:?}");
            let background: Vec<bool> =
                found.scenario.applications.iter().map(|one| one.background).collect();
            assert_eq!(background.iter().filter(|is| **is).count(), 1);
            assert_eq!(background.last(), Some(&true));
            assert_eq!(found.figures, all.figures);
        }
        let absent = mix(build_beside_server(), 1, FairScheduler::default(), &by_number(99));
        assert_eq!(absent, Err(NothingRan::OfSelection));
    }
}
