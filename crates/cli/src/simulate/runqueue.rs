//! `warmcore simulate runqueue`.

pub(crate) mod advice;
mod delays;
mod misses;
mod recorded;
pub(crate) mod words;

use crate::args::runqueue::{MixArguments, SimulateRunqueueArguments};
use crate::calibrate::existing;
use crate::json::{self, Versioned};
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::table;
use crate::visible::visible;
use crate::{documents, flags, folder, interrupt};
use miette::IntoDiagnostic;
use misses::CachesFigures;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use warmcore_record::atomic_file::{self, Existing};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{RecordedDelays, References, SchedulerKind, UnixScheduler};
use warmcore_sim::runqueue::advice::{Assessment, RunFigures, alternatives, assess, longest_wait};
use warmcore_sim::runqueue::derive::derive;
use warmcore_sim::runqueue::{ApplicationTally, Outcome, Tally, simulate_logged, simulate_watched};
use warmcore_units::Estimate;
use words::{plain, with_unit};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// A scenario to begin with.
const EXAMPLE: &str = include_str!("example.toml");
/// One whose misses come from references.
const REFERENCES: &str = include_str!("references.toml");

pub(crate) fn run(arguments: &SimulateRunqueueArguments) -> miette::Result<()> {
    if arguments.print_example {
        return crate::output::print(EXAMPLE.as_bytes());
    }
    if arguments.print_references {
        return crate::output::print(REFERENCES.as_bytes());
    }
    interrupt::end_at_once()?;
    let scenario = scenario(&arguments.mix)?;
    if arguments.derive_footprints {
        return print_footprints(&scenario);
    }
    if let Some(path) = &arguments.log {
        if scenario.scheduler.kind() == SchedulerKind::Fair {
            return Err(misuse(
                "--log is of the UNIX scheduler's queue, and the scenario has `kind = \"fair\"`: leave one out",
            ));
        }
        refuse_itself(arguments.mix.document.as_deref(), path)?;
        write_log(&scenario, path, existing(arguments.force))?;
    }
    let began = Instant::now();
    let own = simulate_watched(&scenario).map_err(|fault| flags::refused(&fault))?;
    let base = own.figures();
    let assessed = assess(&scenario, &base, alternatives(&scenario.scheduler, scenario.machine.cpus));
    let assessed = assessed.map_err(|fault| flags::refused(&fault))?;
    let seconds = began.elapsed().as_secs_f64();
    if arguments.json {
        let figures = Figures::new(&scenario, &own, &base, &assessed, seconds);
        return crate::output::print(json::pretty(&Versioned::new(SCHEMA, figures))?.as_bytes());
    }
    crate::output::print(summary(&scenario, &own, &base, &assessed, seconds).as_bytes())
}

/// Prints the same mix for the analytic cache model.
fn print_footprints(scenario: &RunQueueScenario) -> miette::Result<()> {
    let derivation = derive(scenario).map_err(|fault| flags::refused(&fault))?;
    let text = toml::to_string(&derivation.scenario).into_diagnostic()?;
    let head = "# Footprints derived from references: a process of each application alone with the caches of the machine, \
                cold against warm.\n# Times of computing hold what a process waits for its cpu's own caches.\n";
    let writers = scenario
        .applications
        .iter()
        .filter(|one| one.references.as_ref().is_some_and(References::writes_shared));
    let warnings: String = writers.map(|one| format!(
        "# Processes of {} write memory that they share. A footprint does not hold who takes whose lines away: gains can be far from \
         those that the references give.\n", visible(&one.name))).collect();
    crate::output::print(format!("{head}{warnings}{text}").as_bytes())
}

/// Refuses to write the log over the scenario.
fn refuse_itself(document: Option<&Path>, log: &Path) -> miette::Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    match document.and_then(place) {
        document @ Some(_) if document == place(log) => {
            Err(misuse(format!("--log {} is the scenario itself: name another file", visible(log.display()))))
        }
        _ => Ok(()),
    }
}

/// Writes what happens to the queue in the first run: the constants of the scheduler as a comment, then the records.
fn write_log(scenario: &RunQueueScenario, path: &Path, existing: Existing) -> miette::Result<()> {
    atomic_file::check(path, existing).or_misuse()?;
    let (_, log) = simulate_logged(scenario, 0).map_err(|fault| flags::refused(&fault))?;
    let mut text = format!("# cpus={} {}\n", scenario.machine.cpus, scenario.scheduler.unix().parameters());
    for record in log {
        let _ = writeln!(text, "{record}");
    }
    interrupt::finish_first(|| folder::write(path, text.as_bytes(), existing))
}

