//! `warmcore sweep runqueue`.

use crate::args::runqueue::SweepRunqueueArguments;
use crate::folder::RESULTS;
use crate::misuse::{misuse, refuse_repeats};
use crate::provenance::PROGRAM;
use crate::simulate::runqueue::scenario;
use crate::terminal::table;
use crate::{checkpoint, flags, interrupt, json, progress, provenance};
use miette::{IntoDiagnostic, miette};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use warmcore_record::chart::{Axis, Point, Series, Style, Unit, View};
use warmcore_record::document::{ReportVerdict, Section};
use warmcore_record::{Block, Chart, Column, Columns, Document, Manifest};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{Attachment, SchedulerKind, UnixScheduler};
use warmcore_sim::runqueue::{Tally, check_memory, simulate_until};
use warmcore_sim::sweep::{SweepError, sweep};
use warmcore_stats::Interval;
use warmcore_units::Estimate;

const REPORT: &str = "report.html";
const FILES: [&str; 3] = [RESULTS.parquet, RESULTS.csv, REPORT];

/// The figures of one run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Run {
    seconds: f64,
    mean_completion_s: f64,
    progress: f64,
    misses: f64,
    idle: f64,
    dispatches_per_s: f64,
    migrations_per_s: f64,
    longest_wait_s: f64,
}

impl Run {
    fn new(run: &Tally) -> Self {
        Self {
            seconds: run.seconds,
            mean_completion_s: run.mean_completion_s(),
            progress: run.progress(),
            misses: run.misses(),
            idle: run.idle,
            dispatches_per_s: run.dispatches() as f64 / run.seconds,
            migrations_per_s: run.migrations() as f64 / run.seconds,
            longest_wait_s: run.applications.iter().map(|one| one.longest_wait_s).fold(0.0, f64::max),
        }
    }
}

/// A combination and its runs.
struct Swept {
    scheduler: UnixScheduler,
    runs: Vec<Run>,
}

impl Swept {
    fn estimate(&self, of: fn(&Run) -> f64) -> Estimate<f64> {
        let values: Vec<f64> = self.runs.iter().map(of).collect();
        let Interval { mean, half_width, .. } = Interval::from_observations(&values);
        Estimate::new(mean, half_width)
    }
}

