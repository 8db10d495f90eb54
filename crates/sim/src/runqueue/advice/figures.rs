//! What comparing schedulers needs of the runs of each, and what the comparison says.

use super::super::tally::{ApplicationTally, Tally};
use super::{Alternative, GREATEST_LOSS_PERCENT, STARVED_FACTOR, STARVED_S, WORTH_PERCENT};
use serde::{Deserialize, Serialize};
use warmcore_scenario::RunQueueScenario;
use warmcore_stats::{Interval, Replications};
use warmcore_units::Estimate;

/// The figures of a run under one scheduler.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFigures {
    /// Length of the run, in seconds.
    pub seconds: f64,
    /// The mean completion time of the applications, in seconds.
    pub mean_completion_s: f64,
    /// Seconds of computing in a second, without the time of misses: how many processors' worth of work is done.
    pub progress: f64,
    /// Cache misses.
    pub misses: f64,
    /// The part of the processors' time in which they had nothing to run.
    pub idle: f64,
    /// Dispatches per second.
    pub dispatches_per_s: f64,
    /// Migrations per second.
    pub migrations_per_s: f64,
    /// Each application's, in the scenario's order.
    pub applications: Vec<ApplicationFigures>,
}

/// The figures of an application in a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApplicationFigures {
    /// When it finished, in seconds; the length of the run if it did not.
    pub finished_s: f64,
    /// How long its processes computed, in seconds.
    pub compute_s: f64,
    /// The longest that one of them waited in the queue, in seconds.
    pub longest_wait_s: f64,
}

impl RunFigures {
    /// Those of a run.
    #[must_use]
    pub fn new(run: &Tally) -> Self {
        let application = |one: &ApplicationTally| ApplicationFigures {
            finished_s: one.finished_s.unwrap_or(run.seconds),
            compute_s: one.compute_s,
            longest_wait_s: one.longest_wait_s,
        };
        Self {
            seconds: run.seconds,
            mean_completion_s: run.mean_completion_s(),
            progress: run.progress(),
            misses: run.misses(),
            idle: run.idle,
            dispatches_per_s: run.dispatches() as f64 / run.seconds,
            migrations_per_s: run.migrations() as f64 / run.seconds,
            applications: run.applications.iter().map(application).collect(),
        }
    }
}

/// By what schedulers are compared: how soon work is done, or how much is computed in the same time where it never is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measure {
    /// The application; none for the whole mix.
    place: Option<usize>,
    is_endless: bool,
}

impl Measure {
    /// For the whole of `scenario`.
    #[must_use]
    pub fn of_mix(scenario: &RunQueueScenario) -> Self {
        let is_endless = scenario.applications.iter().any(|one| one.work_ms.is_none() && !one.background);
        Self { place: None, is_endless }
    }

    /// For one of its applications.
    #[must_use]
    pub fn of_application(scenario: &RunQueueScenario, place: usize) -> Self {
        let is_endless = Self::of_mix(scenario).is_endless || scenario.applications[place].work_ms.is_none();
        Self { place: Some(place), is_endless }
    }

    /// Whether it is how much is computed in the same time.
    #[must_use]
    pub const fn is_endless(self) -> bool {
        self.is_endless
    }

    fn value(self, run: &RunFigures) -> f64 {
        match (self.place, self.is_endless) {
            (None, true) => run.progress,
            (None, false) => run.mean_completion_s,
            (Some(place), true) => run.applications[place].compute_s,
            (Some(place), false) => run.applications[place].finished_s,
        }
    }

    /// A relative change of the value as a gain in percent.
    const fn percent(self, change: f64) -> f64 {
        if self.is_endless { 100.0 * change } else { -100.0 * change }
    }

    /// How much faster `run` is than `base`, in percent; NaN if that did nothing.
    #[must_use]
    pub fn gain_of_run(self, base: &RunFigures, run: &RunFigures) -> f64 {
        self.percent(self.value(run) / self.value(base) - 1.0)
    }

    /// How much faster `runs` are than `base`, in percent; NaN if these did nothing.
    #[must_use]
    pub fn gain(self, base: &[RunFigures], runs: &[RunFigures]) -> Estimate<f64> {
        let change = change(base, runs, |run| self.value(run));
        Estimate::new(self.percent(change.mean), 100.0 * change.half_width)
    }
}

/// The relative change from `base` to `runs`, whose processes do the same.
fn change(base: &[RunFigures], runs: &[RunFigures], of: impl Fn(&RunFigures) -> f64) -> Interval {
    let [base, runs] = [base, runs].map(|all| all.iter().map(&of).collect::<Replications>());
    let unknown = Interval { mean: f64::NAN, half_width: f64::INFINITY, count: 0 };
    runs.against(&base).map_or(unknown, |found| found.relative)
}

