//! `warmcore reproduce foong-2004`.

use crate::args::FoongArguments;
use crate::folder::Folder;
use crate::terminal::sentence;
use crate::transfer::{experiments, explained, processes, usable_cpus, wires};
use crate::{interrupt, provenance, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::time::Duration;
use warmcore_linux::Probe;
use warmcore_linux::counters::Event;
use warmcore_measure::Model;
use warmcore_measure::blocks::Blocks;
use warmcore_measure::transfer::{self, Experiment, Figures, Load, Options, Results};
use warmcore_published::foong_2004::{Affinity, Direction, Point, Runs, Summary, conclude, present};
use warmcore_record::Existing;
use warmcore_units::Bytes;

const REPORT: &str = "report.html";
const SUMMARY: &str = "claims.json";

/// What plays the source's models. On its kernel all interrupts went to the first cpu unless they were
/// directed elsewhere.
const PLAYED: [(Affinity, Model); 5] = [
    (Affinity::Nobody, Model::Cpu0),
    (Affinity::ProcessOnly, Model::ProcessCpu0),
    (Affinity::InterruptOnly, Model::InterruptOnly),
    (Affinity::Full, Model::Full),
    (Affinity::Today, Model::None),
];

/// The sizes of the source's figures.
const SIZES: [u64; 6] = [64, 256, 1024, 4096, 16_384, 65_536];
const QUICK_SIZES: [u64; 2] = [1024, 65_536];

/// How long a run is measured, and how often.
const FULL: (Duration, usize) = (Duration::from_millis(1000), 5);
const QUICK: (Duration, usize) = (Duration::from_millis(400), 3);

pub(crate) fn run(arguments: &FoongArguments) -> miette::Result<()> {
    let options = options(arguments)?;
    for options in &options {
        options.check().map_err(|fault| explained(fault.into()))?;
    }
    let machine = Probe::new().machine().into_diagnostic().wrap_err("cannot look at the machine")?.machine;
    let site = wires(arguments.connections, true)?;
    let existing = if arguments.output.force { Existing::Replace } else { Existing::Refuse };
    let folder = Folder::open(&arguments.out, existing, &[REPORT, SUMMARY])?;

    let experiments = experiments(&options, &site, interrupt::catch()?)?;
    let points: Vec<Point> = experiments.iter().map(point).collect();
    let claims = conclude(&points);
    let summary = serde_json::to_string_pretty(&Summary::of(&points, &claims)).into_diagnostic()?;
    let document = present::document(&points, &claims, provenance::of_measurement(&machine));
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, warmcore_report::render(&document).as_bytes())?;
    if arguments.output.json {
        return crate::print(format!("{summary}\n").as_bytes());
    }
    let (claims, report) = (terminal::claims::measured(&claims), folder.file(REPORT));
    crate::print(format!("{claims}\nThe report: {}\n", report.display()).as_bytes())
}

/// An experiment for each direction and size.
fn options(arguments: &FoongArguments) -> miette::Result<Vec<Options>> {
    let (sizes, (window, blocks)) =
        if arguments.quick { (&QUICK_SIZES[..], QUICK) } else { (&SIZES[..], FULL) };
    let mut sizes = if arguments.sizes.is_empty() { sizes.to_vec() } else { arguments.sizes.clone() };
    sizes.sort_unstable();
    sizes.dedup();
    let (cpus, ends) = (usable_cpus()?, processes()?);
    let of = |(direction, size)| Options {
        connections: arguments.connections,
        cpus: cpus.clone(),
        ends: ends.clone(),
        load: Load { direction, size: Bytes(size), rate: None },
        models: PLAYED.map(|(_, model)| model).to_vec(),
        window,
        blocks: Blocks { count: blocks, ..Blocks::default() },
    };
    let each = transfer::Direction::ALL
        .into_iter()
        .flat_map(|direction| sizes.iter().map(move |&size| (direction, size)));
    Ok(each.map(of).collect())
}

/// What was measured, in the source's terms.
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
    let values = |figure: fn(&Figures) -> Option<f64>| results.values(figure).unwrap_or_default();
    Runs {
        throughput: values(|figures| Some(figures.throughput)),
        cpu_use: values(|figures| Some(figures.cpu_use)),
        cost: values(|figures| figures.cycles_per_bit),
        l2_misses: values(|figures| figures.counted.of(Event::L2Misses)),
        l3_misses: values(|figures| figures.counted.of(Event::L3Misses)),
    }
}
