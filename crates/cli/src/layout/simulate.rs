//! `warmcore layout simulate`.

use super::{input, machine};
use crate::args::layout::SimulateArguments;
use crate::json::{self, Versioned};
use crate::{interrupt, terminal};
use serde::Serialize;
use warmcore_layout::simulate::{Start, Summary};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

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
    let trace = input::trace(&arguments.trace)?;
    let machine::Simulated { setup, assumptions } = machine::simulated(&arguments.machine, &trace)?;
    let summary = setup.run(&trace).map_err(|fault| machine::impossible(&fault))?;
    let text = if arguments.json {
        let (start, icpi, mcpi) = (setup.start, summary.icpi(), summary.mcpi());
        let object = Simulation { start, assumptions: &assumptions, icpi, mcpi, summary: &summary };
        json::pretty(&Versioned::new(SCHEMA, object))?
    } else {
        terminal::layout::simulation(&summary, &setup, &assumptions)
    };
    crate::output::print(text.as_bytes())
}
