//! `warmcore reproduce salehi-1994`: evidence by simulation.

use super::{FILES, figures, finish};
use crate::args::reproduce::SalehiArguments;
use crate::checkpoint::Checkpoint;
use crate::misuse::misuse;
use crate::{documents, flags, interrupt, point, progress, provenance};
use miette::miette;
use warmcore_published::salehi_1994::{
    FigureName, ReproduceError, ReproductionOptions, SimulationPlan, reproduce, source,
};
use warmcore_scenario::Traffic;

pub(crate) fn run(arguments: &SalehiArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    let options = options(arguments, &figures)?;
    // What cannot be reproduced is refused before anything is written.
    SimulationPlan::new(&options).map_err(explained)?;
    let output = &arguments.common.output;
    let ReproductionOptions { seed, precision, .. } = options;
    let request = format!("figures {}\nseed {seed}\nprecision {precision}\n", figures.join(", "));
    let stop = interrupt::catch()?;
    let (folder, kept) = Checkpoint::open(output, &FILES, &options.profile, &Traffic::default(), &request)?;

    let bar = progress::bar("simulating");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let simulations =
        reproduce(options, |point| kept.known(point), |point, result| kept.keep(point, result), tell, stop);
    bar.finish_and_clear();
    let simulations = simulations.map_err(|error| match error {
        ReproduceError::Interrupted => kept.interrupted(&folder),
        error => explained(error),
    })?;

    let ReproductionOptions { profile, seed, .. } = &simulations.options;
    let manifest = provenance::from_simulation(profile, *seed, None);
    finish(&source().conclude(simulations, figures), manifest, &folder, output.json)
}

fn options(arguments: &SalehiArguments, figures: &[&str]) -> miette::Result<ReproductionOptions> {
    let mut options =
        if arguments.common.quick { ReproductionOptions::quick() } else { ReproductionOptions::default() };
    if let Some(source) = &arguments.profile {
        options.source = source.clone();
        options.profile = documents::profile(source)?;
    }
    options.precision = arguments.precision.unwrap_or(options.precision);
    options.seed = arguments.seed.unwrap_or(options.seed);
    options.figures = Some(figures.iter().filter_map(|name| FigureName::named(name)).collect());
    Ok(options)
}

fn explained(error: ReproduceError) -> miette::Report {
    match error {
        ReproduceError::Point(error) => point::explained(error),
        ReproduceError::Fault(fault) => flags::refused(&fault),
        ReproduceError::Profile(error) => misuse(format!("--profile does not fit: {error}")),
        error => miette!("{error}"),
    }
}
