//! Compares models: each runs once in every block, and the first one twice.

use super::error::TransferError;
use super::figures::{Compared, Results, TransferFigures, compare};
use super::options::TransferOptions;
use super::run::{TransferCounts, run};
use super::site::Site;
use crate::blocks::{BlockError, BlockRun};
use crate::counts::{Coverage, Cycles};
use std::sync::atomic::AtomicBool;
use warmcore_linux::counters::Source;
use warmcore_linux::{Counters, EventCounts, HostConditions, Probe};
use warmcore_stats::paired::{Change, change};
use warmcore_units::CpuId;

/// The results of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The options of the comparison.
    pub options: TransferOptions,
    /// Whether both ends of every connection are on this machine, so that its cpus work for both.
    pub is_on_one_machine: bool,
    /// The cpus on which time was counted.
    pub cpus: Vec<CpuId>,
    /// How cycles were determined.
    pub cycles: Cycles,
    /// Which events the processor's counters counted.
    pub coverage: Coverage,
    /// The results of each model, in the order of the options. The first is the base.
    pub results: Vec<Results>,
    /// The results of the base's second run in each block.
    pub control: Results,
}

impl Experiment {
    /// How much more of `figure` the model at `place` has than the base; `None` for the base itself,
    /// and if the figure is not available.
    #[must_use]
    pub fn compared(
        &self,
        place: usize,
        figure: impl Fn(&TransferFigures) -> Option<f64>,
    ) -> Option<Compared> {
        let base = self.results.first().filter(|_| place > 0)?;
        compare(self.results.get(place)?, base, &self.control, figure)
    }

    /// How much more of `figure` the base had in its second run of each block than in its first: the
    /// A/A control.
    #[must_use]
    pub fn against_itself(&self, figure: impl Fn(&TransferFigures) -> Option<f64>) -> Option<Change> {
        let base = self.results.first()?.values(&figure)?;
        change(&self.control.values(&figure)?, &base)
    }
}

/// Runs every model of `options` between the ends of `site`, with counters from `source`. Calls
/// `progress` with the numbers of finished and of planned runs; repeated runs are not planned.
///
/// # Errors
/// If the options cannot be used, an end fails, or `stop` is set. Even then nothing is left behind.
pub fn experiment(
    options: &TransferOptions,
    site: &Site,
    source: &dyn Source,
    progress: &mut dyn FnMut(usize, usize),
    stop: &AtomicBool,
) -> Result<Experiment, TransferError> {
    options.check()?;
    site.check(&options.models)?;
    let HostConditions { clock_rate: clock, .. } = Probe::new().host();
    let mut counters = Counters::open(source, &counted_cpus(options, site));
    let base = options.models[0];
    let alternatives: Vec<_> = options.models.iter().copied().chain([base]).collect();
    let (mut done, all) = (0, alternatives.len() * options.blocks.count);
    let once = |alternative: usize| {
        let outcome = run(options, site, &mut counters, alternatives[alternative], stop)?;
        done += 1;
        progress(done.min(all), all);
        Ok(outcome)
    };
    let tried = options.blocks.run(alternatives.len(), stop, once).map_err(|error| match error {
        BlockError::Run(error) => error,
        BlockError::Interrupted => TransferError::Interrupted,
    })?;
    let counted: Vec<&EventCounts> = tried.iter().flatten().map(|run| &run.outcome.counted).collect();
    let (cycles, coverage) =
        (Cycles::new(counted.iter().copied(), clock), Coverage::new(&counters, &counted));
    let cpus = counters.cpus().to_vec();
    let of =
        |(&model, runs): (_, &Vec<BlockRun<TransferCounts>>)| Results::new(model, runs, cpus.len(), cycles);
    let mut results: Vec<Results> = alternatives.iter().zip(&tried).map(of).collect();
    let control = results.pop().expect("the base is tried twice");
    let is_on_one_machine = matches!(site, Site::Lab(_));
    Ok(Experiment { options: options.clone(), is_on_one_machine, cpus, cycles, coverage, results, control })
}

/// Cpus on which time is counted. On a virtual wire all work is done where the ends run. Packets of
/// another host may arrive on any cpu.
fn counted_cpus(options: &TransferOptions, site: &Site) -> Vec<CpuId> {
    let machine = match site {
        Site::Lab(_) => None,
        Site::Host(_) => Probe::new().machine().ok(),
    };
    machine
        .map_or_else(|| options.cpus.clone(), |probed| probed.machine.cpus.iter().map(|cpu| cpu.id).collect())
}
