//! `warmcore report`.

use crate::args::ReportArguments;
use crate::messages;
use crate::misuse::misuse;
use miette::miette;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a desktop opens files with, where `$BROWSER` names nothing.
const OPENER: &str = "xdg-open";

pub(crate) fn run(arguments: &ReportArguments) -> miette::Result<()> {
    let report = find(&arguments.path)?;
    if arguments.open {
        open(&report)?;
    }
    crate::output::print(format!("The report: {}\n", report.display()).as_bytes())
}

/// The report at `path`, or in the folder there.
fn find(path: &Path) -> miette::Result<PathBuf> {
    let file = if path.is_dir() { path.join("report.html") } else { path.to_owned() };
    if file.is_file() {
        return Ok(file);
    }
    Err(misuse(format!("there is no report at {}: `warmcore study` writes one", file.display())))
}

/// Opens `report` with the first program that takes it.
fn open(report: &Path) -> miette::Result<()> {
    let file = std::path::absolute(report).map_err(|error| miette!("{}: {error}", report.display()))?;
    let mut failures = Vec::new();
    for program in browsers() {
        messages::detail(format_args!("starting {program}"));
        match Command::new(&program).arg(&file).status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => failures.push(format!("`{program}` ended with {status}")),
            Err(error) => failures.push(format!("`{program}`: {error}")),
        }
    }
    Err(miette!(
        "cannot open the report in a browser ({}): set BROWSER to a browser's name, or open {} yourself",
        failures.join("; "),
        file.display()
    ))
}

/// The programs that `$BROWSER` names, a colon between two; the desktop's where it names none.
fn browsers() -> Vec<String> {
    let named = env::var("BROWSER").unwrap_or_default();
    let named: Vec<String> = named.split(':').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if named.is_empty() { vec![OPENER.to_owned()] } else { named }
}
