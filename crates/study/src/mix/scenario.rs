//! Processes of one command together, as an application of a scenario.

use super::groups::{ApplicationSummary, Group, groups};
use super::selection::Selection;
use super::threads::{FinishedThread, Threads};
use super::totals::ThreadTotals;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{
    Application, Blocking, Bursts, Ends, FairScheduler, Footprint, Lock, RecordedDelays, RecordedFigures,
    RecordedThread, RunQueueMachine,
};
use warmcore_units::Nanos;

/// Why there is no scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NothingRan {
    /// No thread ran at all.
    #[error("nothing ran while it was recorded")]
    AtAll,
    /// None of those asked for.
    #[error("none of the threads asked for ran while it was recorded")]
    OfSelection,
}

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
    /// What is compared with a simulation.
    pub figures: RecordedFigures,
    /// Each application, the one that ran longest first.
    pub applications: Vec<ApplicationSummary>,
}

/// Makes a scenario of what `selection` names of what was recorded on `cpus` cpus under `scheduler`, with the rest in the
/// background.
///
/// # Errors
/// If nothing of it ran.
pub fn mix(
    threads: Threads,
    cpus: u32,
    scheduler: FairScheduler,
    selection: &Selection,
) -> Result<Mix, NothingRan> {
    let inferred = threads.inferred();
    let (threads, recorded, seen) = threads.finish(selection);
    if recorded == Nanos::ZERO || threads.iter().all(|one| one.totals.ran == Nanos::ZERO) {
        return Err(NothingRan::AtAll);
    }
    let (groups, places) = groups(&threads);
    if groups.iter().all(|group| group.is_background || group.totals.ran == Nanos::ZERO) {
        return Err(NothingRan::OfSelection);
    }
    let sum = |of: fn(&ThreadTotals) -> u64| groups.iter().map(|group| of(&group.totals)).sum();
    let ran: f64 = groups.iter().map(|group| group.totals.ran.0).sum();
    let figures = RecordedFigures {
        seconds: recorded.0 / 1e9,
        utilisation: ran / (recorded.0 * f64::from(cpus)),
        dispatches: sum(|one| one.dispatches),
        migrations: sum(|one| one.migrations),
    };
    let scenario = RunQueueScenario {
        schema: RunQueueScenario::SCHEMA,
        name: "recorded".to_owned(),
        seed: 1,
        runs: 5,
        seconds: Some(figures.seconds),
        // What the kernel and the caches cost is in the times already.
        machine: RunQueueMachine {
            cpus,
            miss_ns: 0.0,
            reschedule_us: 0.0,
            interrupt_us: 0.0,
            interrupt_misses: 0.0,
            ..RunQueueMachine::default()
        },
        scheduler: scheduler.into(),
        recorded: Some(figures),
        applications: with_threads(&groups, &places, threads),
    };
    let applications = groups.into_iter().map(|group| group.summary(recorded)).collect();
    Ok(Mix { scenario, recorded, cpus: seen, inferred, figures, applications })
}

/// The applications of the scenario with their threads, each of which is of the group in its place of `places`.
fn with_threads(groups: &[Group], places: &[usize], threads: Vec<FinishedThread>) -> Vec<Application> {
    let mut order: Vec<usize> = (0..threads.len()).collect();
    order.sort_by_key(|&index| places[index]);
    let mut numbers = vec![0; threads.len()];
    for (number, &index) in (0..).zip(&order) {
        numbers[index] = number;
    }
    let mut shares: Vec<String> = Vec::new();
    let mut recorded: Vec<Vec<(u32, RecordedThread)>> = vec![Vec::new(); groups.len()];
    for (index, one) in threads.into_iter().enumerate() {
        let share = number_of(&mut shares, one.group);
        let thread = one.chain.thread(one.is_started, share, one.attached, &numbers);
        recorded[places[index]].push((numbers[index], thread));
    }
    groups.iter().zip(recorded).map(|(group, threads)| application(group, threads)).collect()
}

