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
pub use figures::{ApplicationFigures, Assessment, Likelihood, Measure, RunFigures, estimate, longest_wait};

use super::run::simulate;
use rayon::prelude::*;
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::Checked;
use warmcore_scenario::runqueue::{Scheduler, SchedulerKind};
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
/// Who makes an application slower by more than this is harmful.
pub const GREATEST_LOSS_PERCENT: f64 = 10.0;

/// What to do about a scheduler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Advice<'a> {
    /// This alternative is faster, and the runs show that it harms nobody.
    Change(&'a Assessment),
    /// This alternative may be faster and may harm nobody: the runs are too few to tell.
    CannotTell(&'a Assessment),
    /// This alternative is faster, but harms an application.
    Harmful(&'a Assessment),
    /// No alternative is faster by [`WORTH_PERCENT`]: the runs show it of each.
    Keep,
    /// One run has no scatter to compare with.
    OneRun,
    /// Nothing says what caches cost, so alternatives differ by less than they would.
    NoMisses,
    /// There is no alternative.
    NoAlternative,
}

impl<'a> Advice<'a> {
    /// The alternative that it is about.
    #[must_use]
    pub const fn about(self) -> Option<&'a Assessment> {
        match self {
            Self::Change(one) | Self::Harmful(one) | Self::CannotTell(one) => Some(one),
            Self::Keep | Self::OneRun | Self::NoMisses | Self::NoAlternative => None,
        }
    }
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
    let best = |is: &dyn Fn(&Assessment) -> bool| {
        let all = assessed.iter().filter(|one| is(one));
        all.max_by(|one, other| one.gain.mean.total_cmp(&other.gain.mean))
    };
    if let Some(best) = best(&|one| one.is_worth() == Likelihood::Sure && one.harms(base) == Likelihood::No) {
        return Advice::Change(best);
    }
    if let Some(best) = best(&|one| one.is_worth() != Likelihood::No && one.harms(base) != Likelihood::Sure) {
        return Advice::CannotTell(best);
    }
    match best(&|one| one.is_worth() == Likelihood::Sure) {
        Some(harmful) => Advice::Harmful(harmful),
        None if base.iter().all(|run| run.misses == 0.0) => Advice::NoMisses,
        None => Advice::Keep,
    }
}

/// The alternatives that look faster than what is advised, with what speaks against each.
#[must_use]
pub fn rejected<'a>(base: &[RunFigures], assessed: &'a [Assessment]) -> Vec<(&'a Assessment, Vec<usize>)> {
    let Advice::Change(advised) = advise(base, assessed) else { return Vec::new() };
    let faster = assessed.iter().filter(|one| one.gain.mean > advised.gain.mean);
    faster.map(|one| (one, one.harmed(base))).collect()
}

/// The applications that wait too long under the scheduler of `scenario` itself, whose runs are `base`: over [`STARVED_S`], and
/// [`STARVED_FACTOR`] times as long as if all processes took turns.
#[must_use]
pub fn starving_now(scenario: &RunQueueScenario, base: &[RunFigures]) -> Vec<usize> {
    let cpus = scenario.machine.cpus;
    let turn_ms = match scenario.scheduler.kind() {
        SchedulerKind::Unix => scenario.scheduler.unix().quantum_ms,
        SchedulerKind::Fair => scenario.scheduler.fair().slice_ms(cpus),
    };
    let processes: f64 = scenario.applications.iter().map(|one| f64::from(one.processes)).sum();
    let turns_s = processes / f64::from(cpus) * turn_ms / 1e3;
    let places = 0..scenario.applications.len();
    places.filter(|&place| longest_wait(base, place).mean > STARVED_S.max(STARVED_FACTOR * turns_s)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::Estimate;

    /// An alternative with these gains of the mix and of its only application.
    fn assessed(gain: (f64, f64), of_application: (f64, f64)) -> Assessment {
        Assessment {
            alternative: Alternative { name: "other".to_owned(), scheduler: Scheduler::default() },
            gain: Estimate::new(gain.0, gain.1),
            misses: None,
            gains: vec![Estimate::new(of_application.0, of_application.1)],
            longest_waits: vec![Estimate::new(0.1, 0.0)],
        }
    }

    fn base() -> Vec<RunFigures> {
        let application = ApplicationFigures { finished_s: 1.0, compute_s: 1.0, longest_wait_s: 0.1 };
        let run = RunFigures {
            seconds: 1.0,
            mean_completion_s: 1.0,
            progress: 1.0,
            misses: 1.0,
            idle: 0.0,
            dispatches_per_s: 1.0,
            migrations_per_s: 0.0,
            applications: vec![application],
        };
        vec![run; 3]
    }

    #[test]
    fn a_change_is_advised_only_if_gain_and_harmlessness_are_sure() {
        let advice = |gain, of_application| {
            let all = [assessed(gain, of_application)];
            match advise(&base(), &all) {
                Advice::Change(_) => "change".to_owned(),
                Advice::CannotTell(one) => format!("{:?} {:?}", one.is_worth(), one.maybe_harmed()),
                Advice::Harmful(_) => "harmful".to_owned(),
                Advice::Keep => "keep".to_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(advice((4.0, 1.0), (-2.0, 1.0)), "change");
        assert_eq!(advice((0.5, 0.4), (0.5, 0.4)), "keep");
        assert_eq!(advice((4.0, 1.0), (-20.0, 1.0)), "harmful");
        // The gain is there, and the loss of 8 % may be one of 12 %.
        assert_eq!(advice((4.0, 1.0), (-8.0, 4.0)), "Sure [0]");
        assert_eq!(advice((4.0, 1.0), (-13.0, 4.0)), "Sure [0]");
        assert_eq!(advice((4.0, 12.0), (4.0, 12.0)), "Possible []");
    }

    #[test]
    fn what_looks_faster_than_the_advice_is_named_with_whom_it_harms() {
        let all = [assessed((2.0, 0.1), (0.0, 1.0)), assessed((5.0, 0.1), (-30.0, 1.0))];
        let rejected = rejected(&base(), &all);
        assert_eq!(rejected, [(&all[1], vec![0])]);
    }
}
