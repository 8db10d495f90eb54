//! The results of the runs: the evidence for the claims.

use super::cost::cost_performance;
use super::measured::{Measured, Obtained};
use super::setup::Setup;
use super::system::System;
use super::work::{App, Work};
use crate::Value;
use std::collections::BTreeMap;
use warmcore_workload::programs::Size;

/// A value, or why there is none.
pub type Found<T> = Result<T, String>;

/// The clock that all cycles are of, in MHz.
pub const MHZ: f64 = 400.0;
/// Requesters of the bandwidth figures.
pub const REQUESTERS: [u32; 6] = [1, 2, 4, 8, 12, 16];

/// All results.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The size of the programs' inputs.
    pub size: Size,
    /// What came of each run.
    pub results: BTreeMap<Setup, Obtained>,
}

impl Runs {
    /// The figures of a run.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub fn get(&self, setup: &Setup) -> Found<&Measured> {
        match self.results.get(setup) {
            Some(Obtained::Measured(measured)) => Ok(measured),
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

    /// A program's value: exact with the full input, without an interval with a scaled one.
    #[must_use]
    pub fn value(&self, value: f64) -> Value {
        match self.size {
            Size::Published => Value::exact(value),
            Size::Quick => Value { mean: value, low: f64::NEG_INFINITY, high: f64::INFINITY },
        }
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
