//! The detailed mode: references through simulated caches.

use std::path::Path;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::parse;
use warmcore_scenario::runqueue::UnixScheduler;
use warmcore_sim::runqueue::tally::{Blame, LevelMisses};
use warmcore_sim::runqueue::{Tally, simulate_run, simulate_watched_run};

/// Two applications of blocked computing on the SGI 4D/340, as Matrix + Matrix of Torrellas 1995.
pub(crate) fn matrices(work_ms: u32) -> RunQueueScenario {
    let application = |name: &str| {
        format!(
            r#"
[[applications]]
name = "{name}"
processes = 4
work_ms = {work_ms}
bursts = {{ tail_ms = 500 }}
ends = {{ block = 1, reschedule = 1 }}
[applications.references]
per_us = 8
parts = [
  {{ kib = 16, share = 4, code = true, pattern = {{ loop = {{ block_kib = 2, repeats = 50 }} }} }},
  {{ kib = 48, share = 4, stores = 0.2, pattern = {{ loop = {{ block_kib = 8, repeats = 4 }} }} }},
  {{ kib = 1024, share = 0.1, element_bytes = 16 }},
]
"#
        )
    };
    let text = format!(
        "schema = 1\nmachine = {{ caches = {{ of = \"sgi-4d-340\" }} }}\n{}{}",
        application("one"),
        application("two")
    );
    parse(&text, Path::new("matrices.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn under(scenario: &RunQueueScenario, affinity: Affinity) -> Tally {
    let scheduler = UnixScheduler::default().with(affinity).into();
    simulate_watched_run(&RunQueueScenario { scheduler, ..scenario.clone() }, 0).unwrap()
}

/// Each miss has one kind and one to blame; those of the last level are the application's, and take its time.
#[test]
fn every_miss_is_accounted_for() {
    let run = under(&matrices(100), Affinity::NONE);
    for one in &run.applications {
        assert!((one.compute_s - 0.4).abs() < 1e-6, "{}", one.compute_s);
        assert!((one.references as f64 - 8.0 * 400e3).abs() < 10.0, "{}", one.references);
        for level in &one.levels {
            let blamed: u64 = Blame::ALL.iter().map(|&of| level.blame.get(of)).sum();
            assert_eq!(level.kinds.all(), blamed, "{}", level.caches);
        }
        let [first, instructions, second] = &one.levels[..] else { panic!("{:?}", one.levels) };
        let cycles = (instructions.kinds.all() + second.kinds.all()) * 34
            + (first.kinds.all() - second.kinds.all()) * 14;
        assert_eq!(one.misses, (instructions.kinds.all() + second.kinds.all()) as f64);
        // A process may still wait for its last reference when its work is done.
        assert!((one.cpu_s - one.compute_s - cycles as f64 / 33e6).abs() < 1e-5, "{one:?}");
    }
    assert_eq!(run, under(&matrices(100), Affinity::NONE));
    let unwatched = simulate_run(&matrices(100), 0).unwrap();
    assert_eq!((run.seconds, run.misses()), (unwatched.seconds, unwatched.misses()));
}

#[test]
fn affinity_saves_simulated_misses_that_others_caused() {
    let scenario = matrices(300);
    let [none, heavy] = [Affinity::NONE, Affinity::HEAVY].map(|affinity| under(&scenario, affinity));
    assert!(heavy.misses() < 0.9 * none.misses(), "{} {}", heavy.misses(), none.misses());
    let reloads = |run: &Tally| run.applications.iter().map(|one| one.reload_misses).sum::<f64>();
    assert!(reloads(&heavy) < 0.7 * reloads(&none), "{} {}", reloads(&heavy), reloads(&none));
}

/// What processes write to in common is taken from the others' caches; what each has alone never is, unless it migrates.
#[test]
fn stores_to_shared_memory_invalidate_other_copies() {
    let invalidated = |shared: bool| {
        let text = format!(
            r#"schema = 1
machine = {{ cpus = 2, caches = {{ of = "sgi-4d-340" }} }}
[[applications]]
name = "pair"
processes = 2
work_ms = 20
bursts = {{ tail_ms = 500 }}
ends = {{ reschedule = 1 }}
attached = [0, 1]
references = {{ per_us = 4, parts = [{{ kib = 4, share = 1, stores = 0.5, pattern = "uniform", shared = {shared} }}] }}
"#
        );
        let scenario: RunQueueScenario = parse(&text, Path::new("pair.toml")).unwrap();
        let run = simulate_watched_run(&scenario, 0).unwrap();
        run.applications[0].levels.iter().map(|level| level.blame.get(Blame::Invalidated)).sum::<u64>()
    };
    assert_eq!(invalidated(false), 0);
    assert!(invalidated(true) > 10_000, "{}", invalidated(true));
}

/// Processes that follow each other have memory of their own, and code in common.
#[test]
fn a_new_process_finds_the_code_and_none_of_its_data() {
    let text = r#"schema = 1
machine = { cpus = 1, caches = { of = "sgi-4d-340" }, interrupt_misses = 0 }
[[applications]]
name = "jobs"
processes = 1
work_ms = 4
jobs = { count = 5 }
bursts = { tail_ms = 500 }
ends = { reschedule = 1 }
references = { per_us = 4, parts = [{ kib = 4, share = 1, code = true }, { kib = 4, share = 1, element_bytes = 16 }] }
"#;
    let scenario: RunQueueScenario = parse(text, Path::new("jobs.toml")).unwrap();
    let run = simulate_watched_run(&scenario, 0).unwrap();
    let [data, code, _] = &run.applications[0].levels[..] else { panic!("{:?}", run.applications[0].levels) };
    let new = |level: &LevelMisses| level.blame.get(Blame::Nobody);
    assert_eq!((new(data), new(code)), (5 * 256, 256));
}
