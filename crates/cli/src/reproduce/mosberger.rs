//! `warmcore reproduce mosberger-1996`: evidence by tracing and simulating the laboratory's stacks, and by round trips of
//! native programs.

mod native;

use super::{FILES, figures, finish};
use crate::args::reproduce::MosbergerArguments;
use crate::provenance::PROGRAM;
use crate::{checkpoint, interrupt, progress, provenance};
use miette::{IntoDiagnostic, WrapErr};
use native::Programs;
use warmcore_linux::Probe;
use warmcore_published::mosberger_1996::laboratory::{Effort, simulate};
use warmcore_published::mosberger_1996::{Measurements, source};

/// What is said where no native programs were given.
const NOT_NATIVE: &str = "Round trips on this machine were not measured: `scripts/build-lab --native FOLDER` builds the programs \
    from the source, and `--native FOLDER` measures them.";

pub(crate) fn run(arguments: &MosbergerArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    let programs = arguments.native.as_deref().map(Programs::find).transpose()?;
    let quick = arguments.common.quick;
    let output = &arguments.common.output;
    let machine = Probe::new().machine().into_diagnostic().wrap_err("cannot look at the machine")?.machine;
    let subject = format!(
        "{PROGRAM} {}\n{} on {}\nfigures {}\nnative {}\n",
        env!("CARGO_PKG_VERSION"),
        source().name,
        machine.name,
        figures.join(", "),
        programs.as_ref().map_or_else(|| "none".to_owned(), Programs::identity),
    );
    let (folder, journal) = checkpoint::open::<Vec<f64>>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let mut measurements = simulated(if quick { Effort::QUICK } else { Effort::FULL })?;
    measurements.machine.clone_from(&machine.name);
    match programs {
        Some(programs) => {
            let blocks = if quick { native::QUICK } else { native::FULL };
            let measured = programs.measure(blocks, &journal, stop)?;
            if !native::add(&mut measurements, &measured) {
                return Err(checkpoint::interrupted(&folder, &journal));
            }
        }
        None => measurements.missing.push(NOT_NATIVE.to_owned()),
    }
    let manifest = provenance::from_measurement(&machine);
    finish(&source().conclude(measurements, figures), manifest, &folder, output.json)
}

/// Everything but the round trips.
fn simulated(effort: Effort) -> miette::Result<Measurements> {
    let bar = progress::bar("tracing");
    let measurements = simulate(effort, &mut |_, done| progress::set(&bar, done));
    bar.finish_and_clear();
    measurements.into_diagnostic().wrap_err("the laboratory")
}