/// A figure over `runs`.
#[must_use]
pub fn estimate(runs: &[RunFigures], of: impl Fn(&RunFigures) -> f64) -> Estimate<f64> {
    let Interval { mean, half_width, .. } = runs.iter().map(of).collect::<Replications>().interval();
    Estimate::new(mean, half_width)
}

/// The longest wait of an application in the queue, in seconds, over `runs`.
#[must_use]
pub fn longest_wait(runs: &[RunFigures], place: usize) -> Estimate<f64> {
    estimate(runs, |run| run.applications[place].longest_wait_s)
}

/// What an alternative would do, each figure in percent of the scenario's own scheduler.
#[derive(Clone, PartialEq, Debug)]
pub struct Assessment {
    /// The alternative.
    pub alternative: Alternative,
    /// How much faster the mix is; below zero if slower.
    pub gain: Estimate<f64>,
    /// The change of cache misses; none if there are none.
    pub misses: Option<Estimate<f64>>,
    /// For each application, how much faster it is.
    pub gains: Vec<Estimate<f64>>,
    /// For each application, the longest wait in the queue in seconds, the mean over the runs.
    pub longest_waits: Vec<Estimate<f64>>,
}

/// What runs say of a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Likelihood {
    /// It is wrong.
    No,
    /// The interval does not tell.
    Possible,
    /// It is right.
    Sure,
}

impl Likelihood {
    /// Whether `estimate` is above `limit`.
    fn above(estimate: &Estimate<f64>, limit: f64) -> Self {
        let Estimate { mean, .. } = *estimate;
        match estimate.half() {
            half if mean - half > limit => Self::Sure,
            half if mean + half > limit => Self::Possible,
            _ => Self::No,
        }
    }
}

/// Whether a `gain` is a loss of more than [`GREATEST_LOSS_PERCENT`].
fn slows(gain: &Estimate<f64>) -> Likelihood {
    Likelihood::above(&Estimate::new(-gain.mean, gain.half()), GREATEST_LOSS_PERCENT)
}

impl Assessment {
    /// What the `runs` of `alternative` say beside those of the scheduler of `scenario`, which are `base`.
    #[must_use]
    pub fn new(
        scenario: &RunQueueScenario,
        alternative: Alternative,
        base: &[RunFigures],
        runs: &[RunFigures],
    ) -> Self {
        let places = 0..scenario.applications.len();
        let has_misses = base.iter().all(|run| run.misses > 0.0);
        let misses = || {
            let change = change(base, runs, |run| run.misses);
            Estimate::new(100.0 * change.mean, 100.0 * change.half_width)
        };
        Self {
            gain: Measure::of_mix(scenario).gain(base, runs),
            misses: has_misses.then(misses),
            gains: places
                .clone()
                .map(|place| Measure::of_application(scenario, place).gain(base, runs))
                .collect(),
            longest_waits: places.map(|place| longest_wait(runs, place)).collect(),
            alternative,
        }
    }

    /// Whether it is faster by [`WORTH_PERCENT`].
    #[must_use]
    pub fn is_worth(&self) -> Likelihood {
        Likelihood::above(&self.gain, WORTH_PERCENT)
    }

    /// Whether it starves an application, or makes one slower by more than [`GREATEST_LOSS_PERCENT`].
    pub(super) fn harms(&self, base: &[RunFigures]) -> Likelihood {
        if !self.starved(base).is_empty() {
            return Likelihood::Sure;
        }
        self.gains.iter().map(slows).max().unwrap_or(Likelihood::No)
    }

    /// The applications that it may starve, or make slower by more than [`GREATEST_LOSS_PERCENT`].
    pub(super) fn harmed(&self, base: &[RunFigures]) -> Vec<usize> {
        let mut harmed = self.starved(base);
        let slower = self.gains.iter().enumerate().filter(|(_, gain)| slows(gain) > Likelihood::No);
        harmed.extend(slower.map(|(place, _)| place));
        harmed.sort_unstable();
        harmed.dedup();
        harmed
    }

    /// The applications of which the runs do not tell whether it makes them slower by more than [`GREATEST_LOSS_PERCENT`].
    #[must_use]
    pub fn maybe_harmed(&self) -> Vec<usize> {
        let maybe = self.gains.iter().enumerate().filter(|(_, gain)| slows(gain) == Likelihood::Possible);
        maybe.map(|(place, _)| place).collect()
    }

    /// The applications that it would starve, whose own longest waits are those of `base`.
    #[must_use]
    pub fn starved(&self, base: &[RunFigures]) -> Vec<usize> {
        let starved = |&place: &usize| {
            let (own, other) = (longest_wait(base, place).mean, self.longest_waits[place].mean);
            other > STARVED_S && other > STARVED_FACTOR * own
        };
        (0..self.longest_waits.len()).filter(starved).collect()
    }
}