/// The number of a group, from 1; 0 for none.
fn number_of(groups: &mut Vec<String>, group: String) -> u32 {
    if group.is_empty() {
        return 0;
    }
    let place = groups.iter().position(|one| *one == group).unwrap_or_else(|| {
        groups.push(group);
        groups.len() - 1
    });
    u32::try_from(place + 1).unwrap_or(u32::MAX)
}

fn application(group: &Group, mut threads: Vec<(u32, RecordedThread)>) -> Application {
    threads.sort_by_key(|(number, _)| *number);
    let delays = &group.totals.delays;
    Application {
        name: group.name.clone(),
        background: group.is_background,
        recorded: Some(RecordedDelays {
            count: delays.count,
            mean_ms: delays.mean().0 / 1e6,
            longest_ms: delays.longest.0 / 1e6,
        }),
        processes: u32::try_from(threads.len()).unwrap_or(u32::MAX),
        work_ms: None,
        serial_ms: 0.0,
        jobs: None,
        footprint: Footprint::default(),
        references: None,
        bursts: Bursts::default(),
        ends: Ends::default(),
        blocking: Blocking::default(),
        lock: Lock::default(),
        base: 0,
        attached: Vec::new(),
        threads: threads.into_iter().map(|(_, thread)| thread).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::recordings::{switch, threads};
    use super::*;
    use warmcore_scenario::runqueue::Step;
    use warmcore_units::CpuId;

    /// Two threads take turns on one cpu for a second: `spin` computes, `tick` wakes up every 10 ms for 1 ms.
    fn recording() -> String {
        let mut lines = String::new();
        let mut line = |ms: u32, context: &str, event: &str| {
            let seconds = f64::from(ms) / 1e3;
            lines += &format!("           x-1       [000] {context} {seconds:.6}: {event}\n");
        };
        for round in 0..100 {
            let ms = 1000 + round * 10;
            line(ms, "dNh2.", "sched_waking: comm=tick pid=7 prio=120 target_cpu=000");
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

    fn recorded(text: &str) -> Result<Mix, NothingRan> {
        mix(threads(text), 1, FairScheduler::default(), &Selection::default())
    }

    fn steps(mix: &Mix, application: usize) -> &[Step] {
        &mix.scenario.applications[application].threads[0].steps.0
    }

    #[test]
    fn demands_are_found_again() {
        let mix = recorded(&recording()).expect("something ran");
        assert_eq!(mix.scenario.check(), Ok(()));
        assert!((mix.recorded.0 / 1e6 - 991.0).abs() < 0.01, "{}", mix.recorded);
        assert!((mix.figures.utilisation - 1.0).abs() < 1e-6);
        let [spin, tick] = &mix.scenario.applications[..] else { panic!("{:?}", mix.scenario.applications) };
        assert_eq!((spin.name.as_str(), tick.name.as_str()), ("spin", "tick"));
        assert_eq!(steps(&mix, 0), [Step::Run(99 * 9000), Step::RunOn], "it never stopped by itself");
        // Blocked since before the recording.
        let round = [Step::Sleep(9000, None), Step::Run(1000)];
        let first = [Step::Sleep(0, None), Step::Run(1000)];
        let expected: Vec<Step> =
            first.into_iter().chain([round; 99].concat()).chain([Step::Block]).collect();
        assert_eq!(steps(&mix, 1), expected);
        assert_eq!(tick.threads[0].cpu, Some(CpuId(0)));
        assert_eq!((mix.figures.dispatches, mix.figures.migrations), (200, 0));
        let text = toml::to_string(&mix.scenario).expect("it can be written");
        assert_eq!(toml::from_str::<RunQueueScenario>(&text).expect("and read"), mix.scenario);
    }

    /// `tick` is woken up and its switches are missing in the trace; then its cpu is idle for the rest of the recording.
    #[test]
    fn who_ran_unseen_does_not_compute_to_the_end() {
        let lost = "           x-1       [000] d..2. 1.990500: sched_switch: prev_comm=spin prev_pid=6 prev_prio=120 \
                    prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n           \
                    x-1       [000] dNh2. 1.991000: sched_waking: comm=tick pid=7 prio=120 target_cpu=000\n           \
                    x-1       [000] d..2. 1.992000: sched_switch: prev_comm=spin prev_pid=6 prev_prio=120 \
                    prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n           \
                    x-1       [000] dNh2. 5.000000: sched_waking: comm=spin pid=6 prio=120 target_cpu=000\n";
        let mix = recorded(&(recording() + lost)).expect("something ran");
        assert_eq!(steps(&mix, 1).last(), Some(&Step::Block), "{:?}", steps(&mix, 1));
    }

    /// A reader waits for a writer, which starts a child that goes on with another program.
    #[test]
    fn who_wakes_and_starts_whom_is_kept() {
        let lines = [
            ("writer-5", "1.000100", switch("reader", 6, "S", "writer", 5)),
            ("writer-5", "1.000150", "sched_waking: comm=reader pid=6 prio=120 target_cpu=000".to_owned()),
            (
                "writer-5",
                "1.000170",
                "sched_wakeup_new: comm=writer pid=7 prio=120 target_cpu=000".to_owned(),
            ),
            ("writer-5", "1.000200", switch("writer", 5, "S", "reader", 6)),
            ("reader-6", "1.000240", switch("reader", 6, "S", "writer", 7)),
            ("writer-7", "1.000250", "sched_process_exec: filename=/bin/cc pid=7 old_pid=7".to_owned()),
            ("cc-7", "1.000300", switch("cc", 7, "Z", "swapper/0", 0)),
        ];
        let text: String =
            lines.map(|(who, at, event)| format!("   {who}     [000] d..2. {at}: {event}\n")).concat();
        let mix = recorded(&text).expect("something ran");
        assert_eq!(mix.scenario.check(), Ok(()));
        let of = |name: &str| {
            let found = mix.scenario.applications.iter().position(|one| one.name == name);
            String::from(mix.scenario.applications[found.expect(name)].threads[0].steps.clone())
        };
        let number =
            |name: &str| mix.scenario.applications.iter().position(|one| one.name == name).expect(name);
        let [reader, cc] = ["reader", "cc"].map(number);
        assert_eq!(of("writer"), format!("50 w{reader} 20 f{cc} 30 b"));
        assert_eq!(of("reader"), "b 40 b");
        assert_eq!(of("cc"), "10 e 50 x");
    }

    #[test]
    fn switches_that_are_not_in_the_trace_are_inferred() {
        // Without the switches to `tick`, and so from `spin`.
        let text: String = recording()
            .lines()
            .filter(|line| !line.contains("prev_comm=spin"))
            .map(|line| format!("{line}\n"))
            .collect();
        let mix = recorded(&text).expect("something ran");
        assert_eq!(mix.inferred, 99, "the first one is before the recording");
        let tick = mix.scenario.applications.iter().position(|one| one.name == "tick").expect("it ran");
        let computed: u64 =
            steps(&mix, tick).iter().map(|step| if let Step::Run(us) = step { *us } else { 0 }).sum();
        assert!((98_000..=100_000).contains(&computed), "{computed}");
        assert!((mix.figures.utilisation - 1.0).abs() < 0.02, "{}", mix.figures.utilisation);
    }

    #[test]
    fn nothing_makes_no_scenario() {
        assert_eq!(recorded(""), Err(NothingRan::AtAll));
    }

    #[test]
    fn short_lived_threads_are_of_the_command_that_they_became() {
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
        let mix = recorded(&text).expect("something ran");
        let [cc1] = &mix.scenario.applications[..] else { panic!("{:?}", mix.scenario.applications) };
        assert_eq!((cc1.name.as_str(), cc1.processes), ("cc1", 50));
        for (child, thread) in cc1.threads.iter().enumerate() {
            // Nobody that is known started it.
            let [Step::Sleep(us, _), Step::Run(15_000), Step::Exit] = thread.steps.0[..] else {
                panic!("{:?}", thread.steps)
            };
            assert_eq!(us, child as u64 * 20_000);
        }
        assert_eq!(mix.applications[0].exits, 50);
    }
}
