//! The results of a comparison for other programs. A figure that is not known is null.

use serde::Serialize;
use warmcore_measure::Cycles;
use warmcore_measure::counts::{CountedResults, CoverageResults};
use warmcore_measure::transfer::{Compared, Ends, Experiment, Results, TransferFigures};
use warmcore_stats::Spread;
use warmcore_stats::paired::Change;

/// Comparisons that were made one after the other.
#[derive(Serialize)]
pub(super) struct Comparisons<'a> {
    schema: u32,
    /// The other host; null over virtual wires.
    to: Option<&'a str>,
    /// Whether virtual wires used segmentation offload.
    offloads: bool,
    comparisons: Vec<TransferComparison>,
}

/// One of them.
#[derive(Serialize)]
struct TransferComparison {
    size_bytes: u64,
    direction: &'static str,
    connections: u8,
    ends: &'static str,
    /// Of each connection; null for as many as can be.
    rate_bits_per_s: Option<f64>,
    seconds: f64,
    blocks: usize,
    cpus: Vec<u32>,
    /// Where the number of cycles comes from, in words.
    cycles: String,
    /// The clock rate they are computed with; null if they are counted, or unknown.
    clock_hz: Option<f64>,
    /// What the processor's counters have counted, and why not the rest.
    counters: [CoverageResults; 4],
    /// The model that the others are compared with.
    base: &'static str,
    models: Vec<OfModel>,
    /// The base a second time, compared with itself: A/A.
    control: OfModel,
}

#[derive(Serialize)]
struct OfModel {
    model: &'static str,
    throughput_bits_per_s: Option<Spread>,
    cpu_use: Option<Spread>,
    bits_per_busy_cpu_second: Option<Spread>,
    cycles_per_bit: Option<Spread>,
    /// What the processor counted for each bit.
    counted: CountedResults,
    idle: Option<Spread>,
    stolen: Option<Spread>,
    softirq: Option<Spread>,
    migrations_per_s: Option<Spread>,
    preemptions_per_s: Option<Spread>,
    receive_softirqs_per_s: Option<Spread>,
    rescheduling_interrupts_per_s: Option<Spread>,
    /// Runs that were disturbed and made again.
    discarded_runs: usize,
    /// Blocks in which every run was disturbed.
    disturbed_blocks: usize,
    change_of_throughput: Option<Changed>,
    change_of_bits_per_busy_cpu_second: Option<Changed>,
    change_of_cycles_per_bit: Option<Changed>,
}

/// A change against the base, as a fraction of it, with its 95% interval.
#[derive(Serialize)]
struct Changed {
    mean: f64,
    low: f64,
    high: f64,
    /// `more`, `less` or `not-visible`; null for the control.
    verdict: Option<&'static str>,
}

impl<'a> Comparisons<'a> {
    pub(super) fn new(experiments: &[Experiment], offloads: bool, to: Option<&'a str>) -> Self {
        let offloads = offloads && to.is_none();
        Self {
            schema: 1,
            to,
            offloads,
            comparisons: experiments.iter().map(TransferComparison::new).collect(),
        }
    }
}

impl TransferComparison {
    fn new(experiment: &Experiment) -> Self {
        let Experiment { options, results, control, .. } = experiment;
        let of_place = |(place, results): (usize, &Results)| {
            OfModel::new(results, &|figure| experiment.compared(place, figure).map(Changed::new))
        };
        Self {
            size_bytes: options.load.size.0,
            direction: options.load.direction.name(),
            connections: options.connections,
            ends: match options.ends {
                Ends::Threads => "threads",
                Ends::Processes(_) => "processes",
            },
            rate_bits_per_s: options.load.rate.map(|rate| rate.0),
            seconds: options.window.as_secs_f64(),
            blocks: options.blocks.count,
            cpus: options.cpus.iter().map(|cpu| cpu.0).collect(),
            cycles: experiment.cycles.to_string(),
            clock_hz: match experiment.cycles {
                Cycles::AtClock(clock) => Some(clock.0),
                Cycles::Counted | Cycles::Unknown => None,
            },
            counters: experiment.coverage.results(),
            base: results[0].model.name(),
            models: results.iter().enumerate().map(of_place).collect(),
            control: OfModel::new(control, &|figure| experiment.against_itself(figure).map(Changed::bare)),
        }
    }
}

/// Reads a figure.
type Figure = fn(&TransferFigures) -> Option<f64>;

impl OfModel {
    fn new(results: &Results, changed: &dyn Fn(Figure) -> Option<Changed>) -> Self {
        let spread = |figure: Figure| results.spread(figure);
        let throughput: Figure = |figures| Some(figures.throughput);
        let (efficiency, cost): (Figure, Figure) =
            (|figures| figures.bits_per_busy_second, |figures| figures.cycles_per_bit);
        Self {
            model: results.model.name(),
            throughput_bits_per_s: spread(throughput),
            cpu_use: spread(|figures| Some(figures.cpu_use)),
            bits_per_busy_cpu_second: spread(efficiency),
            cycles_per_bit: spread(cost),
            counted: CountedResults::from_fn(|event| results.spread(|figures| figures.counted.get(event))),
            idle: spread(|figures| Some(figures.idle)),
            stolen: spread(|figures| Some(figures.stolen)),
            softirq: spread(|figures| Some(figures.softirq)),
            migrations_per_s: spread(|figures| figures.migrations),
            preemptions_per_s: spread(|figures| Some(figures.preemptions)),
            receive_softirqs_per_s: spread(|figures| figures.receive_softirqs),
            rescheduling_interrupts_per_s: spread(|figures| figures.rescheduling),
            discarded_runs: results.discarded,
            disturbed_blocks: results.disturbed,
            change_of_throughput: changed(throughput),
            change_of_bits_per_busy_cpu_second: changed(efficiency),
            change_of_cycles_per_bit: changed(cost),
        }
    }
}

impl Changed {
    fn bare(Change { mean, low, high }: Change) -> Self {
        Self { mean, low, high, verdict: None }
    }

    fn new(compared: Compared) -> Self {
        Self { verdict: Some(compared.verdict.name()), ..Self::bare(compared.change) }
    }
}
