//! What a sweep found, on the terminal, as rows of data, and as JSON.

use super::Swept;
use crate::simulate::runqueue::advice::{advice, sentence};
use crate::simulate::runqueue::words::with_unit;
use crate::terminal::table;
use crate::visible::visible;
use miette::miette;
use serde::Serialize;
use std::fmt::Write;
use warmcore_record::{Column, Columns};
use warmcore_scenario::runqueue::{Scheduler, SchedulerKind};
use warmcore_sim::runqueue::advice::{Alternative, Assessment, Measure, RunFigures, estimate, longest_wait};
use warmcore_units::Estimate;

/// What the columns of a table say of a scheduler.
struct Constants<'a> {
    name: &'a str,
    kind: &'static str,
    level: Option<u32>,
    quantum_ms: Option<f64>,
    slice_ms: Option<f64>,
    attach: String,
}

impl<'a> Constants<'a> {
    fn new(one: &'a Alternative, cpus: u32) -> Self {
        let scheduler: &Scheduler = &one.scheduler;
        let is_unix = scheduler.kind() == SchedulerKind::Unix;
        let (unix, fair) = (scheduler.unix(), scheduler.fair());
        Self {
            name: &one.name,
            kind: if is_unix { "unix" } else { "fair" },
            level: (is_unix && unix.a_p == unix.a_t).then_some(unix.a_p),
            quantum_ms: is_unix.then_some(unix.quantum_ms),
            slice_ms: (!is_unix).then(|| fair.slice_ms(cpus)),
            attach: scheduler.attach().to_string(),
        }
    }
}

/// A run: its scheduler, its number, its figures, and those of the scenario's own scheduler.
type RunRow<'a> = (Constants<'a>, usize, &'a RunFigures, &'a RunFigures);

fn run_rows(swept: &Swept) -> Vec<RunRow<'_>> {
    let cpus = swept.scenario.machine.cpus;
    let rows = swept.all.iter().flat_map(|(one, runs)| {
        let runs = runs.iter().zip(swept.base()).enumerate();
        runs.map(move |(number, (run, own))| (Constants::new(one, cpus), number, run, own))
    });
    rows.collect()
}

/// The columns by which a run is known.
fn known_by<'a>(rows: impl Iterator<Item = &'a RunRow<'a>> + Clone) -> Vec<Column> {
    vec![
        Column::texts("scheduler", rows.clone().map(|row| Some(row.0.name.to_owned()))),
        Column::texts("kind", rows.clone().map(|row| Some(row.0.kind.to_owned()))),
        Column::integers("level", rows.clone().map(|row| row.0.level.map(i64::from))),
        Column::floats("quantum", "ms", rows.clone().map(|row| row.0.quantum_ms)),
        Column::floats("slice", "ms", rows.clone().map(|row| row.0.slice_ms)),
        Column::texts("attach", rows.clone().map(|row| Some(row.0.attach.clone()))),
        Column::integers("run", rows.map(|row| i64::try_from(row.1).ok())),
    ]
}

/// One row for each run.
pub(super) fn runs(swept: &Swept) -> miette::Result<Columns> {
    let rows = run_rows(swept);
    let float = |name: &str, unit: &str, of: fn(&RunFigures) -> f64| {
        Column::floats(name, unit, rows.iter().map(|row| Some(of(row.2))))
    };
    let measure = Measure::of_mix(&swept.scenario);
    let gains = rows.iter().map(|(_, _, run, own)| known(measure.gain_of_run(own, run)));
    let mut columns = known_by(rows.iter());
    columns.extend([
        Column::floats("gain", "%", gains),
        float("length", "s", |run| run.seconds),
        float("mean_completion", "s", |run| run.mean_completion_s),
        float("progress", "cpus", |run| run.progress),
        float("misses", "", |run| run.misses),
        float("idle", "", |run| run.idle),
        float("dispatches", "/s", |run| run.dispatches_per_s),
        float("migrations", "/s", |run| run.migrations_per_s),
        float("longest_wait", "s", longest),
    ]);
    Columns::new(columns).map_err(|error| miette!("{error}"))
}

/// Nothing for what is not known.
fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The longest wait of any application in a run, in seconds.
pub(super) fn longest(run: &RunFigures) -> f64 {
    run.applications.iter().map(|one| one.longest_wait_s).fold(0.0, f64::max)
}

/// One row for each application in each run.
pub(super) fn applications(swept: &Swept) -> miette::Result<Columns> {
    let runs = run_rows(swept);
    let names = &swept.scenario.applications;
    let rows = || runs.iter().flat_map(|row| (0..names.len()).map(move |place| (row, place)));
    let mut columns = known_by(runs.iter().flat_map(|row| names.iter().map(move |_| row)));
    let gains = rows().map(|((_, _, run, own), place)| {
        known(Measure::of_application(&swept.scenario, place).gain_of_run(own, run))
    });
    columns.extend([
        Column::texts("application", rows().map(|(_, place)| Some(names[place].name.clone()))),
        Column::floats("gain", "%", gains),
        Column::floats("computed", "s", rows().map(|(row, place)| Some(row.2.applications[place].compute_s))),
        Column::floats(
            "longest_wait",
            "s",
            rows().map(|(row, place)| Some(row.2.applications[place].longest_wait_s)),
        ),
    ]);
    Columns::new(columns).map_err(|error| miette!("{error}"))
}