/// The scenario that the arguments name, with what they override.
pub(crate) fn scenario(mix: &MixArguments) -> miette::Result<RunQueueScenario> {
    let Some(document) = &mix.document else {
        return Err(misuse(
            "--scenario is missing: give a file such as `warmcore simulate runqueue --print-example` prints",
        ));
    };
    let mut scenario: RunQueueScenario = documents::read(document)?;
    scenario.seed = mix.seed.unwrap_or(scenario.seed);
    scenario.runs = mix.runs.unwrap_or(scenario.runs);
    Ok(scenario)
}

fn summary(
    scenario: &RunQueueScenario,
    own: &Outcome,
    base: &[RunFigures],
    assessed: &[Assessment],
    seconds: f64,
) -> String {
    let name = visible(if scenario.name.is_empty() { "The mix" } else { &scenario.name });
    let machine = &scenario.machine;
    let plural = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let head = format!(
        "{name}: {} on {}, {}\n",
        plural(scenario.processes(), "process").replace("processs", "processes"),
        plural(machine.cpus, "cpu"),
        scheduler(scenario)
    );
    let idle = own.estimate(|run| 100.0 * run.idle);
    let utilisation = Estimate::new(100.0 - idle.mean, idle.half());
    let tail = format!(
        "utilisation {}; {} dispatches and {} migrations a second\n",
        with_unit(&utilisation, "%"),
        plain(&own.estimate(|run| run.dispatches() as f64 / run.seconds)),
        plain(&own.estimate(|run| run.migrations() as f64 / run.seconds)),
    );
    let tail = tail + &recorded::compared(scenario, own);
    format!(
        "{head}\n{}\n{tail}\n{}\n{}{}\n{}\n{}",
        applications(scenario, own, base),
        delays::delays(scenario, own),
        misses::misses(scenario, own),
        alternatives_table(assessed),
        advice::advice(scenario, base, assessed) + &recorded::doubt(scenario, own),
        ended(scenario, seconds)
    )
}

/// The scheduler in a few words.
fn scheduler(scenario: &RunQueueScenario) -> String {
    match scenario.scheduler.kind() {
        SchedulerKind::Unix => {
            let UnixScheduler { quantum_ms, a_p, a_t, complex, .. } = scenario.scheduler.unix();
            let form = if complex { " (complex)" } else { "" };
            format!("quanta of {quantum_ms} ms, a_p {a_p} and a_t {a_t}{form}")
        }
        SchedulerKind::Fair => {
            let fair = scenario.scheduler.fair();
            format!(
                "fair, slices of {} ms, ticks of {} ms",
                fair.slice_ms(scenario.machine.cpus),
                fair.tick_ms
            )
        }
    }
}

fn applications(scenario: &RunQueueScenario, own: &Outcome, base: &[RunFigures]) -> String {
    let mut shown = table([
        "application",
        "finished",
        "cpu time",
        "misses",
        "dispatch, mean",
        "migrations",
        "longest wait",
    ]);
    for (place, application) in scenario.applications.iter().enumerate() {
        let of = |of: &dyn Fn(&ApplicationTally) -> f64| own.estimate(|run| of(&run.applications[place]));
        let is_finished = own.runs.iter().all(|run| run.applications[place].finished_s.is_some());
        let finished = match is_finished {
            true => with_unit(&of(&|one| one.finished_s.unwrap_or(f64::NAN)), "s"),
            false => "–".to_owned(),
        };
        shown.add_row([
            visible(&application.name),
            finished,
            with_unit(&of(&|one| one.cpu_s), "s"),
            with_unit(&of(&|one| one.misses / 1e6), "million"),
            with_unit(&of(&|one| one.dispatches.mean_ms()), "ms"),
            with_unit(&of(&|one| 100.0 * one.migrations as f64 / one.returns.max(1) as f64), "%"),
            with_unit(&longest_wait(base, place), "s"),
        ]);
    }
    shown.to_string()
}

fn alternatives_table(assessed: &[Assessment]) -> String {
    let mut shown = table(["instead", "gain", "misses"]);
    for one in assessed {
        let misses = one.misses.as_ref().map_or_else(|| "none".to_owned(), |misses| with_unit(misses, "%"));
        shown.add_row([one.alternative.name.clone(), with_unit(&one.gain, "%"), misses]);
    }
    shown.to_string()
}

