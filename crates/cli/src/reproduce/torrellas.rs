//! `warmcore reproduce torrellas-1995`: evidence by simulation.

use super::{FILES, figures, finish};
use crate::args::reproduce::TorrellasArguments;
use crate::provenance::PROGRAM;
use crate::{checkpoint, interrupt, progress, provenance};
use miette::miette;
use warmcore_published::torrellas_1995::{Part, Precision, PredictionError, Progress, predict, source};

pub(crate) fn run(arguments: &TorrellasArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    let mut precision = if arguments.common.quick { Precision::QUICK } else { Precision::FULL };
    if !figures.contains(&"open") {
        precision.varied = 0;
    }
    let seed = arguments.seed.unwrap_or(1);
    let output = &arguments.common.output;
    let subject = format!(
        "{PROGRAM} {}\n{}\nfigures {}\nseed {seed}\n",
        env!("CARGO_PKG_VERSION"),
        source().name,
        figures.join(", ")
    );
    let (folder, journal) = checkpoint::open::<Part>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let predictions = predict(
        seed,
        precision,
        Progress {
            known: &|key| journal.known(key).cloned(),
            keep: &|key, part| Ok(journal.append(key, part)?),
            tell: &|done, of| progress::set(&bar, done as f64 / of as f64),
            stop,
        },
    );
    bar.finish_and_clear();
    let predictions = predictions.map_err(|error| match error {
        PredictionError::Interrupted => checkpoint::interrupted(&folder, &journal),
        error => miette!("{error}"),
    })?;
    let manifest = provenance::from_seed("what processes do", seed, None);
    finish(&source().conclude(predictions, figures), manifest, &folder, output.json)
}
