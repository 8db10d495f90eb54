//! Independent runs of a scenario, and their figures with intervals.

use super::advice::RunFigures;
use super::machine::{Keeps, Machine};
use super::memory::check_memory;
use super::tally::Tally;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use warmcore_policy::runqueue::Record;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_stats::{Interval, Replications};
use warmcore_units::{Estimate, Fault};

/// The runs of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// One for each run, in order.
    pub runs: Vec<Tally>,
}

/// One scenario against another, run by run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// The change of a quantity as a fraction of the other scenario's.
    pub relative: Interval,
}

/// Runs number `replication` of a scenario.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_run(scenario: &RunQueueScenario, replication: u64) -> Result<Tally, Fault> {
    let (tally, _) = run(scenario, replication, Keeps::default(), &NEVER)?.ok_or_else(impossible)?;
    Ok(tally)
}

/// The same run, with misses by kind and by who is to blame if caches are simulated: [`ApplicationTally::levels`].
///
/// # Errors
/// If the scenario is impossible.
///
/// [`ApplicationTally::levels`]: super::ApplicationTally::levels
pub fn simulate_watched_run(scenario: &RunQueueScenario, replication: u64) -> Result<Tally, Fault> {
    let keeps = Keeps { kinds: true, ..Keeps::default() };
    let (tally, _) = run(scenario, replication, keeps, &NEVER)?.ok_or_else(impossible)?;
    Ok(tally)
}

/// The same run, with a log of what happened to the run queue and what it decided.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_logged(scenario: &RunQueueScenario, replication: u64) -> Result<(Tally, Vec<Record>), Fault> {
    run(scenario, replication, Keeps { log: true, ..Keeps::default() }, &NEVER)?.ok_or_else(impossible)
}

/// What never asks to stop.
static NEVER: AtomicBool = AtomicBool::new(false);

fn impossible() -> Fault {
    Fault::new("scheduler", "impossible", "possible parameters")
}

/// `None` if it was stopped.
fn run(
    scenario: &RunQueueScenario,
    replication: u64,
    keeps: Keeps,
    stop: &AtomicBool,
) -> Result<Option<(Tally, Vec<Record>)>, Fault> {
    scenario.check()?;
    check_memory(scenario)?;
    Ok(Machine::new(scenario, replication, keeps).ok_or_else(impossible)?.run(stop))
}

/// All runs of a scenario, in parallel.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate(scenario: &RunQueueScenario) -> Result<Outcome, Fault> {
    every_run(scenario, Keeps::default(), &NEVER)?.ok_or_else(impossible)
}

/// The same, unless `stop` is set before the end; then `None`, within moments.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_until(scenario: &RunQueueScenario, stop: &AtomicBool) -> Result<Option<Outcome>, Fault> {
    every_run(scenario, Keeps::default(), stop)
}

/// The same runs, with what [`simulate_watched_run`] adds.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_watched(scenario: &RunQueueScenario) -> Result<Outcome, Fault> {
    every_run(scenario, Keeps { kinds: true, ..Keeps::default() }, &NEVER)?.ok_or_else(impossible)
}

fn every_run(scenario: &RunQueueScenario, keeps: Keeps, stop: &AtomicBool) -> Result<Option<Outcome>, Fault> {
    let one = |number| Ok(run(scenario, number, keeps, stop)?.map(|(tally, _)| tally));
    let runs = (0..u64::from(scenario.runs)).into_par_iter().map(one).collect::<Result<Option<_>, _>>()?;
    Ok(runs.map(|runs| Outcome { runs }))
}

/// By which fraction `quantity` changes from `base` to `other`, run by run: the same processes do the same in both.
/// `None` unless both have as many runs.
#[must_use]
pub fn compare(base: &Outcome, other: &Outcome, quantity: impl Fn(&Tally) -> f64) -> Option<Comparison> {
    let [base, other] = [base, other].map(|one| one.replications(&quantity));
    Some(Comparison { relative: other.against(&base)?.relative })
}

impl Outcome {
    /// What comparing schedulers needs of each run.
    #[must_use]
    pub fn figures(&self) -> Vec<RunFigures> {
        self.runs.iter().map(RunFigures::new).collect()
    }

    /// A quantity of each run.
    #[must_use]
    pub fn replications(&self, quantity: impl Fn(&Tally) -> f64) -> Replications {
        self.runs.iter().map(quantity).collect()
    }

    /// The mean of a quantity over the runs, with its interval.
    #[must_use]
    pub fn estimate(&self, quantity: impl Fn(&Tally) -> f64) -> Estimate<f64> {
        let Interval { mean, half_width, .. } = self.replications(quantity).interval();
        Estimate::new(mean, half_width)
    }
}
