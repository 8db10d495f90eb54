//! `warmcore sweep packet`.

pub(crate) mod cluster;
pub(crate) mod grid;
pub(crate) mod runqueue;

use crate::args::SweepPacketArguments;
use crate::checkpoint::Checkpoint;
use crate::costs::{Chosen, ChosenProfile};
use crate::folder::{Folder, RESULTS};
use crate::misuse::{misuse, refuse_repeats};
use crate::{documents, interrupt, json, point, progress, provenance, terminal, unused_options};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::path::Path;
use warmcore_scenario::Process;
use warmcore_scenario::document::Checked;
use warmcore_study::point::NamedFigures;
use warmcore_study::sweep::{Axes, Request, SweepError, SweepPlan, Swept, present};
use warmcore_units::PerSecond;

const REQUEST: &str = "sweep.toml";
const REPORT: &str = "report.html";
const FILES: [&str; 4] = [REQUEST, RESULTS.parquet, RESULTS.csv, REPORT];

pub(crate) fn run(arguments: &SweepPacketArguments) -> miette::Result<()> {
    if grid::is_asked_for(arguments) {
        return grid::packet(arguments);
    }
    let alone = "only a data set has it: give --vary too";
    unused_options::refuse("jobs", arguments.engine.jobs.is_some(), alone)?;
    unused_options::refuse("partition-by", arguments.engine.partition_by.is_some(), alone)?;
    let (request, chosen) = request(arguments)?;
    let costs = ChosenProfile::read(&request.scenario, chosen)?;
    let profile = &costs.profile;
    let plan = SweepPlan::new(request.clone(), profile).map_err(point::explained)?;
    unused_options::check_unused(&arguments.point.scenario.given, &request.unused())?;
    let output = &arguments.output;
    if output.resume {
        refuse_others(&request, &output.out)?;
    }
    let stop = interrupt::catch()?;
    let (folder, kept) = Checkpoint::open(output, &FILES, profile, &request.scenario.traffic, "")?;
    folder.write(REQUEST, toml::to_string(&request).into_diagnostic()?.as_bytes())?;

    let bar = progress::bar("simulating");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let swept =
        plan.run(profile, |point| kept.known(point), |point, result| kept.keep(point, result), tell, stop);
    bar.finish_and_clear();
    let swept = swept.map_err(|error| match error {
        SweepError::Point(error) => folder.taken_back(point::explained(error)),
        SweepError::Interrupted => kept.interrupted(&folder),
        SweepError::Keep(error) => miette!("cannot save a finished point: {error}"),
    })?;

    write(&folder, &costs, &swept)?;
    if output.json {
        let (machine, profile_chosen) = (&profile.name, costs.chosen());
        let object = Summary { schema: 1, machine, profile_chosen, points: swept.figures().collect() };
        return crate::output::print(json::pretty(&object)?.as_bytes());
    }
    let report = folder.file(REPORT);
    crate::output::print(
        format!(
            "{}\n{}\nThe report: {}\n",
            terminal::sweep::summary(&swept),
            costs.in_words(),
            report.display()
        )
        .as_bytes(),
    )
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    machine: &'a str,
    profile_chosen: &'static str,
    points: Vec<NamedFigures>,
}

/// Refuses to replace the results of another request, or of an unknown one, in `folder`: what --resume continues must
/// be part of `request`.
fn refuse_others(request: &Request, folder: &Path) -> miette::Result<()> {
    let file = folder.join(REQUEST);
    if !file.exists() {
        let results = FILES[1..].iter().find(|name| folder.join(name).exists());
        return results.map_or(Ok(()), |name| {
            Err(misuse(format!(
                "{} has {name} but no {REQUEST}, which says what was asked for, so it cannot be continued. Give \
                 --force to begin anew, or another place with --out",
                folder.display()
            )))
        });
    }
    let earlier: Request = documents::read(&file)?;
    if request.includes(&earlier) {
        return Ok(());
    }
    let [asked, there] = [request, &earlier].map(toml::to_string);
    let (asked, there) = (asked.into_diagnostic()?, there.into_diagnostic()?);
    let only = |here: &str, other: &str| -> String {
        let lines: Vec<&str> =
            here.lines().filter(|line| !other.lines().any(|other| other == *line)).collect();
        if lines.is_empty() { "nothing else".to_owned() } else { format!("`{}`", lines.join("`, `")) }
    };
    Err(misuse(format!(
        "{} is of another sweep: it has {}, but you ask for {}. Ask for its points too, give --force to begin anew, or \
         another place with --out",
        file.display(),
        only(&there, &asked),
        only(&asked, &there)
    )))
}

fn request(arguments: &SweepPacketArguments) -> miette::Result<(Request, Chosen)> {
    let given = &arguments.axes;
    refuse_repeats("rates", &given.rates)?;
    refuse_repeats("loads", &given.loads)?;
    refuse_repeats("approaches", &given.approaches)?;
    refuse_repeats("policies", &given.policies)?;
    refuse_repeats("batches", &given.batches)?;
    refuse_repeats("processors", &given.processors)?;
    let axes = Axes {
        rates_per_s: given.rates.iter().copied().map(PerSecond).collect(),
        loads: given.loads.clone(),
        approaches: given.approaches.clone(),
        policies: given.policies.clone(),
        batches: given.batches.clone(),
        processors: given.processors.clone(),
    };
    let (scenario, chosen) = point::unchecked(&arguments.point)?;
    let is_closed = matches!(scenario.traffic.process, Process::Closed(_));
    if is_closed && !(axes.rates_per_s.is_empty() && axes.loads.is_empty()) {
        return Err(misuse(
            "--rates and --loads have no effect on `closed` traffic: its rate follows from how fast requests are finished",
        ));
    }
    let has_rate =
        scenario.rate_per_s.is_some() || is_closed || matches!(scenario.traffic.process, Process::Trace(_));
    if axes.rates_per_s.is_empty() && axes.loads.is_empty() && !has_rate {
        return Err(misuse("no rate is given: give --rates, --loads or --rate"));
    }
    Ok((Request { schema: Request::SCHEMA, axes, scenario }, chosen))
}

fn write(folder: &Folder, costs: &ChosenProfile, swept: &Swept) -> miette::Result<()> {
    let request = toml::to_string(&swept.request).into_diagnostic()?;
    let manifest = provenance::from_simulation(&costs.profile, swept.request.scenario.seed, Some(request));
    let columns = swept.columns().into_diagnostic()?;
    folder.write_table(&RESULTS, &columns, &provenance::repeatable(&manifest))?;
    let report = warmcore_report::render(&present::document(swept, &costs.in_words(), manifest));
    folder.write(REPORT, report.as_bytes())
}
