//! `warmcore host plan`.

use super::{probe, show};
use crate::args::host::PlanArguments;
use crate::calibrate::existing;
use crate::json::{self, Versioned};
use crate::misuse::{OrMisuse, misuse};
use crate::{documents, folder, terminal};
use miette::{IntoDiagnostic, miette};
use std::path::Path;
use warmcore_record::atomic_file;
use warmcore_study::placement::{HostPlacement, Request, Target, Unplaceable, place};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &PlanArguments) -> miette::Result<()> {
    if let Some(file) = &arguments.out {
        atomic_file::check(file, existing(arguments.force)).or_misuse()?;
    }
    let profile = arguments.profile.as_ref().map(documents::profile).transpose()?;
    let picture = show::looked(probe(arguments.root.as_deref())?.inventory())?;
    let busiest = Target::Busiest;
    let request = Request {
        target: arguments.subject.as_ref().unwrap_or(&busiest),
        goal: arguments.goal,
        rate: arguments.rate,
        profile: profile.as_ref(),
    };
    let placement = place(&picture, &request).map_err(|why| match why {
        Unplaceable::NoThreads(_) if arguments.subject.is_some() => misuse(format!("--for: {why}")),
        why => miette!("no plan: {why}"),
    })?;
    if let Some(file) = &arguments.out {
        write(file, arguments.force, &placement)?;
    }
    let text = match arguments.json {
        true => json::pretty(&Versioned::new(SCHEMA, &placement))?,
        false => terminal::plan::summary(&placement) + &next(arguments, &placement)?,
    };
    crate::output::print(text.as_bytes())
}

fn write(file: &Path, force: bool, placement: &HostPlacement) -> miette::Result<()> {
    let text = toml::to_string(&placement.plan).into_diagnostic()?;
    folder::write(file, text.as_bytes(), existing(force))
}

/// How to go on: with the file, or with the plan itself.
fn next(arguments: &PlanArguments, placement: &HostPlacement) -> miette::Result<String> {
    match &arguments.out {
        Some(file) => {
            let file = file.display();
            Ok(format!("The plan: {file}. `warmcore host apply {file}` shows what it would change.\n"))
        }
        None => Ok(format!("\n{}", toml::to_string(&placement.plan).into_diagnostic()?)),
    }
}
