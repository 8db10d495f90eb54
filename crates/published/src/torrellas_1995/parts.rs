//! The finished parts of a reproduction, each known by what it depends on, so that an interrupted one goes on where it ended.

use super::calibrate::Fit;
use super::gaps::Places;
use crate::source::KeepError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::{Outcome, Tally, simulate_until};
use warmcore_units::Fault;

/// A part, as it is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Part {
    /// What a workload was fitted to.
    Fit(Fit),
    /// How far a calibration is from what it may see.
    Misfit(f64),
    /// The runs of a workload under a scheduler.
    Runs(Vec<Tally>),
    /// Our values for every claim under another setting.
    Values(BTreeMap<String, Places>),
}

/// Why there are no predictions.
#[derive(Debug, thiserror::Error)]
pub enum PredictionError {
    /// A scenario is impossible.
    #[error("{0}")]
    Impossible(#[from] Fault),
    /// A finished part cannot be kept.
    #[error("cannot keep what is finished: {0}")]
    Keep(KeepError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Where parts are kept, who learns of progress, and whether to go on.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// The part that an earlier run finished under this key.
    pub known: &'a (dyn Fn(&str) -> Option<Part> + Sync),
    /// Keeps a part under its key.
    pub keep: &'a (dyn Fn(&str, &Part) -> Result<(), KeepError> + Sync),
    /// Learns how many of how many steps are done.
    pub tell: &'a (dyn Fn(usize, usize) + Sync),
    /// Set once the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// Counts steps while parts are made.
pub(super) struct Steps<'a> {
    progress: Progress<'a>,
    done: AtomicUsize,
    all: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(progress: Progress<'a>, all: usize) -> Self {
        Self { progress, done: AtomicUsize::new(0), all }
    }

    /// Another step is done.
    pub(super) fn step(&self) {
        (self.progress.tell)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.all);
    }

    /// # Errors
    /// If the user asked to stop.
    pub(super) fn check(&self) -> Result<(), PredictionError> {
        match self.progress.stop.load(Ordering::Relaxed) {
            true => Err(PredictionError::Interrupted),
            false => Ok(()),
        }
    }

    /// All runs of `scenario`.
    ///
    /// # Errors
    /// If it is impossible, or the user asked to stop; then within moments.
    pub(super) fn simulate(&self, scenario: &RunQueueScenario) -> Result<Outcome, PredictionError> {
        simulate_until(scenario, self.progress.stop)?.ok_or(PredictionError::Interrupted)
    }

    /// The part under `key`: as an earlier run kept it, or made now and kept.
    pub(super) fn part<T: Clone>(
        &self,
        key: &str,
        get: impl Fn(Part) -> Option<T>,
        put: impl Fn(T) -> Part,
        make: impl FnOnce() -> Result<T, PredictionError>,
    ) -> Result<T, PredictionError> {
        if let Some(known) = (self.progress.known)(key).and_then(get) {
            return Ok(known);
        }
        self.check()?;
        let made = make()?;
        (self.progress.keep)(key, &put(made.clone())).map_err(PredictionError::Keep)?;
        Ok(made)
    }
}
