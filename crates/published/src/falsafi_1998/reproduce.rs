//! Executes the runs of a plan.

use super::measured::Obtained;
use super::plan;
use super::preliminaries::Preliminaries;
use super::runs::Runs;
use super::setup::Setup;
use core::cmp::Reverse;
use core::ops::ControlFlow;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warmcore_sim::cluster::Moment;
use warmcore_workload::programs::Size;

/// Why a finished run could not be saved.
pub type KeepError = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no reproduction.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A finished run could not be saved.
    #[error("cannot save a finished run: {0}")]
    Keep(KeepError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What is reproduced.
#[derive(Clone, Debug)]
pub struct Options {
    /// The names of the figures.
    pub figures: Vec<&'static str>,
    /// The size of the programs' inputs.
    pub size: Size,
}

/// Executes the runs that `options` ask for, side by side, the longest first.
///
/// `watch` gives who watches a run of a program. A run whose result is `known` is not executed again. Each new result is passed to `finished`, so that it can be saved. `progress`
/// is called with the part that is done, from 0 to 1. No run is begun once `stop` is set, and one that is stopped then has no result. A
/// run without figures is a result too: it says why.
///
/// # Errors
/// If `finished` fails, or `stop` is set.
pub fn reproduce<W: Fn(Moment) -> ControlFlow<()>>(
    options: &Options,
    watch: impl Fn() -> W + Sync,
    known: impl Fn(&Setup) -> Option<Obtained> + Sync,
    finished: impl Fn(&Setup, &Obtained) -> Result<(), KeepError> + Sync,
    progress: impl Fn(f64) + Sync,
    stop: &AtomicBool,
) -> Result<Runs, ReproduceError> {
    let mut setups: Vec<Setup> = plan::setups(&options.figures).into_iter().collect();
    setups.sort_by_key(|setup| (Reverse(setup.weight()), *setup));
    let all: u64 = setups.iter().map(Setup::weight).sum();
    let done = AtomicU64::new(0);
    let preliminaries = Preliminaries::default();
    let tell = |setup: &Setup| {
        let before = done.fetch_add(setup.weight(), Ordering::Relaxed);
        progress((before + setup.weight()) as f64 / all.max(1) as f64);
    };
    let obtain = |setup: Setup| {
        let result = match known(&setup) {
            Some(result) => result,
            None if stop.load(Ordering::Relaxed) => return Err(ReproduceError::Interrupted),
            None => {
                let result = Obtained::by(&setup, options.size, &preliminaries, &watch());
                if stop.load(Ordering::Relaxed) && matches!(result, Obtained::Failed(_)) {
                    return Err(ReproduceError::Interrupted);
                }
                finished(&setup, &result).map_err(ReproduceError::Keep)?;
                result
            }
        };
        tell(&setup);
        Ok((setup, result))
    };
    // Who is free takes the next one. Shares of the list would leave the long ones to one thread.
    let results: BTreeMap<Setup, Obtained> =
        setups.into_iter().par_bridge().map(obtain).collect::<Result<_, _>>()?;
    Ok(Runs::new(options.size, results))
}
