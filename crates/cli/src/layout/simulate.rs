//! `warmcore layout simulate`.

use super::{ALIGNMENT, input, machine};
use crate::args::layout::SimulateArguments;
use crate::calibrate::existing;
use crate::folder::Folder;
use crate::json::{self, Versioned};
use crate::misuse::OrMisuse;
use crate::{interrupt, progress, provenance, terminal};
use serde::Serialize;
use std::path::Path;
use warmcore_layout::compare::{Comparison, Plan};
use warmcore_layout::movable::MovablePart;
use warmcore_layout::present::{ComparisonFigures, document};
use warmcore_layout::simulate::{Setup, Start, Summary};
use warmcore_layout::trace::Trace;
use warmcore_record::atomic_file;

/// Version of what `--json` prints.
const SCHEMA: u32 = 2;

/// The files of `--output`.
const FILES: [&str; 2] = ["report.html", "figures.json"];

/// What `--json` prints.
#[derive(Serialize)]
struct Simulation<'a> {
    start: Start,
    assumptions: &'a [String],
    icpi: f64,
    mcpi: f64,
    #[serde(flatten)]
    summary: &'a Summary,
}

pub(super) fn run(arguments: &SimulateArguments) -> miette::Result<()> {
    interrupt::end_at_once()?;
    if let Some(folder) = &arguments.output {
        check(folder, arguments.force)?;
    }
    let trace = input::trace(&arguments.trace)?;
    let machine::Simulated { setup, assumptions } = machine::simulated(&arguments.machine, &trace)?;
    let comparison = match &arguments.output {
        Some(_) => Some(compared(arguments, &trace, setup.clone())?),
        None => None,
    };
    let alone;
    let present = match &comparison {
        Some(comparison) => &comparison.present,
        None => {
            alone = setup.run(&trace).map_err(|fault| machine::impossible(&fault))?;
            &alone
        }
    };
    let mut text = if arguments.json {
        let (start, icpi, mcpi) = (setup.start, present.icpi(), present.mcpi());
        let object = Simulation { start, assumptions: &assumptions, icpi, mcpi, summary: present };
        json::pretty(&Versioned::new(SCHEMA, object))?
    } else {
        terminal::layout::simulation(present, &setup, &assumptions)
    };
    if let Some((folder, comparison)) = arguments.output.as_ref().zip(comparison.as_ref()) {
        interrupt::finish_first(|| write(folder, arguments.force, comparison))?;
        if !arguments.json {
            text += &format!("The page: {}.\n", folder.join(FILES[0]).display());
        }
    }
    crate::output::print(text.as_bytes())
}

/// Refuses files that are there. The folder itself is made once there is something to write.
fn check(folder: &Path, force: bool) -> miette::Result<()> {
    let there =
        FILES.map(|file| folder.join(file)).into_iter().filter(|file| file.symlink_metadata().is_ok());
    there.into_iter().try_for_each(|file| atomic_file::check(&file, existing(force)).or_misuse())
}

/// The path as it lies and under every order.
fn compared(arguments: &SimulateArguments, trace: &Trace, setup: Setup) -> miette::Result<Comparison> {
    let movable = MovablePart::new(trace);
    let plan = Plan {
        base: movable.base,
        alignment: ALIGNMENT,
        random_orders: arguments.random_orders,
        ..Plan::new(path_name(&arguments.trace), setup)
    };
    let bar = progress::bar("simulating orders");
    let comparison = plan.run(trace, &movable.graph, &mut |_, done| progress::set(&bar, done));
    bar.finish_and_clear();
    comparison.map_err(machine::refused)
}

fn path_name(trace: &Path) -> String {
    trace.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn write(folder: &Path, force: bool, comparison: &Comparison) -> miette::Result<()> {
    let mut document = document(comparison);
    document.manifest.command = provenance::command();
    let folder = Folder::open(folder, existing(force), &FILES)?;
    let page = folder.write(FILES[0], warmcore_report::render(&document).as_bytes());
    let figures = || folder.write(FILES[1], json::pretty(&ComparisonFigures::from(comparison))?.as_bytes());
    page.and_then(|()| figures()).map_err(|error| folder.taken_back(error))
}
