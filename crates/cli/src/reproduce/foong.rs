//! `warmcore reproduce foong-2004`: evidence by transfers over virtual wires.

use super::{FILES, figures, finish};
use crate::args::reproduce::FoongArguments;
use crate::misuse::refuse_repeats;
use crate::provenance::PROGRAM;
use crate::terminal::sentence;
use crate::transfer::{each, explained, processes, usable_cpus, wires};
use crate::{checkpoint, interrupt, provenance};
use miette::{IntoDiagnostic, WrapErr};
use std::time::Duration;
use warmcore_linux::Probe;
use warmcore_linux::counters::{Event, Kernel};
use warmcore_measure::Model;
use warmcore_measure::blocks::BlockDesign;
use warmcore_measure::transfer::{
    self, Experiment, Load, Results, TransferError, TransferFigures, TransferOptions, experiment,
};
use warmcore_published::foong_2004::{Affinity, Direction, Measurements, Point, Runs, source};
use warmcore_units::Bytes;

/// The model of ours for each model of Foong 2004, on whose kernel all interrupts went to the first cpu unless
/// they were directed elsewhere.
const PLAYED: [(Affinity, Model); 5] = [
    (Affinity::Nobody, Model::Cpu0),
    (Affinity::ProcessOnly, Model::ProcessCpu0),
    (Affinity::InterruptOnly, Model::InterruptOnly),
    (Affinity::Full, Model::Full),
    (Affinity::Today, Model::None),
];

/// The sizes in the figures of Foong 2004.
const SIZES: [u64; 6] = [64, 256, 1024, 4096, 16_384, 65_536];

/// How long a run is measured, and how often. A quick look has all sizes too, because a claim about the largest
/// effect over six sizes cannot be tested on two.
const FULL: (Duration, usize) = (Duration::from_millis(1000), 5);
const QUICK: (Duration, usize) = (Duration::from_millis(250), 3);

pub(crate) fn run(arguments: &FoongArguments) -> miette::Result<()> {
    let figures = figures(&source(), &arguments.common)?;
    refuse_repeats("size", &arguments.sizes)?;
    let options = options(arguments)?;
    for options in &options {
        options.check().map_err(|fault| explained(fault.into()))?;
    }
    let machine = Probe::new().machine().into_diagnostic().wrap_err("cannot look at the machine")?.machine;
    let site = wires(arguments.connections, true)?;
    let output = &arguments.common.output;
    let sizes: Vec<u64> = options.iter().map(|options| options.load.size.0).collect();
    let subject = format!(
        "{PROGRAM} {}\n{} on {}\nfigures {}\nsizes {sizes:?}\n",
        env!("CARGO_PKG_VERSION"),
        source().name,
        machine.name,
        figures.join(", ")
    );
    let (folder, journal) = checkpoint::open::<Point>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let points = each(&options, |options, progress| {
        let key = key(options);
        if let Some(known) = journal.known(&key) {
            return Ok(known.clone());
        }
        let done =
            experiment(options, &site, &Kernel::default(), progress, stop).map_err(|error| match error {
                TransferError::Interrupted => checkpoint::interrupted(&folder, &journal),
                error => explained(error),
            });
        let point = point(&done?);
        journal.append(&key, &point).into_diagnostic()?;
        Ok(point)
    })?;
    let manifest = provenance::from_measurement(&machine);
    let measurements = Measurements { machine: machine.name, points };
    finish(&source().conclude(measurements, figures), manifest, &folder, output.json)
}

/// The key of a point's runs in the journal.
fn key(options: &TransferOptions) -> String {
    let TransferOptions { connections, cpus, load, window, blocks, .. } = options;
    format!(
        "{} {} bytes\n{connections} connections on {cpus:?}\n{} blocks of {window:?}",
        load.direction.name(),
        load.size.0,
        blocks.count
    )
}

/// An experiment for each direction and size.
fn options(arguments: &FoongArguments) -> miette::Result<Vec<TransferOptions>> {
    let (window, blocks) = if arguments.common.quick { QUICK } else { FULL };
    let mut sizes = if arguments.sizes.is_empty() { SIZES.to_vec() } else { arguments.sizes.clone() };
    sizes.sort_unstable();
    sizes.dedup();
    let (cpus, ends) = (usable_cpus()?, processes()?);
    let of = |(direction, size)| TransferOptions {
        connections: arguments.connections,
        cpus: cpus.clone(),
        ends: ends.clone(),
        load: Load { direction, size: Bytes(size), rate: None },
        models: PLAYED.map(|(_, model)| model).to_vec(),
        window,
        blocks: BlockDesign { count: blocks, ..BlockDesign::default() },
    };
    let each = transfer::Direction::ALL
        .into_iter()
        .flat_map(|direction| sizes.iter().map(move |&size| (direction, size)));
    Ok(each.map(of).collect())
}

/// What was measured, in the terms of Foong 2004.
fn point(experiment: &Experiment) -> Point {
    let affinity = |model| PLAYED.iter().find(|(_, played)| *played == model).map(|(affinity, _)| *affinity);
    let of_model = |results: &Results| Some((affinity(results.model)?, runs(results)));
    Point {
        direction: match experiment.options.load.direction {
            transfer::Direction::Transmit => Direction::Transmit,
            transfer::Direction::Receive => Direction::Receive,
        },
        size: experiment.options.load.size.0,
        runs: experiment.results.iter().filter_map(of_model).collect(),
        control: runs(&experiment.control),
        cycles: sentence(&experiment.cycles.to_string()),
        counters: experiment.coverage.to_string(),
    }
}

fn runs(results: &Results) -> Runs {
    let values = |figure: fn(&TransferFigures) -> Option<f64>| results.values(figure).unwrap_or_default();
    Runs {
        throughput: values(|figures| Some(figures.throughput)),
        cpu_use: values(|figures| Some(figures.cpu_use)),
        cost: values(|figures| figures.cycles_per_bit),
        l2_misses: values(|figures| figures.counted.get(Event::L2Misses)),
        l3_misses: values(|figures| figures.counted.get(Event::L3Misses)),
    }
}
