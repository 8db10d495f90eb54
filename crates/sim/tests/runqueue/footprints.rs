//! Simulated caches against the analytic model: the same mixes run both ways, with footprints derived from what each
//! application does alone. The analytic model is told nothing of the mix's own misses.

use super::detailed::matrices;
use std::path::Path;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::parse;
use warmcore_scenario::runqueue::{Attachment, UnixScheduler};
use warmcore_sim::runqueue::derive::derive;
use warmcore_sim::runqueue::{Outcome, Tally, simulate};

/// Processes that block often, whose references go anywhere in what they have; `shared` of it is common to all, and written.
fn servers(shared: bool) -> RunQueueScenario {
    let application = |name: &str, kib: u32| {
        format!(
            r#"
[[applications]]
name = "{name}"
processes = 6
work_ms = 150
bursts = {{ tail_ms = 5 }}
ends = {{ block = 1, yield = 1, reschedule = 1 }}
blocking = {{ mean_ms = 5, wake = "process" }}
[applications.references]
per_us = 4
parts = [
  {{ kib = 24, share = 40, code = true, pattern = {{ zipf = {{ exponent = 1.0 }} }} }},
  {{ kib = {kib}, share = 55, stores = 0.3, element_bytes = 16, pattern = "uniform", shared = {shared} }},
  {{ kib = 1024, share = 5, element_bytes = 16, stores = 0.5 }},
]
"#
        )
    };
    let head = "schema = 1\nmachine = { caches = { of = \"sgi-4d-340\" } }\n";
    let text = format!("{head}{}{}", application("one", 32), application("two", 64));
    parse(&text, Path::new("servers.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn schedulers() -> [(&'static str, UnixScheduler); 4] {
    let standard = UnixScheduler::default();
    [
        ("none", standard),
        ("light", standard.with(Affinity::LIGHT)),
        ("heavy", standard.with(Affinity::HEAVY)),
        ("attached", UnixScheduler { attach: Attachment::RoundRobin, ..standard }),
    ]
}

/// Both models under every scheduler: completion time and misses, the analytic model's as a multiple of the detailed one's.
fn compared(name: &str, scenario: &RunQueueScenario) -> Vec<[f64; 2]> {
    let scenario = RunQueueScenario { runs: 1, ..scenario.clone() };
    let derivation = derive(&scenario).unwrap();
    println!("{name}: {:#?}", derivation.applications);
    let run = |scenario: &RunQueueScenario, scheduler: UnixScheduler| {
        let scheduler = scheduler.into();
        simulate(&RunQueueScenario { scheduler, ..scenario.clone() }).unwrap()
    };
    let mut base: Option<[Outcome; 2]> = None;
    let mut ratios = Vec::new();
    for (level, scheduler) in schedulers() {
        let outcomes = [&scenario, &derivation.scenario].map(|scenario| run(scenario, scheduler));
        let figure = |of: fn(&Tally) -> f64| outcomes.each_ref().map(|outcome| outcome.estimate(of).mean);
        let [time, misses] = [figure(Tally::mean_completion_s), figure(Tally::misses)];
        let base = base.get_or_insert_with(|| outcomes.clone());
        let change = |of: fn(&Tally) -> f64| {
            [0, 1].map(|model| {
                100.0 * (outcomes[model].estimate(of).mean / base[model].estimate(of).mean - 1.0)
            })
        };
        println!(
            "{name}, {level}: {time:.3?} s, {misses:.0?} misses; {:+.1?}% time, {:+.1?}% misses",
            change(Tally::mean_completion_s),
            change(Tally::misses)
        );
        ratios.push([time[1] / time[0], misses[1] / misses[0]]);
    }
    ratios
}

/// Blocked loops, whose misses in direct-mapped caches are many conflicts: what each does alone tells what the mix does.
#[test]
fn footprints_of_loops_predict_time_and_misses_of_the_mix() {
    for [time, misses] in compared("matrices", &matrices(200)) {
        assert!((time - 1.0).abs() < 0.05 && (misses - 1.0).abs() < 0.1, "{time} {misses}");
    }
}

/// Processes that block often and write much: close where they seldom migrate. Where they do, the analytic model takes all that
/// they write to for stale at once, and has too many misses.
#[test]
fn footprints_of_servers_predict_misses_where_processes_seldom_migrate() {
    let ratios = compared("servers", &servers(false));
    for [time, misses] in &ratios[1..] {
        assert!((time - 1.0).abs() < 0.1 && (misses - 1.0).abs() < 0.15, "{time} {misses}");
    }
    let [_, misses] = ratios[0];
    assert!((0.95..1.4).contains(&misses), "{misses}");
}

/// What processes take from each other's caches shows in none of them alone.
#[test]
fn footprints_miss_what_processes_share() {
    for [_, misses] in &compared("sharing", &servers(true))[1..] {
        assert!(*misses < 0.85, "{misses}");
    }
}
