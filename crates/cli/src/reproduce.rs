//! `warmcore reproduce SOURCE`. A module for each source obtains its evidence; judging, files, resuming and output
//! are shared.

pub(crate) mod falsafi;
pub(crate) mod foong;
pub(crate) mod mosberger;
pub(crate) mod salehi;
pub(crate) mod torrellas;

use crate::args::reproduce::ReproduceArguments;
use crate::folder::{Folder, RESULTS, TableFiles};
use crate::misuse::{OrMisuse, refuse_repeats};
use crate::{json, provenance, terminal};
use miette::{IntoDiagnostic, WrapErr};
use warmcore_published::{Evidence, Reproduction, Source, Summary, document};
use warmcore_record::Manifest;

const REPORT: &str = "report.html";
const CLAIMS: TableFiles = TableFiles { parquet: "claims.parquet", csv: "claims.csv" };
const SUMMARY: &str = "claims.json";

/// What every reproduction writes.
const FILES: [&str; 6] = [REPORT, RESULTS.parquet, RESULTS.csv, CLAIMS.parquet, CLAIMS.csv, SUMMARY];

/// The names of the figures that were asked for.
fn figures<E>(source: &Source<E>, arguments: &ReproduceArguments) -> miette::Result<Vec<&'static str>> {
    refuse_repeats("figure", &arguments.figures)?;
    source.figures_named(&arguments.figures).or_misuse().wrap_err("--figure")
}

/// Writes the files of a reproduction into `folder`, and prints the summary.
fn finish<E: Evidence>(
    reproduction: &Reproduction<E>,
    manifest: Manifest,
    folder: &Folder,
    as_json: bool,
) -> miette::Result<()> {
    let summary = Summary::new(reproduction);
    let object = json::pretty(&summary)?;
    let repeatable = provenance::repeatable(&manifest);
    let results = reproduction.evidence.results().into_diagnostic()?;
    let claims = summary.columns().into_diagnostic()?;
    let report = warmcore_report::render(&document(reproduction, manifest));
    folder.write_table(&RESULTS, &results, &repeatable)?;
    folder.write_table(&CLAIMS, &claims, &repeatable)?;
    folder.write(SUMMARY, object.as_bytes())?;
    folder.write(REPORT, report.as_bytes())?;
    if as_json {
        return crate::output::print(object.as_bytes());
    }
    let report = folder.file(REPORT);
    let claims = terminal::claims::table_of(&summary);
    crate::output::print(format!("{claims}\nThe report: {}\n", report.display()).as_bytes())
}
