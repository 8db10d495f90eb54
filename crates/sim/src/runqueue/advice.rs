//! Would more affinity, longer quanta or pinning help a mix, by how much, and whom would it starve?
//!
//! Each alternative runs the same processes with the same demands. Its gain is how much sooner the applications finish
//! on average, or, if they run for ever, how much more they compute in the same time.

use super::run::{Outcome, compare, simulate};
use super::tally::{ApplicationTally, Tally};
use rayon::prelude::*;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{Attachment, FairScheduler, Scheduler, SchedulerKind, UnixScheduler};
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Fault};

/// Another scheduler for the same mix.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// Its name for a reader.
    pub name: String,
    /// Its constants.
    pub scheduler: Scheduler,
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

/// A longest wait above this many seconds and [`STARVED_FACTOR`] times that of the scenario's scheduler is called starving.
pub const STARVED_S: f64 = 1.0;
/// See [`STARVED_S`].
pub const STARVED_FACTOR: f64 = 3.0;
/// A gain below this many percent is not worth another scheduler.
pub const WORTH: f64 = 1.0;
/// Who makes an application slower by more percent than this is not advised.
pub const GREATEST_LOSS: f64 = 10.0;

/// What to do about a scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Advice<'a> {
    /// This alternative is faster, and harms nobody much.
    Change(&'a Assessment),
    /// No alternative is faster by [`WORTH`] beyond the scatter of the runs.
    Keep,
    /// This alternative is faster, but starves an application or makes it slower by more than [`GREATEST_LOSS`].
    Harmful(&'a Assessment),
    /// One run has no scatter to compare with.
    OneRun,
    /// Nothing says what caches cost, so alternatives differ by less than they would.
    NoMisses,
}

/// What to do, by what `assessed` alternatives would do instead of `base`.
#[must_use]
pub fn advise<'a>(base: &Outcome, assessed: &'a [Assessment]) -> Advice<'a> {
    if base.runs.len() < 2 {
        return Advice::OneRun;
    }
    let is_faster = |one: &&Assessment| one.gain.mean - one.gain.half() > WORTH;
    let best = |harmful: bool| {
        let all = assessed.iter().filter(is_faster).filter(|one| one.is_harmful(base) == harmful);
        all.max_by(|one, other| one.gain.mean.total_cmp(&other.gain.mean))
    };
    match (best(false), best(true)) {
        (Some(best), _) => Advice::Change(best),
        (None, Some(harmful)) => Advice::Harmful(harmful),
        (None, None) if base.runs.iter().all(|run| run.misses() == 0.0) => Advice::NoMisses,
        (None, None) => Advice::Keep,
    }
}

/// The alternatives to `own` on a machine with so many processors: less and more affinity, shorter and longer quanta or
/// slices, pinning.
#[must_use]
pub fn alternatives(own: &Scheduler, cpus: u32) -> Vec<Alternative> {
    match own.kind() {
        SchedulerKind::Unix => unix_alternatives(own.unix()),
        SchedulerKind::Fair => fair_alternatives(own.fair(), cpus),
    }
}

/// Shorter and longer slices, pinning, and the levels of affinity that `warmcore host scx` loads.
fn fair_alternatives(own: FairScheduler, cpus: u32) -> Vec<Alternative> {
    let slices = [1.0 / 3.0, 3.0, 10.0].map(|factor| {
        let slice_ms = own.slice_ms(cpus) * factor;
        let scheduler = FairScheduler { slice_ms: Some(slice_ms), ..own };
        Alternative { name: milliseconds("slices", slice_ms), scheduler: scheduler.into() }
    });
    let pinned = FairScheduler { attach: Attachment::RoundRobin, ..own };
    let unix = UnixScheduler { attach: own.attach, ..UnixScheduler::default() };
    let levels = [("no", Affinity::NONE), ("light", Affinity::LIGHT), ("heavy", Affinity::HEAVY)];
    let levels = levels.map(|(name, affinity)| Alternative {
        name: format!("UNIX, {name} affinity"),
        scheduler: unix.with(affinity).into(),
    });
    let pinned = Alternative { name: "pinned".to_owned(), scheduler: pinned.into() };
    let all = slices.into_iter().chain([pinned]).chain(levels);
    all.filter(|one| one.scheduler != own.into()).collect()
}

fn milliseconds(what: &str, ms: f64) -> String {
    format!("{what} of {ms:.3} ms").replace(".000", "")
}

