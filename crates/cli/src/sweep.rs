//! `warmcore sweep packet`.

use crate::args::SweepPacketArguments;
use crate::folder::Folder;
use crate::kept::Kept;
use crate::{interrupt, point, progress, provenance, terminal};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::path::Path;
use warmcore_costs::Profile;
use warmcore_scenario::packet::SCHEMA;
use warmcore_study::point::Figures;
use warmcore_study::sweep::{Axes, Plan, Request, SweepError, Swept, present};
use warmcore_units::PerSecond;

const REQUEST: &str = "sweep.toml";
const RESULTS: &str = "results.parquet";
const REPORT: &str = "report.html";

pub(crate) fn run(arguments: &SweepPacketArguments) -> miette::Result<()> {
    let request = request(arguments)?;
    let profile = point::profile(&request.scenario.profile)?;
    let plan = Plan::new(request.clone(), &profile, Path::new(point::HERE)).map_err(point::explained)?;
    let output = &arguments.output;
    let (folder, kept) =
        Kept::open(output, &[REQUEST, RESULTS, REPORT], &profile, &request.scenario.traffic)?;
    let stop = interrupt::catch()?;
    folder.write(REQUEST, toml::to_string(&request).into_diagnostic()?.as_bytes())?;

    let bar = progress::bar("simulating");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let swept =
        plan.run(&profile, |point| kept.known(point), |point, result| kept.keep(point, result), tell, stop);
    bar.finish_and_clear();
    let swept = swept.map_err(explained)?;

    write(&folder, &profile, &swept)?;
    if output.json {
        let object = Summary { schema: 1, points: swept.figures().collect() };
        return crate::print(
            format!("{}\n", serde_json::to_string_pretty(&object).into_diagnostic()?).as_bytes(),
        );
    }
    let report = folder.file(REPORT);
    crate::print(
        format!("{}\nThe report: {}\n", terminal::sweep::summary(&swept), report.display()).as_bytes(),
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    schema: u32,
    points: Vec<Figures>,
}

fn request(arguments: &SweepPacketArguments) -> miette::Result<Request> {
    let given = &arguments.axes;
    let axes = Axes {
        rates_per_s: given.rates.iter().copied().map(PerSecond).collect(),
        loads: given.loads.clone(),
        approaches: given.approaches.clone(),
        policies: given.policies.clone(),
        batches: given.batches.clone(),
        processors: given.processors.clone(),
    };
    Ok(Request { schema: SCHEMA, axes, scenario: point::described(&arguments.point)? })
}

fn write(folder: &Folder, profile: &Profile, swept: &Swept) -> miette::Result<()> {
    let request = toml::to_string(&swept.request).into_diagnostic()?;
    let manifest = provenance::of_simulation(profile, swept.request.scenario.seed, Some(request));
    let columns = swept.columns().into_diagnostic()?;
    folder.write(RESULTS, &columns.to_parquet(&provenance::repeatable(&manifest)).into_diagnostic()?)?;
    let report = warmcore_report::render(&present::document(swept, profile, manifest));
    folder.write(REPORT, report.as_bytes())
}

fn explained(error: SweepError) -> miette::Report {
    match error {
        SweepError::Point(error) => point::explained(error),
        SweepError::Interrupted => interrupt::resumable(),
        SweepError::Keep(error) => miette!("cannot keep a finished point: {error}"),
    }
}
