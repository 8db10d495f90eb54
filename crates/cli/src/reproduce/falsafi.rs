//! `warmcore reproduce falsafi-1998`: evidence by simulation.

use super::{FILES, figures, finish};
use crate::args::reproduce::FalsafiArguments;
use crate::provenance::PROGRAM;
use crate::simulate::cluster::Meter;
use crate::{checkpoint, interrupt, progress, provenance};
use miette::miette;
use warmcore_published::falsafi_1998::{Obtained, Options, ReproduceError, Setup, reproduce, source};
use warmcore_workload::programs::Size;

/// The seed of the programs' random inputs, and the first of those of chapter 4's microbenchmarks.
const SEED: u64 = 1;

pub(crate) fn run(arguments: &FalsafiArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    let size = if arguments.common.quick { Size::Quick } else { Size::Published };
    let output = &arguments.common.output;
    // A run is known by all that its result depends on but the inputs' size, so that one journal serves any figures.
    let subject = format!("{PROGRAM} {}\n{}\ninputs {size:?}\n", env!("CARGO_PKG_VERSION"), source().name);
    let (folder, journal) = checkpoint::open::<Obtained>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let meter = Meter::default();
    let runs = reproduce(
        &Options { figures: figures.clone(), size },
        || meter.watch(&bar, stop),
        |setup: &Setup| journal.known(&setup.to_string()).cloned(),
        |setup, result| Ok(journal.append(&setup.to_string(), result)?),
        |part| progress::set(&bar, part),
        stop,
    );
    bar.finish_and_clear();
    let runs = runs.map_err(|error| match error {
        ReproduceError::Interrupted => checkpoint::interrupted(&folder, &journal),
        error @ ReproduceError::Keep(_) => miette!("{error}"),
    })?;
    let manifest = provenance::from_seed("the programs' inputs", SEED, None);
    finish(&source().conclude(runs, figures), manifest, &folder, output.json)
}