fn unix_alternatives(own: UnixScheduler) -> Vec<Alternative> {
    let named = |name: String, scheduler: UnixScheduler| Alternative { name, scheduler: scheduler.into() };
    let levels = [
        ("no affinity", Affinity::NONE),
        ("light affinity", Affinity::LIGHT),
        ("heavy affinity", Affinity::HEAVY),
    ];
    let affinities = levels.into_iter().map(|(name, affinity)| named(name.to_owned(), own.with(affinity)));
    let complex = named("complex affinity".to_owned(), own.with(Affinity::complex(6)));
    let quanta = [1.0 / 3.0, 3.0].map(|factor| {
        let quantum_ms = own.quantum_ms * factor;
        named(milliseconds("quanta", quantum_ms), UnixScheduler { quantum_ms, ..own })
    });
    let pinned = named("pinned".to_owned(), UnixScheduler { attach: Attachment::RoundRobin, ..own });
    let all = affinities.chain([complex]).chain(quanta).chain([pinned]);
    all.filter(|one| one.scheduler != own.into()).collect()
}

/// What each of `alternatives` would do to `scenario`, whose own runs are `base`. What no scheduler can have, such as a quantum
/// too short, is left out.
///
/// # Errors
/// If the scenario is impossible.
pub fn assess(
    scenario: &RunQueueScenario,
    base: &Outcome,
    alternatives: Vec<Alternative>,
) -> Result<Vec<Assessment>, Fault> {
    let possible = |alternative: &Alternative| {
        RunQueueScenario { scheduler: alternative.scheduler, ..scenario.clone() }.check().is_ok()
    };
    let alternatives = alternatives.into_par_iter().filter(possible);
    alternatives.map(|alternative| assess_one(scenario, base, alternative)).collect()
}

fn assess_one(
    scenario: &RunQueueScenario,
    base: &Outcome,
    alternative: Alternative,
) -> Result<Assessment, Fault> {
    let other = RunQueueScenario { scheduler: alternative.scheduler, ..scenario.clone() };
    let outcome = simulate(&other)?;
    let percent = |of: &dyn Fn(&Tally) -> f64, sign: f64| {
        let relative = compare(base, &outcome, of)
            .map_or(Interval { mean: f64::NAN, half_width: f64::INFINITY, count: 0 }, |found| found.relative);
        Estimate::new(sign * 100.0 * relative.mean, 100.0 * relative.half_width)
    };
    let endless = scenario.applications.iter().any(|one| one.work_ms.is_none());
    let gain = if endless {
        percent(&|run| run.progress(), 1.0)
    } else {
        percent(&|run| run.mean_completion_s(), -1.0)
    };
    let has_misses = base.runs.iter().all(|run| run.misses() > 0.0);
    let places = 0..scenario.applications.len();
    let gains = places.clone().map(|place| {
        if endless {
            percent(&|run| run.applications[place].compute_s, 1.0)
        } else {
            percent(&|run| run.applications[place].finished_s.unwrap_or(run.seconds), -1.0)
        }
    });
    Ok(Assessment {
        gain,
        misses: has_misses.then(|| percent(&Tally::misses, 1.0)),
        gains: gains.collect(),
        longest_waits: places.map(|place| longest_wait(&outcome, place)).collect(),
        alternative,
    })
}

/// The longest wait of an application in the queue, in seconds, over the runs.
#[must_use]
pub fn longest_wait(outcome: &Outcome, place: usize) -> Estimate<f64> {
    let wait = |application: &ApplicationTally| application.longest_wait_s;
    outcome.estimate(|run| wait(&run.applications[place]))
}

impl Assessment {
    /// Whether it starves an application, or makes one slower by more than [`GREATEST_LOSS`].
    fn is_harmful(&self, base: &Outcome) -> bool {
        let loses = |gain: &Estimate<f64>| gain.mean + gain.half() < -GREATEST_LOSS;
        self.gains.iter().any(loses) || !self.starved(base).is_empty()
    }

    /// The applications that it would starve, whose own longest waits are those of `base`.
    #[must_use]
    pub fn starved(&self, base: &Outcome) -> Vec<usize> {
        let starved = |&place: &usize| {
            let (own, other) = (longest_wait(base, place).mean, self.longest_waits[place].mean);
            other > STARVED_S && other > STARVED_FACTOR * own
        };
        (0..self.longest_waits.len()).filter(starved).collect()
    }
}
