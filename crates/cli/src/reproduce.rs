//! `warmcore reproduce salehi-1994`; a source that is measured rather than simulated has a module of its
//! own.

pub(crate) mod foong;

use crate::args::SalehiArguments;
use crate::folder::Folder;
use crate::kept::Kept;
use crate::{interrupt, point, progress, provenance, terminal};
use miette::{IntoDiagnostic, miette};
use std::collections::BTreeSet;
use warmcore_published::salehi_1994::{
    Figure, Options, Plan, ReproduceError, Reproduction, Summary, columns, present, reproduce, summary,
};
use warmcore_scenario::Traffic;

const REPORT: &str = "report.html";
const RESULTS: &str = "results.parquet";
const CLAIMS: &str = "claims.parquet";
const SUMMARY: &str = "claims.json";

pub(crate) fn run(arguments: &SalehiArguments) -> miette::Result<()> {
    let options = options(arguments)?;
    // What cannot be reproduced is refused before anything is written.
    Plan::new(&options).map_err(explained)?;
    let output = &arguments.output;
    let files = [REPORT, RESULTS, CLAIMS, SUMMARY];
    let (folder, kept) = Kept::open(output, &files, &options.profile, &Traffic::default())?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let reproduction =
        reproduce(options, |point| kept.known(point), |point, result| kept.keep(point, result), tell, stop);
    bar.finish_and_clear();
    let reproduction = reproduction.map_err(explained)?;

    let summary = serde_json::to_string_pretty(&Summary::of(&reproduction)).into_diagnostic()?;
    write(&folder, &reproduction, &summary)?;
    if output.json {
        return crate::print(format!("{summary}\n").as_bytes());
    }
    let report = folder.file(REPORT);
    let claims = terminal::claims::summary(&reproduction);
    crate::print(format!("{claims}\nThe report: {}\n", report.display()).as_bytes())
}

fn options(arguments: &SalehiArguments) -> miette::Result<Options> {
    let mut options = if arguments.quick { Options::quick() } else { Options::default() };
    if let Some(source) = &arguments.profile {
        options.source = source.clone();
        options.profile = point::profile(source)?;
    }
    options.precision = arguments.precision.unwrap_or(options.precision);
    options.seed = arguments.seed.unwrap_or(options.seed);
    if !arguments.figures.is_empty() {
        let named = arguments.figures.iter().map(|figure| Figure::named(figure));
        let figures: Vec<Vec<Figure>> =
            named.collect::<Result<_, _>>().map_err(|error| miette!("--figure: {error}"))?;
        options.figures = Some(BTreeSet::from_iter(figures.concat()));
    }
    Ok(options)
}

fn write(folder: &Folder, reproduction: &Reproduction, summary: &str) -> miette::Result<()> {
    let options = &reproduction.options;
    let manifest = provenance::of_simulation(&options.profile, options.seed, None);
    let repeatable = provenance::repeatable(&manifest);
    let points = columns::points(reproduction).into_diagnostic()?;
    let claims = summary::claims(reproduction).into_diagnostic()?;
    let report = warmcore_report::render(&present::document(reproduction, manifest));
    folder.write(RESULTS, &points.to_parquet(&repeatable).into_diagnostic()?)?;
    folder.write(CLAIMS, &claims.to_parquet(&repeatable).into_diagnostic()?)?;
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, report.as_bytes())
}

fn explained(error: ReproduceError) -> miette::Report {
    match error {
        ReproduceError::Point(error) => point::explained(error),
        ReproduceError::Fault(fault) => miette!("{}", point::in_flags(&fault)),
        ReproduceError::Profile(error) => miette!("--profile does not fit: {error}"),
        ReproduceError::Interrupted => interrupt::resumable(),
        error => miette!("{error}"),
    }
}
