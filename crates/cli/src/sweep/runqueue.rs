//! `warmcore sweep runqueue`.

mod points;
mod report;
mod tables;

use crate::args::runqueue::SweepRunqueueArguments;
use crate::folder::{RESULTS, TableFiles};
use crate::misuse::{misuse, refuse_repeats};
use crate::provenance::PROGRAM;
use crate::simulate::runqueue::scenario;
use crate::{checkpoint, flags, interrupt, json, progress, provenance};
use miette::{IntoDiagnostic, miette};
use std::sync::atomic::{AtomicUsize, Ordering};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_sim::runqueue::advice::{Alternative, Assessment, RunFigures, estimate};
use warmcore_sim::runqueue::{check_memory, simulate_until};
use warmcore_sim::sweep::{SweepError, sweep};
use warmcore_units::{Estimate, Fault};

const REPORT: &str = "report.html";
const APPLICATIONS: TableFiles = TableFiles { parquet: "applications.parquet", csv: "applications.csv" };
const FILES: [&str; 5] = [RESULTS.parquet, RESULTS.csv, APPLICATIONS.parquet, APPLICATIONS.csv, REPORT];

/// What a sweep found: the schedulers, their runs, and what these say beside the scenario's own.
struct Swept {
    scenario: RunQueueScenario,
    /// Each scheduler and its runs, the scenario's own first.
    all: Vec<(Alternative, Vec<RunFigures>)>,
    /// Each of the others.
    assessed: Vec<Assessment>,
}

impl Swept {
    fn new(scenario: RunQueueScenario, points: Vec<Alternative>, runs: Vec<Vec<RunFigures>>) -> Self {
        let all: Vec<(Alternative, Vec<RunFigures>)> = points.into_iter().zip(runs).collect();
        let base = all.first().map_or(&[][..], |(_, runs)| runs);
        let assess = |(one, runs): &(Alternative, Vec<RunFigures>)| {
            Assessment::new(&scenario, one.clone(), base, runs)
        };
        let assessed = all.iter().skip(1).map(assess).collect();
        Self { scenario, all, assessed }
    }

    /// The runs of the scenario's own scheduler.
    fn base(&self) -> &[RunFigures] {
        self.all.first().map_or(&[], |(_, runs)| runs)
    }

    /// What the schedulers say beside the scenario's own, which has none, in the order of `all`.
    fn assessments(&self) -> impl Iterator<Item = Option<&Assessment>> {
        std::iter::once(None).chain(self.assessed.iter().map(Some))
    }

    /// Each scheduler with its figure over the runs.
    fn figures(&self, of: fn(&RunFigures) -> f64) -> impl Iterator<Item = (&Alternative, Estimate<f64>)> {
        self.all.iter().map(move |(one, runs)| (one, estimate(runs, of)))
    }
}

pub(crate) fn run(arguments: &SweepRunqueueArguments) -> miette::Result<()> {
    refuse_repeats("levels", &arguments.levels)?;
    refuse_repeats("quanta", &arguments.quanta)?;
    refuse_repeats("slices", &arguments.slices)?;
    refuse_repeats("attach", &arguments.attach)?;
    let base = scenario(&arguments.mix)?;
    check_memory(&base).map_err(|fault| flags::refused(&fault))?;
    let points = points::points(&base, arguments)?;
    let scenarios: Vec<RunQueueScenario> =
        points.iter().map(|one| RunQueueScenario { scheduler: one.scheduler, ..base.clone() }).collect();
    for (point, scenario) in points.iter().zip(&scenarios) {
        scenario.check().map_err(|Fault { field, found, expected }| {
            misuse(format!("{}: `{field}` is {found}, expected {expected}", point.name))
        })?;
    }
    let output = &arguments.output;
    // A point is known by its whole scenario: one journal serves any request made of such points.
    let subject = format!("{PROGRAM} {}\nsweep runqueue\n", env!("CARGO_PKG_VERSION"));
    let stop = interrupt::catch()?;
    let (folder, journal) = checkpoint::open::<Vec<RunFigures>>(output, &FILES, &subject)?;

    let bar = progress::bar("simulating");
    let done = AtomicUsize::new(0);
    let key = |point: &RunQueueScenario| toml::to_string(point).unwrap_or_default();
    let runs = sweep(
        &scenarios,
        |point| journal.known(&key(point)).cloned(),
        |point| {
            let outcome = simulate_until(point, stop).map_err(|fault| flags::refused(&fault))?;
            Ok(outcome.ok_or_else(|| miette!("interrupted"))?.figures())
        },
        |point, runs| {
            progress::set(&bar, (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / scenarios.len() as f64);
            journal.append(&key(point), runs).into_diagnostic()
        },
        stop,
    );
    bar.finish_and_clear();
    let runs = runs.map_err(|error| match error {
        SweepError::Point(error) => error,
        SweepError::Interrupted => checkpoint::interrupted(&folder, &journal),
    })?;

    let document_text = toml::to_string(&base).into_diagnostic()?;
    let manifest = provenance::from_seed("what processes do", base.seed, Some(document_text));
    let repeatable = provenance::repeatable(&manifest);
    let swept = Swept::new(base, points, runs);
    folder.write_table(&RESULTS, &tables::runs(&swept)?, &repeatable)?;
    folder.write_table(&APPLICATIONS, &tables::applications(&swept)?, &repeatable)?;
    folder.write(REPORT, warmcore_report::render(&report::report(&swept, manifest)).as_bytes())?;
    if output.json {
        return crate::output::print(json::pretty(&tables::Summary::new(&swept))?.as_bytes());
    }
    let report = folder.file(REPORT);
    let shown = format!("\n{}\nThe report: {}\n", tables::shown(&swept), report.display());
    crate::output::print(shown.as_bytes())
}
