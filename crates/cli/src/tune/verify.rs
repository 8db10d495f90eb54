//! `warmcore host verify`.

use super::{apply, directory, plan};
use crate::args::values::ProgramLine;
use crate::args::verify::VerifyArguments;
use crate::json::{self, Versioned};
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::counted;
use crate::transfer::processes;
use crate::{interrupt, terminal};
use miette::miette;
use std::ffi::OsString;
use std::time::Duration;
use warmcore_linux::Program;
use warmcore_linux::counters::Kernel;
use warmcore_linux::net::privilege_missing;
use warmcore_linux::tuning::{Disk, PlanDocument};
use warmcore_measure::blocks::BlockDesign;
use warmcore_measure::verify::built_in::BuiltIn;
use warmcore_measure::verify::work::{TIMEOUT_FACTOR, Work};
use warmcore_measure::verify::{Verification, model_plan};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(super) fn run(arguments: &VerifyArguments) -> miette::Result<()> {
    let document = plan::read(&arguments.plan)?;
    for program in [&arguments.load, &arguments.benchmark].into_iter().flatten() {
        Program::find(&words(program)).or_misuse()?;
    }
    let work = work(arguments, &document)?;
    let disk = Disk::default();
    let (proposals, _) = plan::proposals(&document, &disk, &arguments.admission)?;
    let blocks = BlockDesign {
        count: arguments.blocks.into(),
        max_foreign: arguments.foreign,
        ..BlockDesign::default()
    };
    if !arguments.json {
        crate::output::print(apply::difference(&document, &proposals).as_bytes())?;
        crate::output::print(announced(&document, &work, arguments).as_bytes())?;
    }
    if !arguments.yes {
        return crate::output::print(b"Nothing was changed. Give --yes to try it.\n");
    }
    if let (Work::BuiltIn(_), Some(missing)) = (&work, privilege_missing()) {
        return Err(miette!(
            "the plan places no thread, so the load would be a transfer between two network namespaces, which needs \
             {missing}: run as root, or name a workload with --load, --benchmark or --interface"
        ));
    }
    let directory = directory(&arguments.journal)?;
    let verification = Verification {
        plan: &document.plan,
        system: &disk,
        source: &Kernel::default(),
        directory: &directory,
        work,
        time: arguments.time,
        blocks,
        keep: arguments.keep,
    };
    let findings = verification.run(interrupt::catch()?).map_err(|error| plan::report(&document, &error))?;
    let text = if arguments.json {
        json::pretty(&Versioned::new(SCHEMA, findings.results()))?
    } else {
        terminal::verify::summary(&findings)
    };
    crate::output::print(text.as_bytes())
}

fn words(line: &ProgramLine) -> Vec<OsString> {
    line.iter().map(OsString::from).collect()
}

/// How work is counted.
fn work(arguments: &VerifyArguments, document: &PlanDocument) -> miette::Result<Work> {
    if let Some(program) = &arguments.benchmark {
        return Ok(Work::Reported(words(program)));
    }
    let is_running = document.plan.lines.iter().any(|line| line.set.places_threads());
    if arguments.load.is_none() && arguments.interfaces.is_empty() && !is_running {
        return Ok(Work::BuiltIn(BuiltIn::new(&document.plan, processes()?)));
    }
    let of_plan = document.plan.machine.interfaces.iter().map(|interface| interface.name.clone());
    let names = match arguments.interfaces.is_empty() {
        true => of_plan.collect(),
        false => arguments.interfaces.clone(),
    };
    if names.is_empty() {
        return Err(misuse(
            "the plan names no interface in `machine.interfaces`: say what to count, with --interface NAME or \
             --benchmark PROGRAM",
        ));
    }
    Ok(Work::Interfaces { names, load: arguments.load.as_ref().map(words) })
}

/// Announces what will be tried, and for how long.
fn announced(document: &PlanDocument, work: &Work, arguments: &VerifyArguments) -> String {
    let models = model_plan::models_to_try(&document.plan);
    let runs = models.len() * usize::from(arguments.blocks);
    let names = models.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let all = |each: Duration| (each * u32::try_from(runs).unwrap_or(u32::MAX)).as_secs_f64();
    let time = match work {
        Work::Reported(_) => {
            let most = arguments.time * TIMEOUT_FACTOR;
            format!("each as long as the program takes, {most:?} at most, {:.0} s in all", all(most))
        }
        Work::Interfaces { .. } | Work::BuiltIn(_) => {
            format!("of {:?}, {:.0} s or more in all", arguments.time, all(arguments.time))
        }
    };
    let unasked = match work {
        Work::BuiltIn(_) => "No load is given and the plan places no thread: the load is a transfer.\n",
        Work::Interfaces { .. } | Work::Reported(_) => "",
    };
    format!("{unasked}To be tried in turn: {names} ({} {time}); counted: {work}.\n", counted(runs, "run"))
}
