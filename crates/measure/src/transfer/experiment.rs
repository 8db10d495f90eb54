//! Models in turn: each once in every block, and the first of them twice.

use super::error::TransferError;
use super::figures::{Compared, Results, TransferFigures, compare};
use super::options::Options;
use super::run::{Outcome, run};
use super::site::Site;
use crate::blocks::{BlockError, BlockRun};
use crate::counts::{Coverage, Cycles};
use std::sync::atomic::AtomicBool;
use warmcore_linux::counters::Source;
use warmcore_linux::{Counters, EventCounts, HostConditions, Probe};
use warmcore_stats::paired::{Change, change};
use warmcore_units::CpuId;

/// What a comparison came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// What was asked for.
    pub options: Options,
    /// Whether both ends of every connection are on this machine, whose cpus then work for both.
    pub is_on_one_machine: bool,
    /// The cpus on which time was counted.
    pub cpus: Vec<CpuId>,
    /// What cycles are told by.
    pub cycles: Cycles,
    /// What the processor's counters have counted.
    pub coverage: Coverage,
    /// What each model came to, in the order asked for; the first is the base.
    pub results: Vec<Results>,
    /// What the base came to when it was tried a second time in each block.
    pub control: Results,
}

impl Experiment {
    /// By how much the model at `place` has more of `figure` than the base; `None` for the base itself,
    /// and where the figure could not be had.
    #[must_use]
    pub fn compared(
        &self,
        place: usize,
        figure: impl Fn(&TransferFigures) -> Option<f64>,
    ) -> Option<Compared> {
        let base = self.results.first().filter(|_| place > 0)?;
        compare(self.results.get(place)?, base, &self.control, figure)
    }

    /// By how much the base had more of `figure` the second time in each block than the first: the A/A
    /// control.
    #[must_use]
    pub fn against_itself(&self, figure: impl Fn(&TransferFigures) -> Option<f64>) -> Option<Change> {
        let base = self.results.first()?.values(&figure)?;
        change(&self.control.values(&figure)?, &base)
    }
}

/// Tries every model of `options` between the ends of `site`, with counters from `source`. `progress` is told how many runs are done,
/// of how many; runs that are made again come on top.
///
/// # Errors
/// If the options cannot be used, an end fails, or `stop` is set. Nothing is left behind then either.
pub fn experiment(
    options: &Options,
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
    let of = |(&model, runs): (_, &Vec<BlockRun<Outcome>>)| Results::new(model, runs, cpus.len(), cycles);
    let mut results: Vec<Results> = alternatives.iter().zip(&tried).map(of).collect();
    let control = results.pop().expect("the base is tried twice");
    let is_on_one_machine = matches!(site, Site::Lab(_));
    Ok(Experiment { options: options.clone(), is_on_one_machine, cpus, cycles, coverage, results, control })
}

/// On a virtual wire all work is done where the ends run. Packets of another host come to any cpu.
fn counted_cpus(options: &Options, site: &Site) -> Vec<CpuId> {
    let machine = match site {
        Site::Lab(_) => None,
        Site::Host(_) => Probe::new().machine().ok(),
    };
    machine
        .map_or_else(|| options.cpus.clone(), |probed| probed.machine.cpus.iter().map(|cpu| cpu.id).collect())
}
