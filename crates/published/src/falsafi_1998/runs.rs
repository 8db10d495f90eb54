//! The results of the runs: the evidence for the claims.

use super::cost::cost_performance;
use super::measured::{Measured, Obtained};
use super::scatter::Scatter;
use super::setup::Setup;
use super::system::System;
use super::work::{App, Work};
use std::collections::BTreeMap;
use std::sync::Arc;
use warmcore_workload::programs::Size;

/// A value, or why there is none.
pub type Found<T> = Result<T, String>;

/// The clock that all cycles are of, in MHz.
pub const MHZ: f64 = 400.0;
/// Requesters of the bandwidth figures.
pub const REQUESTERS: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// All results, as a recipe sees them: one of the repetitions of each setup, and perhaps one run longer or shorter than it was.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The size of the programs' inputs.
    pub size: Size,
    /// What came of each run.
    pub results: Arc<BTreeMap<Setup, Obtained>>,
    /// How much the programs scatter.
    pub scatter: Arc<Scatter>,
    /// The number of the repetition that is seen.
    draw: usize,
    /// The run that is seen as taking so many times as long.
    lengthened: Option<(Setup, f64)>,
}

impl Runs {
    /// `results` with inputs of this `size`.
    #[must_use]
    pub fn new(size: Size, results: BTreeMap<Setup, Obtained>) -> Self {
        let scatter = Arc::new(Scatter::new(&results));
        Self { size, results: Arc::new(results), scatter, draw: 0, lengthened: None }
    }

    /// The repetition with this number.
    #[must_use]
    pub fn drawn(&self, draw: usize) -> Self {
        Self { draw, ..self.clone() }
    }

    /// The same, if `setup` took `factor` times as long.
    #[must_use]
    pub fn lengthened(&self, setup: Setup, factor: f64) -> Self {
        Self { lengthened: Some((setup, factor)), ..self.clone() }
    }

    /// The figures of a run.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub fn get(&self, setup: &Setup) -> Found<Measured> {
        let setup = &setup.draw(self.draw);
        match self.results.get(setup) {
            Some(Obtained::Measured(measured)) => Ok(match self.lengthened {
                Some((longer, factor)) if longer == *setup => measured.lengthened(factor),
                _ => *measured,
            }),
            Some(Obtained::Failed(reason)) => Err(format!("No result of {setup}: {reason}.")),
            None => Err(format!("No result of {setup}: it was not run.")),
        }
    }

    /// How many times as fast `setup` is as `other`.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn speedup(&self, setup: &Setup, other: &Setup) -> Found<f64> {
        Ok(self.get(other)?.cycles as f64 / self.get(setup)?.cycles as f64)
    }

    /// By how many percent `setup` is faster than `other`.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn gain(&self, setup: &Setup, other: &Setup) -> Found<f64> {
        Ok(100.0 * (self.speedup(setup, other)? - 1.0))
    }

    /// Percent of the compute processors' time that is computing.
    ///
    /// # Errors
    /// If there is no result.
    pub fn computing(&self, setup: &Setup) -> Found<f64> {
        Ok(self.get(setup)?.computing)
    }

    /// Cycles of a remote read or request.
    ///
    /// # Errors
    /// If there is no result.
    pub fn round_trip(&self, setup: &Setup) -> Found<f64> {
        self.get(setup)?.round_trip.ok_or_else(|| format!("{setup} has no round trip."))
    }

    /// MB/s that were read.
    ///
    /// # Errors
    /// If there is no result.
    pub fn bandwidth(&self, setup: &Setup) -> Found<f64> {
        let bytes = self.get(setup)?.bandwidth.ok_or_else(|| format!("{setup} has no bandwidth."))?;
        Ok(MHZ * bytes)
    }

    /// The greatest bandwidth of `of` over the requesters, in MB/s.
    ///
    /// # Errors
    /// If a run has no result.
    pub fn peak(&self, of: impl Fn(u32) -> Setup) -> Found<f64> {
        let values = REQUESTERS.into_iter().map(|requesters| self.bandwidth(&of(requesters)));
        Ok(values.collect::<Found<Vec<_>>>()?.into_iter().fold(0.0, f64::max))
    }

    /// Cost over performance of nodes with `per_node` processors of which `setup` makes use, against those of `single`.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn cost_performance(&self, setup: &Setup, per_node: u32, single: &Setup) -> Found<f64> {
        Ok(cost_performance(per_node, self.speedup(setup, single)?))
    }

    /// Performance of `system` relative to S-COMA's, in percent; `vary` is what both have in common.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn relative(&self, system: System, app: App, vary: impl Fn(Setup) -> Setup) -> Found<f64> {
        let [ours, theirs] = [system, System::SComa].map(|system| vary(Setup::chapter_5(system, app)));
        Ok(100.0 * self.speedup(&ours, &theirs)?)
    }

    /// Whether an interrupt happened in any repetition of `setup`.
    #[must_use]
    pub fn interrupted(&self, setup: &Setup) -> bool {
        setup.all_draws().any(|run| match self.results.get(&run) {
            Some(Obtained::Measured(measured)) => measured.interrupts > 0,
            _ => false,
        })
    }

    /// Runs without a result, with the reasons.
    pub fn missing(&self) -> impl Iterator<Item = (&Setup, &str)> {
        self.results.iter().filter_map(|(setup, result)| match result {
            Obtained::Failed(reason) => Some((setup, reason.as_str())),
            Obtained::Measured(_) => None,
        })
    }

    /// Whether programs were run.
    #[must_use]
    pub fn has_programs(&self) -> bool {
        self.results.keys().any(|setup| matches!(setup.work, Work::Program(_)))
    }
}

/// The mean of `values`.
///
/// # Errors
/// If one of them is missing, or there are none.
pub fn mean(values: impl IntoIterator<Item = Found<f64>>) -> Found<f64> {
    let values = values.into_iter().collect::<Found<Vec<_>>>()?;
    match values.len() {
        0 => Err("There are no values.".to_owned()),
        count => Ok(values.iter().sum::<f64>() / count as f64),
    }
}
