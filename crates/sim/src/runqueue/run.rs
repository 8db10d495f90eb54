//! Independent runs of a scenario, and their figures with intervals.

use super::machine::{Keeps, Machine};
use super::tally::Tally;
use rayon::prelude::*;
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
    let (tally, _) = run(scenario, replication, Keeps::default())?;
    Ok(tally)
}

/// The same run, with misses by kind and by who is to blame if caches are simulated: [`ApplicationTally::levels`].
///
/// # Errors
/// If the scenario is impossible.
///
/// [`ApplicationTally::levels`]: super::ApplicationTally::levels
pub fn simulate_watched_run(scenario: &RunQueueScenario, replication: u64) -> Result<Tally, Fault> {
    let (tally, _) = run(scenario, replication, Keeps { kinds: true, ..Keeps::default() })?;
    Ok(tally)
}

/// The same run, with a log of what happened to the run queue and what it decided.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_logged(scenario: &RunQueueScenario, replication: u64) -> Result<(Tally, Vec<Record>), Fault> {
    run(scenario, replication, Keeps { log: true, ..Keeps::default() })
}

fn run(scenario: &RunQueueScenario, replication: u64, keeps: Keeps) -> Result<(Tally, Vec<Record>), Fault> {
    scenario.check()?;
    let machine = Machine::new(scenario, replication, keeps);
    machine.map(Machine::run).ok_or_else(|| Fault::new("scheduler", "impossible", "possible parameters"))
}

/// All runs of a scenario, in parallel.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate(scenario: &RunQueueScenario) -> Result<Outcome, Fault> {
    every_run(scenario, simulate_run)
}

/// The same runs, with what [`simulate_watched_run`] adds.
///
/// # Errors
/// If the scenario is impossible.
pub fn simulate_watched(scenario: &RunQueueScenario) -> Result<Outcome, Fault> {
    every_run(scenario, simulate_watched_run)
}

fn every_run(
    scenario: &RunQueueScenario,
    one: impl Fn(&RunQueueScenario, u64) -> Result<Tally, Fault> + Sync,
) -> Result<Outcome, Fault> {
    let runs = (0..u64::from(scenario.runs)).into_par_iter().map(|run| one(scenario, run));
    Ok(Outcome { runs: runs.collect::<Result<_, _>>()? })
}

/// By which fraction `quantity` changes from `base` to `other`, run by run: the same processes do the same in both.
/// `None` unless both have as many runs.
#[must_use]
pub fn compare(base: &Outcome, other: &Outcome, quantity: impl Fn(&Tally) -> f64) -> Option<Comparison> {
    let [base, other] = [base, other].map(|one| one.replications(&quantity));
    Some(Comparison { relative: other.against(&base)?.relative })
}

impl Outcome {
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