/// What a gain is of.
pub(super) fn meaning(swept: &Swept) -> &'static str {
    match Measure::of_mix(&swept.scenario).is_endless() {
        true => {
            "The gain is how much more is computed in the same time than under the scenario's own scheduler."
        }
        false => {
            "The gain is how much sooner the applications finish on average than under the scenario's own scheduler."
        }
    }
}

/// Gains first, then what to do, then what it does to each application.
pub(super) fn shown(swept: &Swept) -> String {
    let base = swept.base();
    let mut shown = format!("{}\n{}\n", by_scheduler(swept), meaning(swept));
    let advice = advice(&swept.scenario, base, &swept.assessed);
    let _ = writeln!(shown, "{advice}");
    shown + &by_application(swept)
}

fn by_scheduler(swept: &Swept) -> String {
    let is_endless = Measure::of_mix(&swept.scenario).is_endless();
    let done = if is_endless { "computing, in cpus" } else { "completion" };
    let mut shown = table(["scheduler", "gain", done, "misses", "idle", "longest wait"]);
    for ((one, runs), assessed) in swept.all.iter().zip(swept.assessments()) {
        let figure = |of: fn(&RunFigures) -> f64, unit: &str| with_unit(&estimate(runs, of), unit);
        shown.add_row([
            one.name.clone(),
            assessed.map_or_else(|| "–".to_owned(), |assessed| with_unit(&assessed.gain, "%")),
            match is_endless {
                true => figure(|run| run.progress, "cpus"),
                false => figure(|run| run.mean_completion_s, "s"),
            },
            figure(|run| run.misses / 1e6, "million"),
            figure(|run| 100.0 * run.idle, "%"),
            figure(longest, "s"),
        ]);
    }
    shown.to_string()
}

fn by_application(swept: &Swept) -> String {
    let mut shown = table(["scheduler", "application", "gain", "longest wait"]);
    for ((one, runs), assessed) in swept.all.iter().zip(swept.assessments()) {
        for (place, application) in swept.scenario.applications.iter().enumerate() {
            shown.add_row([
                if place == 0 { one.name.clone() } else { String::new() },
                visible(&application.name),
                assessed.map_or_else(|| "–".to_owned(), |assessed| with_unit(&assessed.gains[place], "%")),
                with_unit(&longest_wait(runs, place), "s"),
            ]);
        }
    }
    shown.to_string()
}

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    schema: u32,
    advice: String,
    points: Vec<PointFigures<'a>>,
}

#[derive(Serialize)]
struct PointFigures<'a> {
    scheduler: &'a str,
    kind: &'static str,
    level: Option<u32>,
    quantum_ms: Option<f64>,
    slice_ms: Option<f64>,
    attach: String,
    gain_percent: Option<Estimate<f64>>,
    mean_completion_s: Estimate<f64>,
    progress_cpus: Estimate<f64>,
    misses: Estimate<f64>,
    idle: Estimate<f64>,
    longest_wait_s: Estimate<f64>,
    applications: Vec<ApplicationPoint<'a>>,
}

#[derive(Serialize)]
struct ApplicationPoint<'a> {
    name: &'a str,
    gain_percent: Option<Estimate<f64>>,
    longest_wait_s: Estimate<f64>,
    is_starved: bool,
}

impl<'a> Summary<'a> {
    pub(super) fn new(swept: &'a Swept) -> Self {
        let points = swept.all.iter().zip(swept.assessments());
        Self {
            schema: 2,
            advice: sentence(&swept.scenario, swept.base(), &swept.assessed),
            points: points.map(|((one, runs), assessed)| point(swept, one, runs, assessed)).collect(),
        }
    }
}

fn point<'a>(
    swept: &'a Swept,
    one: &'a Alternative,
    runs: &[RunFigures],
    assessed: Option<&Assessment>,
) -> PointFigures<'a> {
    let starved = assessed.map(|assessed| assessed.starved(swept.base())).unwrap_or_default();
    let application = |(place, name): (usize, &'a str)| ApplicationPoint {
        name,
        gain_percent: assessed.map(|assessed| assessed.gains[place]),
        longest_wait_s: longest_wait(runs, place),
        is_starved: starved.contains(&place),
    };
    let names = swept.scenario.applications.iter().map(|one| one.name.as_str());
    let Constants { name, kind, level, quantum_ms, slice_ms, attach } =
        Constants::new(one, swept.scenario.machine.cpus);
    PointFigures {
        scheduler: name,
        kind,
        level,
        quantum_ms,
        slice_ms,
        attach,
        gain_percent: assessed.map(|assessed| assessed.gain),
        mean_completion_s: estimate(runs, |run| run.mean_completion_s),
        progress_cpus: estimate(runs, |run| run.progress),
        misses: estimate(runs, |run| run.misses),
        idle: estimate(runs, |run| run.idle),
        longest_wait_s: estimate(runs, longest),
        applications: names.enumerate().map(application).collect(),
    }
}