pub(crate) fn run(arguments: &SweepRunqueueArguments) -> miette::Result<()> {
    refuse_repeats("levels", &arguments.levels)?;
    refuse_repeats("quanta", &arguments.quanta)?;
    refuse_repeats("attach", &arguments.attach)?;
    let base = scenario(&arguments.mix)?;
    if base.scheduler.kind() == SchedulerKind::Fair {
        return Err(misuse(
            "a sweep varies the UNIX scheduler, and the scenario has `kind = \"fair\"`: leave that out, or compare slices and \
             levels with `warmcore simulate runqueue`",
        ));
    }
    check_memory(&base).map_err(|fault| flags::refused(&fault))?;
    check_combinations(&base, arguments)?;
    let points = points(&base, arguments);
    for point in &points {
        point.check().map_err(|fault| flags::refused(&fault))?;
    }
    let output = &arguments.output;
    let subject = format!("{PROGRAM} {}\nsweep runqueue\n", env!("CARGO_PKG_VERSION"));
    let stop = interrupt::catch()?;
    let (folder, journal) = checkpoint::open::<Vec<Run>>(output, &FILES, &subject)?;

    let bar = progress::bar("simulating");
    let done = AtomicUsize::new(0);
    let key = |point: &RunQueueScenario| toml::to_string(point).unwrap_or_default();
    let swept = sweep(
        &points,
        |point| journal.known(&key(point)).cloned(),
        |point| {
            let outcome = simulate_until(point, stop).map_err(|fault| flags::refused(&fault))?;
            let outcome = outcome.ok_or_else(|| miette!("interrupted"))?;
            Ok(outcome.runs.iter().map(Run::new).collect::<Vec<Run>>())
        },
        |point, runs| {
            progress::set(&bar, (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / points.len() as f64);
            journal.append(&key(point), runs).into_diagnostic()
        },
        stop,
    );
    bar.finish_and_clear();
    let runs = swept.map_err(|error| match error {
        SweepError::Point(error) => error,
        SweepError::Interrupted => checkpoint::interrupted(&folder, &journal),
    })?;
    let swept: Vec<Swept> = points
        .iter()
        .zip(runs)
        .map(|(point, runs)| Swept { scheduler: point.scheduler.unix(), runs })
        .collect();

    let document_text = toml::to_string(&base).into_diagnostic()?;
    let manifest = provenance::from_seed("what processes do", base.seed, Some(document_text));
    folder.write_table(&RESULTS, &columns(&swept)?, &provenance::repeatable(&manifest))?;
    folder.write(REPORT, warmcore_report::render(&report(&base, &swept, manifest)).as_bytes())?;
    if output.json {
        return crate::output::print(json::pretty(&Summary::new(&swept))?.as_bytes());
    }
    let report = folder.file(REPORT);
    crate::output::print(format!("\n{}\nThe report: {}\n", shown(&swept), report.display()).as_bytes())
}

/// The most memory for all combinations, in bytes.
const MOST: f64 = 1e9;
/// What an application takes in a combination's scenario, as a value and as text in the journal, in bytes.
const APPLICATION: f64 = 1e3;

/// Refuses more combinations than fit the memory.
fn check_combinations(base: &RunQueueScenario, arguments: &SweepRunqueueArguments) -> miette::Result<()> {
    let counts = [arguments.levels.len(), arguments.quanta.len().max(1), arguments.attach.len().max(1)];
    let combinations: f64 = counts.iter().map(|&count| count as f64).product();
    let each = base.applications.len() as f64 * APPLICATION + f64::from(base.runs) * size_of::<Run>() as f64;
    let bytes = combinations * each;
    if bytes <= MOST {
        return Ok(());
    }
    Err(misuse(format!(
        "--levels, --quanta and --attach have {combinations} combinations, which need {:.1} GB: expected fewer, at most \
         {:.0} GB",
        bytes / 1e9,
        MOST / 1e9
    )))
}

/// Every combination of the values asked for.
fn points(base: &RunQueueScenario, arguments: &SweepRunqueueArguments) -> Vec<RunQueueScenario> {
    let or = |given: &[f64], own: f64| if given.is_empty() { vec![own] } else { given.to_vec() };
    let quanta = or(&arguments.quanta, base.scheduler.unix().quantum_ms);
    let attach: Vec<Attachment> =
        if arguments.attach.is_empty() { vec![base.scheduler.attach()] } else { arguments.attach.clone() };
    let mut points = Vec::new();
    for &attach in &attach {
        for &quantum_ms in &quanta {
            for &level in &arguments.levels {
                let scheduler =
                    UnixScheduler { a_p: level, a_t: level, quantum_ms, attach, ..base.scheduler.unix() };
                points.push(RunQueueScenario { scheduler: scheduler.into(), ..base.clone() });
            }
        }
    }
    points
}

/// One row for each run.
fn columns(swept: &[Swept]) -> miette::Result<Columns> {
    let rows: Vec<(&Swept, usize, &Run)> = swept
        .iter()
        .flat_map(|one| one.runs.iter().enumerate().map(move |(number, run)| (one, number, run)))
        .collect();
    let float = |name: &str, unit: &str, of: fn(&Run) -> f64| {
        Column::floats(name, unit, rows.iter().map(|row| Some(of(row.2))))
    };
    let columns = Columns::new(vec![
        Column::integers("level", rows.iter().map(|row| Some(i64::from(row.0.scheduler.a_p)))),
        Column::floats("quantum", "ms", rows.iter().map(|row| Some(row.0.scheduler.quantum_ms))),
        Column::texts("attach", rows.iter().map(|row| Some(row.0.scheduler.attach.to_string()))),
        Column::integers("run", rows.iter().map(|row| i64::try_from(row.1).ok())),
        float("length", "s", |run| run.seconds),
        float("mean_completion", "s", |run| run.mean_completion_s),
        float("progress", "", |run| run.progress),
        float("misses", "", |run| run.misses),
        float("idle", "", |run| run.idle),
        float("dispatches", "/s", |run| run.dispatches_per_s),
        float("migrations", "/s", |run| run.migrations_per_s),
        float("longest_wait", "s", |run| run.longest_wait_s),
    ]);
    columns.map_err(|error| miette!("{error}"))
}

fn shown(swept: &[Swept]) -> String {
    let mut shown = table(["level", "quantum", "attached", "completion", "misses", "idle", "longest wait"]);
    for one in swept {
        let figure = |of: fn(&Run) -> f64, unit: &str| {
            let Estimate { mean, half_width } = one.estimate(of);
            match half_width {
                Some(half) if half.is_finite() => format!("{mean:.2} ± {half:.2} {unit}"),
                _ => format!("{mean:.2} {unit} (one run: no interval)"),
            }
        };
        shown.add_row([
            one.scheduler.a_p.to_string(),
            format!("{} ms", one.scheduler.quantum_ms),
            one.scheduler.attach.to_string(),
            figure(|run| run.mean_completion_s, "s"),
            figure(|run| run.misses / 1e6, "million"),
            figure(|run| 100.0 * run.idle, "%"),
            figure(|run| run.longest_wait_s, "s"),
        ]);
    }
    shown.to_string()
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    schema: u32,
    points: Vec<PointFigures>,
}

#[derive(Serialize)]
struct PointFigures {
    level: u32,
    quantum_ms: f64,
    attach: String,
    mean_completion_s: Estimate<f64>,
    progress: Estimate<f64>,
    misses: Estimate<f64>,
    idle: Estimate<f64>,
    longest_wait_s: Estimate<f64>,
}

impl Summary {
    fn new(swept: &[Swept]) -> Self {
        let point = |one: &Swept| PointFigures {
            level: one.scheduler.a_p,
            quantum_ms: one.scheduler.quantum_ms,
            attach: one.scheduler.attach.to_string(),
            mean_completion_s: one.estimate(|run| run.mean_completion_s),
            progress: one.estimate(|run| run.progress),
            misses: one.estimate(|run| run.misses),
            idle: one.estimate(|run| run.idle),
            longest_wait_s: one.estimate(|run| run.longest_wait_s),
        };
        Self { schema: 1, points: swept.iter().map(point).collect() }
    }
}

fn report(base: &RunQueueScenario, swept: &[Swept], manifest: Manifest) -> Document {
    let name = if base.name.is_empty() { "A mix in a run queue".to_owned() } else { base.name.clone() };
    let chart = |id: &str, title: &str, label: &str, unit: &str, of: fn(&Run) -> f64| {
        let mut curves: Vec<(f64, Attachment)> = Vec::new();
        for one in swept {
            let curve = (one.scheduler.quantum_ms, one.scheduler.attach);
            if !curves.contains(&curve) {
                curves.push(curve);
            }
        }
        let series = curves.into_iter().map(|(quantum, attach)| {
            let own = |one: &&Swept| one.scheduler.quantum_ms == quantum && one.scheduler.attach == attach;
            let mut points: Vec<Point> = swept
                .iter()
                .filter(own)
                .map(|one| Point::new(f64::from(one.scheduler.a_p), one.estimate(of)))
                .collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            Series::new(format!("{quantum} ms, attached: {attach}"), Style::Line, points)
        });
        Block::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: "Means over independent runs, with the half-widths of their 95 % intervals.".to_owned(),
            x: Axis::linear("level of affinity, a_p and a_t", Unit::plain("")),
            y: Axis::linear(label, Unit::plain(unit)),
            choices: Vec::new(),
            views: vec![View { series: series.collect(), ..View::default() }],
        })
    };
    let blocks = vec![
        chart("completion", "Completion", "mean completion time", "s", |run| run.mean_completion_s),
        chart("misses", "Cache misses", "misses", "million", |run| run.misses / 1e6),
        chart("waits", "Longest wait in the queue", "longest wait", "s", |run| run.longest_wait_s),
    ];
    Document {
        title: name,
        subtitle: format!("{} processes on {} cpus", base.processes(), base.machine.cpus),
        verdict: ReportVerdict {
            headline: "What affinity, quanta and attachment do to this mix".to_owned(),
            ..ReportVerdict::default()
        },
        sections: vec![Section {
            heading: "By level of affinity".to_owned(),
            anchor: "levels".to_owned(),
            intro: Vec::new(),
            blocks,
            folded: false,
        }],
        manifest,
    }
}
