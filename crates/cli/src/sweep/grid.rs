//! `warmcore sweep grid`, and a `sweep packet` along any field: a data set of Parquet files.

mod dask;

use crate::args::grid::{EngineArguments, SweepGridArguments};
use crate::args::packet::AxisArguments;
use crate::args::{ResumableArguments, SweepPacketArguments};
use crate::misuse::{OrMisuse, misuse};
use crate::remedies::{OrRemedies, with_remedies};
use crate::{documents, interrupt, json, messages, point, progress, unused_options};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::path::Path;
use toml::Value;
use warmcore_record::DataSet;
use warmcore_record::dataset::{Begin, Description};
use warmcore_scenario::document::{self, Checked};
use warmcore_scenario::grid::{Axis, Grid, Model, Points};
use warmcore_study::grid::{Plan, PlanError, RunError, run as run_points};
use warmcore_units::Fault;

const EXAMPLE: &str = include_str!("grid.toml");

pub(crate) fn run(arguments: &SweepGridArguments) -> miette::Result<()> {
    let Some(path) = arguments.document.as_deref().filter(|_| !arguments.print_example) else {
        return crate::output::print(EXAMPLE.as_bytes());
    };
    let grid: Grid = documents::read(path)?;
    let points = Points::new(grid.clone()).or_misuse()?;
    let plan = Plan::new(grid).map_err(|error| match error {
        PlanError::Fault(fault) => in_document(path, &points, fault),
        error => misuse(error.to_string()),
    })?;
    swept(&plan, &arguments.engine, &arguments.output)
}

/// The `fault` of a point of the grid at `path`, with its line there.
fn in_document(path: &Path, points: &Points, fault: Fault) -> miette::Report {
    let located = Fault { field: points.located(&fault.field), ..fault.clone() };
    match document::text::<Grid>(path) {
        // The line is that of the axis, and the words are those of the scenario.
        Ok(text) => match document::invalid::<Grid>(&text, path, located) {
            document::DocumentError::Invalid { what, path, line, .. } => {
                misuse(document::DocumentError::Invalid { what, path, line, fault }.to_string())
            }
            other => misuse(other.to_string()),
        },
        Err(error) => misuse(error.to_string()),
    }
}

/// Whether `arguments` ask for a data set.
pub(crate) fn is_asked_for(arguments: &SweepPacketArguments) -> bool {
    !arguments.vary.vary.is_empty() || arguments.engine.dask.is_some()
}

/// A sweep of packets along any field.
pub(crate) fn packet(arguments: &SweepPacketArguments) -> miette::Result<()> {
    let (scenario, _) = point::unchecked(&arguments.point)?;
    let scenario = toml::Table::try_from(&scenario).into_diagnostic()?;
    let axes: Vec<Axis> =
        axes(&arguments.axes)?.into_iter().chain(arguments.vary.vary.iter().cloned()).collect();
    let varied: Vec<&str> = axes.iter().flat_map(Axis::fields).collect();
    unused_options::check_varied(&arguments.point.scenario.given, &scenario, &varied)?;
    let grid = Grid::new(Model::Packet, scenario, axes);
    grid.check().map_err(|fault| misuse(format!("--vary: {}", grid.named(fault))))?;
    let plan = Plan::new(grid).map_err(|error| match error {
        PlanError::Fault(fault) => misuse(fault.to_string()),
        error => misuse(error.to_string()),
    })?;
    swept(&plan, &arguments.engine, &arguments.output)
}

/// The axes that options of their own give, in the order of a sweep's curves.
fn axes(given: &AxisArguments) -> miette::Result<Vec<Axis>> {
    fn named<T: Serialize>(field: &str, values: &[T]) -> miette::Result<Option<Axis>> {
        let values = values.iter().map(Value::try_from).collect::<Result<Vec<_>, _>>().into_diagnostic()?;
        Ok((!values.is_empty()).then(|| Axis::new(field, values)))
    }
    let axes = [
        named("processors", &given.processors)?,
        named("traffic.batch.mean", &given.batches)?,
        named("scheduling.approach", &given.approaches)?,
        named("scheduling.policy", &given.policies)?,
        named("rate_per_s", &given.rates)?,
        named("load", &given.loads)?,
    ];
    Ok(axes.into_iter().flatten().collect())
}

fn swept(plan: &Plan, engine: &EngineArguments, output: &ResumableArguments) -> miette::Result<()> {
    let contents = plan.contents(engine.partition_by.as_deref()).or_misuse()?;
    if let Some(address) = &engine.dask {
        return dask::run(plan, address, engine, output);
    }
    let begin = match (output.resume, output.force) {
        (true, _) => Begin::Resume,
        (_, true) => Begin::Anew,
        (false, false) => Begin::New,
    };
    let stop = interrupt::catch()?;
    let set = DataSet::open(&output.out, contents, begin).or_remedies()?;
    if output.resume {
        messages::status(format_args!("continuing after {} finished points", set.known()));
    }
    let bar = progress::bar("simulating");
    let ended = run_points(plan, &set, engine.jobs, |part| progress::set(&bar, part), stop);
    bar.finish_and_clear();
    match ended {
        Ok(_) => shown(&output.out, &set.finish().into_diagnostic()?, output.json),
        Err(RunError::Interrupted) => {
            Err(interrupt::resumable(format_args!("{} of {} points are", set.known(), plan.points().count())))
        }
        Err(RunError::Point(failed)) => Err(miette!("{failed}")),
        Err(error @ RunError::Threads(_)) => Err(miette!("{error}")),
        Err(RunError::Keep(error)) => Err(miette!("cannot save a finished point: {}", with_remedies(&error))),
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    folder: String,
    grid: &'a str,
    model: &'a str,
    points: u64,
    parts: usize,
    partition_by: Option<&'a str>,
}

fn shown(folder: &Path, set: &Description, as_json: bool) -> miette::Result<()> {
    let parts = set.parts.len();
    if as_json {
        let summary = Summary {
            schema: 1,
            folder: folder.display().to_string(),
            grid: &set.grid,
            model: &set.model,
            points: set.rows,
            parts,
            partition_by: set.partition_by.as_deref(),
        };
        return crate::output::print(json::pretty(&summary)?.as_bytes());
    }
    let files = if parts == 1 { "1 file".to_owned() } else { format!("{parts} files") };
    let words = format!("{} points in {files}: the data set {}\n", set.rows, folder.display());
    crate::output::print(words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_possible_grid() {
        let grid = document::parse::<Grid>(EXAMPLE, Path::new("grid.toml")).expect("a grid");
        assert_eq!(Plan::new(grid).expect("possible points").points().count(), 24);
    }
}
