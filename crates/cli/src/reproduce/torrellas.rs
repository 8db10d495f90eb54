//! `warmcore reproduce torrellas-1995`: evidence by simulation.

use super::{FILES, figures, finish};
use crate::args::reproduce::TorrellasArguments;
use crate::provenance::PROGRAM;
use crate::{checkpoint, interrupt, progress, provenance};
use miette::miette;
use warmcore_published::torrellas_1995::{Open, Precision, PredictionError, predict, source};

pub(crate) fn run(arguments: &TorrellasArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    let mut precision = if arguments.common.quick { Precision::QUICK } else { Precision::FULL };
    if !figures.contains(&"open") {
        precision.sensitivity = 0;
    }
    let seed = arguments.seed.unwrap_or(1);
    let output = &arguments.common.output;
    let subject = format!(
        "{PROGRAM} {}\n{}\nfigures {}\nseed {seed}\n",
        env!("CARGO_PKG_VERSION"),
        source().name,
        figures.join(", ")
    );
    // It takes a minute, and no point of it is worth keeping.
    let (folder, _journal) = checkpoint::open::<()>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let predictions = predict(Open::default(), seed, precision, tell, stop);
    bar.finish_and_clear();
    let predictions = predictions.map_err(|error| match error {
        PredictionError::Interrupted => interrupt::resumable(),
        PredictionError::Impossible(fault) => miette!("{fault}"),
    })?;
    let manifest = provenance::from_seed("what processes do", seed, None);
    finish(&source().conclude(predictions, figures), manifest, &folder, output.json)
}
