//! Would more affinity, longer quanta or attaching help a mix, by how much, and whom would it starve?
//!
//! Each alternative runs the same processes with the same demands. Its gain is how much sooner the applications finish
//! on average, or, if they run for ever, how much more they compute in the same time.
//!
//! | module | holds |
//! |---|---|
//! | `alternatives` | which other schedulers are tried |
//! | `figures` | what is compared of the runs, and what the comparison says |

mod alternatives;
mod figures;

pub use alternatives::alternatives;
pub use figures::{ApplicationFigures, Assessment, Measure, RunFigures, estimate, longest_wait};

use super::run::simulate;
use rayon::prelude::*;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::Scheduler;
use warmcore_units::Fault;

/// Another scheduler for the same mix.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// Its name for a reader.
    pub name: String,
    /// Its constants.
    pub scheduler: Scheduler,
}

/// A longest wait above this many seconds and [`STARVED_FACTOR`] times that of the scenario's scheduler is called starving.
pub const STARVED_S: f64 = 1.0;
/// See [`STARVED_S`].
pub const STARVED_FACTOR: f64 = 3.0;
/// A gain below this is not worth another scheduler.
pub const WORTH_PERCENT: f64 = 1.0;
/// Who makes an application slower by more than this is not advised.
pub const GREATEST_LOSS_PERCENT: f64 = 10.0;

/// What to do about a scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Advice<'a> {
    /// This alternative is faster, and harms nobody much.
    Change(&'a Assessment),
    /// No alternative is faster by [`WORTH_PERCENT`] beyond the scatter of the runs.
    Keep,
    /// This alternative is faster, but starves an application or makes it slower by more than [`GREATEST_LOSS_PERCENT`].
    Harmful(&'a Assessment),
    /// One run has no scatter to compare with.
    OneRun,
    /// Nothing says what caches cost, so alternatives differ by less than they would.
    NoMisses,
    /// There is no alternative.
    NoAlternative,
}

/// What to do, by what `assessed` alternatives would do instead of the scheduler whose runs are `base`.
#[must_use]
pub fn advise<'a>(base: &[RunFigures], assessed: &'a [Assessment]) -> Advice<'a> {
    if assessed.is_empty() {
        return Advice::NoAlternative;
    }
    if base.len() < 2 {
        return Advice::OneRun;
    }
    let is_faster = |one: &&Assessment| one.gain.mean - one.gain.half() > WORTH_PERCENT;
    let best = |harmful: bool| {
        let all = assessed.iter().filter(is_faster).filter(|one| one.is_harmful(base) == harmful);
        all.max_by(|one, other| one.gain.mean.total_cmp(&other.gain.mean))
    };
    match (best(false), best(true)) {
        (Some(best), _) => Advice::Change(best),
        (None, Some(harmful)) => Advice::Harmful(harmful),
        (None, None) if base.iter().all(|run| run.misses == 0.0) => Advice::NoMisses,
        (None, None) => Advice::Keep,
    }
}

/// What each of `alternatives` would do to `scenario`, whose own runs are `base`. What no scheduler can have, such as a quantum
/// too short, is left out.
///
/// # Errors
/// If the scenario is impossible.
pub fn assess(
    scenario: &RunQueueScenario,
    base: &[RunFigures],
    alternatives: Vec<Alternative>,
) -> Result<Vec<Assessment>, Fault> {
    let other =
        |alternative: &Alternative| RunQueueScenario { scheduler: alternative.scheduler, ..scenario.clone() };
    let possible = |alternative: &Alternative| other(alternative).check().is_ok();
    let assess = |alternative: Alternative| {
        let runs = simulate(&other(&alternative))?.figures();
        Ok(Assessment::new(scenario, alternative, base, &runs))
    };
    alternatives.into_par_iter().filter(possible).map(assess).collect()
}