fn ended(scenario: &RunQueueScenario, seconds: f64) -> String {
    format!(
        "{} of each scheduler in {seconds:.2} s; ± is the half-width of the 95% interval over them, and holds nothing of how sure \
         the scenario's own figures are. All use the same random demands (paired), so differences are more precise than absolute \
         values.\n",
        if scenario.runs == 1 { "One run".to_owned() } else { format!("{} independent runs", scenario.runs) }
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Figures<'a> {
    name: &'a str,
    cpus: u32,
    processes: u32,
    runs: u32,
    seconds: Estimate<f64>,
    utilisation: Estimate<f64>,
    mean_completion_s: Estimate<f64>,
    misses: Estimate<f64>,
    dispatches_per_s: Estimate<f64>,
    migrations_per_s: Estimate<f64>,
    applications: Vec<ApplicationFigures<'a>>,
    alternatives: Vec<AlternativeFigures<'a>>,
    wall_seconds: f64,
}

#[derive(Serialize)]
struct ApplicationFigures<'a> {
    name: &'a str,
    cpu_s: Estimate<f64>,
    compute_s: Estimate<f64>,
    misses: Estimate<f64>,
    dispatches: Estimate<f64>,
    migrations: Estimate<f64>,
    median_slice_ms: Estimate<f64>,
    longest_wait_s: Estimate<f64>,
    mean_delay_ms: Estimate<f64>,
    longest_delay_ms: Estimate<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedDelays>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caches: Vec<CachesFigures>,
}

#[derive(Serialize)]
struct AlternativeFigures<'a> {
    name: &'a str,
    gain_percent: Estimate<f64>,
    misses_percent: Option<Estimate<f64>>,
    starved: Vec<&'a str>,
}

impl<'a> Figures<'a> {
    fn new(
        scenario: &'a RunQueueScenario,
        own: &Outcome,
        base: &[RunFigures],
        assessed: &'a [Assessment],
        wall_seconds: f64,
    ) -> Self {
        let name = |place: usize| scenario.applications[place].name.as_str();
        let application = |place: usize| {
            let of = |of: fn(&ApplicationTally) -> f64| own.estimate(|run| of(&run.applications[place]));
            ApplicationFigures {
                name: name(place),
                cpu_s: of(|one| one.cpu_s),
                compute_s: of(|one| one.compute_s),
                misses: of(|one| one.misses),
                dispatches: of(|one| one.dispatches.count() as f64),
                migrations: of(|one| one.migrations as f64),
                median_slice_ms: of(|one| one.slices.median_ms(0.0)),
                longest_wait_s: longest_wait(base, place),
                mean_delay_ms: delays::average(own, place),
                longest_delay_ms: delays::longest(own, place),
                recorded: scenario.applications[place].recorded,
                caches: CachesFigures::of_application(own, place),
            }
        };
        let alternative = |one: &'a Assessment| AlternativeFigures {
            name: &one.alternative.name,
            gain_percent: one.gain,
            misses_percent: one.misses,
            starved: one.starved(base).into_iter().map(name).collect(),
        };
        Self {
            name: &scenario.name,
            cpus: scenario.machine.cpus,
            processes: scenario.processes(),
            runs: scenario.runs,
            seconds: own.estimate(|run| run.seconds),
            utilisation: own.estimate(|run| 1.0 - run.idle),
            mean_completion_s: own.estimate(Tally::mean_completion_s),
            misses: own.estimate(Tally::misses),
            dispatches_per_s: own.estimate(|run| run.dispatches() as f64 / run.seconds),
            migrations_per_s: own.estimate(|run| run.migrations() as f64 / run.seconds),
            applications: (0..scenario.applications.len()).map(application).collect(),
            alternatives: assessed.iter().map(alternative).collect(),
            wall_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use warmcore_scenario::document::parse;

    #[test]
    fn the_examples_can_be_simulated() {
        let scenario = parse::<RunQueueScenario>(EXAMPLE, Path::new("example.toml"));
        assert_eq!(scenario.map(|scenario| scenario.processes()).ok(), Some(12));
        let scenario = parse::<RunQueueScenario>(REFERENCES, Path::new("references.toml"));
        assert_eq!(scenario.map(|scenario| scenario.processes()).ok(), Some(8));
    }
}
