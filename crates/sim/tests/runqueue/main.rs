//! The run-queue simulator: what must hold for every mix, and what theory says of simple ones.

mod detailed;
mod footprints;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use warmcore_policy::runqueue::{Affinity, replay};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::parse;
use warmcore_scenario::runqueue::{Attachment, FairScheduler, Scheduler, UnixScheduler};
use warmcore_sim::runqueue::{Tally, simulate, simulate_logged, simulate_run, simulate_until};

/// Computing processes that reuse much, and ones that block often.
fn mix(head: &str) -> RunQueueScenario {
    let text = format!(
        r#"schema = 1
{head}
[[applications]]
name = "matrix"
processes = 8
work_ms = 5000
footprint = {{ reload_misses = 3000, steady_misses_per_ms = 100 }}
bursts = {{ tail_ms = 500 }}
ends = {{ block = 1, reschedule = 1 }}

[[applications]]
name = "server"
processes = 8
work_ms = 500
footprint = {{ reload_misses = 500, steady_misses_per_ms = 300 }}
bursts = {{ tail_ms = 2 }}
ends = {{ block = 2, yield = 1, reschedule = 1 }}
blocking = {{ mean_ms = 20 }}
lock = {{ held = 0.5 }}
"#
    );
    parse(&text, Path::new("mix.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn with(scenario: &RunQueueScenario, scheduler: impl Into<Scheduler>) -> Tally {
    simulate_run(&RunQueueScenario { scheduler: scheduler.into(), ..scenario.clone() }, 0).unwrap()
}

#[test]
fn the_same_run_gives_the_same_figures_and_another_gives_others() {
    let scenario = mix("");
    let [once, again, other] = [0, 0, 1].map(|run| simulate_run(&scenario, run).unwrap());
    assert_eq!(once, again);
    assert_ne!(once, other);
}

/// All processors' time is idle, rescheduling or some process's; a process's time is computing and misses.
#[test]
fn time_and_work_are_conserved() {
    let scenario = mix("");
    for scheduler in [
        UnixScheduler::default(),
        UnixScheduler::default().with(Affinity::HEAVY),
        UnixScheduler::default().with(Affinity::complex(6)),
        UnixScheduler { attach: Attachment::RoundRobin, ..UnixScheduler::default() },
    ] {
        let run = with(&scenario, scheduler);
        let all = run.seconds * f64::from(scenario.machine.cpus);
        let used: f64 = run.applications.iter().map(|one| one.cpu_s).sum();
        let interrupts: f64 = all * (1.0 - run.idle - run.rescheduling) - used;
        // Interrupts take 100 µs each; they are in no other account.
        let blocked: u64 = run.applications.iter().map(|one| one.ended.blocked).sum();
        assert!(
            interrupts >= -1e-3 && interrupts <= blocked as f64 * 150e-6 + 1e-3,
            "{interrupts} s, {blocked}"
        );
        for (place, work) in [(0, 40.0), (1, 4.0)] {
            let one = &run.applications[place];
            assert!((one.compute_s - work).abs() < 1e-3, "{}", one.compute_s);
            let misses = one.misses * scenario.machine.miss_ns * 1e-9;
            // Preemption and interrupts within a nanosecond or two of their time.
            assert!((one.cpu_s - one.compute_s - misses).abs() < 0.01 * one.cpu_s, "{one:?}");
            assert!(one.finished_s.is_some() && one.ended.exited == 8);
        }
    }
}

/// Two processes a processor that never block: round-robin under the standard scheduler, slices of about 40 a_t ms with
/// affinity, and never a migration when attached.
#[test]
fn affinity_lengthens_slices_and_saves_misses_and_migrations() {
    let mut scenario = mix("");
    scenario.applications.truncate(1);
    let run = |affinity| with(&scenario, UnixScheduler::default().with(affinity));
    let [standard, light, heavy] = [Affinity::NONE, Affinity::LIGHT, Affinity::HEAVY].map(run);
    let slice = |run: &Tally| run.applications[0].slices.median_ms(1.0);
    assert!((slice(&standard) - 30.0).abs() < 1.5, "{}", slice(&standard));
    assert!((slice(&light) - 240.0).abs() < 30.0, "{}", slice(&light));
    assert!(slice(&heavy) > 1.5 * slice(&light), "{}", slice(&heavy));
    assert!(light.misses() < 0.9 * standard.misses() && heavy.misses() < light.misses());
    assert!(light.migrations() * 5 < standard.migrations());
    let attached = UnixScheduler { attach: Attachment::RoundRobin, ..UnixScheduler::default() };
    assert_eq!(with(&scenario, attached).migrations(), 0);
}

/// A single process on a single processor takes its work, its misses and its rescheduling.
#[test]
fn a_lone_process_takes_what_its_work_and_misses_take() {
    let text = r#"schema = 1
machine = { cpus = 1, miss_ns = 1000, reschedule_us = 50, interrupt_us = 0, interrupt_misses = 0 }
[[applications]]
name = "one"
processes = 1
work_ms = 1000
footprint = { reload_misses = 1000, steady_misses_per_ms = 100 }
bursts = { edges_ms = [9.999, 10.001], shares = [1.0] }
ends = { reschedule = 1 }
"#;
    let scenario: RunQueueScenario = parse(text, Path::new("one.toml")).unwrap();
    let run = simulate_run(&scenario, 0).unwrap();
    // 1 s of computing, 100,000 steady and 1000 reload misses of 1 µs, 100 searches of 50 µs.
    let expected = 1.0 + 0.101 + 100.0 * 50e-6;
    assert!((run.seconds - expected).abs() < 1e-3, "{}", run.seconds);
    assert!((run.misses() - 101_000.0).abs() < 1.0, "{}", run.misses());
    assert!((99..=101).contains(&run.dispatches()));
}

/// Attached processes of one processor leave the others idle.
#[test]
fn processes_attached_to_one_processor_leave_the_others_idle() {
    let mut scenario = mix("");
    scenario.applications.truncate(1);
    scenario.applications[0].attached = vec![warmcore_units::CpuId(2)];
    let run = simulate_run(&scenario, 0).unwrap();
    assert!((run.idle - 0.75).abs() < 0.01, "{}", run.idle);
}

#[test]
fn a_machine_of_256_cpus_and_4096_processes_runs() {
    let mut scenario = mix("seconds = 2\nmachine = { cpus = 256 }");
    for application in &mut scenario.applications {
        application.processes = 2048;
    }
    let run = simulate_run(&scenario, 0).unwrap();
    assert!(run.idle < 0.01 && run.dispatches() > 256 * 60, "{} {}", run.idle, run.dispatches());
}

#[test]
fn a_simulation_gives_up_in_the_middle_once_it_shall_stop() {
    let scenario = mix("runs = 2");
    let outcome = simulate_until(&scenario, &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome, Some(simulate(&scenario).unwrap()));
    // A run of it has far more events than lie between two looks.
    assert_eq!(simulate_until(&scenario, &AtomicBool::new(true)).unwrap(), None);
}

/// The log holds all that the decisions depend on: who replays it decides the same, and nothing changes by logging.
#[test]
fn a_log_can_be_replayed() {
    let scenario = mix("");
    let standard = UnixScheduler::default();
    for scheduler in [
        standard,
        standard.with(Affinity::LIGHT),
        standard.with(Affinity::complex(6)),
        UnixScheduler { attach: Attachment::RoundRobin, ..standard },
    ] {
        let scenario = RunQueueScenario { scheduler: scheduler.into(), ..scenario.clone() };
        let (tally, log) = simulate_logged(&scenario, 0).unwrap();
        assert_eq!(tally, simulate_run(&scenario, 0).unwrap());
        let picks = replay(scheduler.parameters(), scenario.machine.cpus, log);
        assert!(picks.is_ok_and(|picks| picks as u64 >= tally.dispatches()), "{scheduler:?}: {picks:?}");
    }
}

/// Under the fair scheduler too, all processors' time is idle or some process's, and all work is done.
#[test]
fn a_fair_scheduler_conserves_time_and_work() {
    let scenario = mix("machine = { reschedule_us = 0, interrupt_us = 0, interrupt_misses = 0 }");
    let run = with(&scenario, FairScheduler::default());
    let all = run.seconds * f64::from(scenario.machine.cpus);
    let used: f64 = run.applications.iter().map(|one| one.cpu_s).sum();
    assert!((all * (1.0 - run.idle) - used).abs() < 1e-3 * all, "{all} {used} {}", run.idle);
    for (place, work) in [(0, 40.0), (1, 4.0)] {
        let one = &run.applications[place];
        assert!((one.compute_s - work).abs() < 1e-3, "{}", one.compute_s);
        assert!(one.finished_s.is_some() && one.ended.exited == 8);
    }
    assert!(run.applications.iter().all(|one| one.longest_wait_s < 1.0), "nobody starves");
    assert_eq!(run, with(&scenario, FairScheduler::default()));
}

/// A recorded reader waits for each word of its writer, whatever the scheduler; what they compute is what was recorded.
#[test]
fn recorded_threads_do_the_same_under_every_scheduler() {
    let writer = "100 w1 50 s1000 ".repeat(200) + "x";
    let reader = "b 300 ".repeat(200) + "x";
    let text = format!(
        r#"schema = 1
machine = {{ cpus = 2, miss_ns = 0, reschedule_us = 0, interrupt_us = 0, interrupt_misses = 0 }}
seconds = 10
[[applications]]
name = "pair"
processes = 2
[[applications.threads]]
cpu = 0
steps = "{writer}"
[[applications.threads]]
cpu = 1
steps = "{reader}"
"#
    );
    let scenario: RunQueueScenario = parse(&text, Path::new("pair.toml")).unwrap();
    for scheduler in [Scheduler::from(UnixScheduler::default()), FairScheduler::default().into()] {
        let run = with(&scenario, scheduler);
        let one = &run.applications[0];
        assert!((one.compute_s - 200.0 * 450e-6).abs() < 1e-6, "{}", one.compute_s);
        assert_eq!(one.ended.exited, 2, "{scheduler:?}");
        // Each sleeps after each word, and goes on at once when two processors are free.
        let finished = one.finished_s.expect("both end");
        assert!((0.230..0.260).contains(&finished), "{finished}");
    }
}

/// A thread that begins another program on a processor where others wait moves to an idle one, once: by the time that it
/// goes on there, the first is idle, and another waits where it is now.
#[test]
fn who_begins_another_program_moves_once() {
    let text = r#"schema = 1
seconds = 0.01
machine = { cpus = 2, miss_ns = 0, reschedule_us = 0, interrupt_us = 0, interrupt_misses = 0 }
scheduler = { kind = "fair", run_to_parity = false }
[[applications]]
name = "moves"
processes = 1
threads = [{ nice = -20, cpu = 0, steps = "s50@0 100 e 1000 x" }]
[[applications]]
name = "leaves at once"
processes = 1
threads = [{ attached = 0, cpu = 0, steps = "50 s100000 x" }]
[[applications]]
name = "wakes up where it has gone"
processes = 1
threads = [{ attached = 1, cpu = 1, steps = "60 s90@1 1000 x" }]
"#;
    let scenario: RunQueueScenario = parse(text, Path::new("exec.toml")).unwrap();
    let run = simulate_run(&scenario, 0).unwrap();
    let moved = &run.applications[0];
    assert_eq!((moved.migrations, moved.ended.exited), (1, 1), "{moved:?}");
    assert!((moved.compute_s - 1100e-6).abs() < 1e-8, "{}", moved.compute_s);
}

/// A delay is the time from being woken up to running; who could run from the beginning has had none that is known.
#[test]
fn delays_are_of_those_that_wake_up_or_begin() {
    let text = r#"schema = 1
seconds = 0.1
machine = { cpus = 1, miss_ns = 0, reschedule_us = 0, interrupt_us = 0, interrupt_misses = 0 }
scheduler = { kind = "fair", wakeup_preemption = false, slice_ms = 100 }
[[applications]]
name = "first"
processes = 1
threads = [{ cpu = 0, steps = "5000 x" }]
[[applications]]
name = "second"
processes = 1
threads = [{ cpu = 0, steps = "1000 x" }]
[[applications]]
name = "sleeper"
processes = 1
threads = [{ cpu = 0, steps = "s2000@0 10 s10000@0 10 x" }]
"#;
    let scenario: RunQueueScenario = parse(text, Path::new("delays.toml")).unwrap();
    let run = simulate_run(&scenario, 0).unwrap();
    let counts: Vec<u64> = run.applications.iter().map(|one| one.responses.count()).collect();
    assert_eq!(counts, [0, 0, 2], "{run:?}");
    // It wakes up at 2 ms, and runs when the first, or both, have ended; the second time at once.
    let longest = run.applications[2].responses.longest_ms();
    let is_after = |ms: f64| (longest - ms).abs() < 0.01;
    assert!(is_after(3.0) || is_after(4.0), "{longest}");
    assert!((run.applications[2].responses.mean_ms() - longest / 2.0).abs() < 0.01);
}

/// How fast a mix is does not count what is in the background.
#[test]
fn the_background_takes_processors_and_is_not_counted() {
    let text = |background: &str| {
        format!(
            "schema = 1\nseconds = 2\n[machine]\ncpus = 1\n[[applications]]\nname = \"own\"\nprocesses = 1\n\
             bursts = {{ tail_ms = 50 }}\nends = {{ reschedule = 1 }}\n[[applications]]\nname = \"other\"\nprocesses = 1\n\
             bursts = {{ tail_ms = 50 }}\nends = {{ reschedule = 1 }}\n{background}"
        )
    };
    let run = |background: &str| {
        let scenario: RunQueueScenario = parse(&text(background), Path::new("mix.toml")).unwrap();
        simulate_run(&scenario, 0).unwrap()
    };
    let (all, own) = (run(""), run("background = true\n"));
    let computed = |run: &Tally| run.applications.iter().map(|one| one.compute_s).collect::<Vec<f64>>();
    assert_eq!(computed(&all), computed(&own));
    assert!((all.progress() - (computed(&all)[0] + computed(&all)[1]) / 2.0).abs() < 1e-9);
    assert!((own.progress() - computed(&own)[0] / 2.0).abs() < 1e-9);
}

/// A process that never runs has no dispatch at which its wait would be counted.
#[test]
fn who_never_runs_has_waited_all_the_time_and_its_scheduler_is_not_advised() {
    use warmcore_sim::runqueue::advice::{Advice, advise, alternatives, assess};
    let text = r#"schema = 1
seconds = 20
[machine]
cpus = 1
[scheduler]
cap = 20
[[applications]]
name = "hi"
processes = 1
base = 0
bursts = { tail_ms = 500 }
ends = { reschedule = 1 }
footprint = { reload_misses = 12000, reload_ms = 0.5 }
[[applications]]
name = "lo"
processes = 1
base = 8
bursts = { tail_ms = 500 }
ends = { reschedule = 1 }
footprint = { reload_misses = 12000, reload_ms = 0.5 }
"#;
    let fair = parse::<RunQueueScenario>(text, Path::new("starve.toml")).expect("a scenario");
    let starving = RunQueueScenario {
        scheduler: UnixScheduler { cap: 20, ..UnixScheduler::default() }.with(Affinity::complex(6)).into(),
        ..fair.clone()
    };
    let longest =
        |scenario: &RunQueueScenario| simulate(scenario).unwrap().runs[0].applications[1].longest_wait_s;
    assert!(longest(&starving) > 19.0, "{}", longest(&starving));

    let own = simulate(&fair).unwrap().figures();
    let assessed = assess(&fair, &own, alternatives(&fair.scheduler, 1)).unwrap();
    let complex = assessed.iter().find(|one| one.alternative.name == "complex affinity").expect("assessed");
    assert_eq!(complex.starved(&own), [1]);
    if let Advice::Change(advised) = advise(&own, &assessed) {
        assert!(advised.starved(&own).is_empty(), "{}", advised.alternative.name);
    }
}

/// The longest and the shortest quantum have alternatives beyond what a scenario may have.
#[test]
fn alternatives_that_no_scheduler_can_have_are_left_out() {
    use warmcore_sim::runqueue::advice::{alternatives, assess};
    for quantum_ms in [0.01, 60_000.0] {
        let own = mix("runs = 1");
        let scheduler = UnixScheduler { quantum_ms, ..own.scheduler.unix() }.into();
        let scenario = RunQueueScenario { scheduler, ..own };
        let base = simulate(&scenario).unwrap().figures();
        let assessed = assess(&scenario, &base, alternatives(&scheduler, 4)).unwrap();
        let quanta = assessed.iter().filter(|one| one.alternative.name.starts_with("quanta"));
        assert_eq!(quanta.count(), 1, "{quantum_ms}");
    }
}
