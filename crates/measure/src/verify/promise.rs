//! Holds what a plan promises against what was found, in the same quantity: processor time of each packet that came in
//! through the interfaces, of all cpus and whatever it was for. What a plan does not change cancels in the difference.

use super::ModelRuns;
use crate::model::Model;
use std::fmt;
use warmcore_linux::tuning::Promise;
use warmcore_stats::paired::difference;
use warmcore_units::{Estimate, Nanos};

/// What became of a promise.
#[derive(Clone, PartialEq, Debug)]
pub struct PromiseFinding {
    /// The processor time that each packet should take less.
    pub promised: Estimate<Nanos>,
    /// What it took less; `None` where packets were not counted.
    pub found: Option<Estimate<Nanos>>,
    /// What the promise is of, in words.
    pub of: String,
}

/// Whether a promise was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromiseVerdict {
    /// What was found is what was promised, as far as both are known.
    Within,
    /// It is something else.
    Not,
    /// What was found is so uncertain that it could be the promise, and nothing as well; or the promise is.
    CannotTell,
}

impl PromiseFinding {
    /// Looks for the `promise` in the runs of each of the `models`, which begin with no affinity and its control.
    pub(super) fn new(promise: &Promise, models: &[Model], tried: &[ModelRuns]) -> Self {
        let full = models.iter().skip(2).position(|model| *model == Model::Full).map(|at| at + 2);
        let found = full.and_then(|full| saved(tried.first()?, tried.get(full)?, tried.get(1)?));
        let promised = Estimate::new(Nanos(promise.saved_ns as f64), Nanos(promise.half_width_ns as f64));
        Self { promised, found, of: promise.of.clone() }
    }

    /// Whether the promise was kept.
    #[must_use]
    pub fn verdict(&self) -> PromiseVerdict {
        match &self.found {
            None => PromiseVerdict::CannotTell,
            Some(found) if !found.agrees_with(&self.promised) => PromiseVerdict::Not,
            Some(found) if found.half().max(self.promised.half()) >= self.promised.mean.0.abs() => {
                PromiseVerdict::CannotTell
            }
            Some(_) => PromiseVerdict::Within,
        }
    }
}

/// The processor time that each packet took less under `then` than under `now`, block by block. It is uncertain by at
/// least as much as `now` differed from `again`, which is the same setting (A/A).
fn saved(now: &ModelRuns, then: &ModelRuns, again: &ModelRuns) -> Option<Estimate<Nanos>> {
    let of = |runs: &ModelRuns| -> Option<Vec<f64>> {
        let each = |run: &crate::blocks::BlockRun<super::ObservedLoad>| {
            let packets = run.outcome.packets.filter(|packets| *packets > 0.0)?;
            Some(run.outcome.resources.busy_cpus / packets * 1e9)
        };
        runs.iter().map(each).collect()
    };
    saved_of(&of(now)?, &of(then)?, &of(again)?)
}

/// The same of times in nanoseconds.
fn saved_of(now: &[f64], then: &[f64], again: &[f64]) -> Option<Estimate<Nanos>> {
    let (saved, control) = (difference(now, then)?, difference(now, again)?);
    let half = saved.half_width.max(control.mean.abs());
    (now.len() > 1 && half.is_finite()).then(|| Estimate::new(Nanos(saved.mean), Nanos(half)))
}

impl PromiseVerdict {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Not => "not",
            Self::CannotTell => "cannot-tell",
        }
    }
}

/// The promise, what was found, and what that means.
impl fmt::Display for PromiseFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promised = format!("Promised: each packet takes {} ({})", compared(self.promised), self.of);
        let Some(found) = &self.found else {
            return write!(
                f,
                "{promised}. Found: cannot tell, as packets were not counted; name the interfaces of the load with --interface."
            );
        };
        let meaning = match self.verdict() {
            PromiseVerdict::Within => "within the promise",
            PromiseVerdict::Not => "not what was promised",
            PromiseVerdict::CannotTell if self.promised.half() >= self.promised.mean.0.abs() => {
                "which cannot be told from the promise, as that may be nothing: a longer calibration makes it surer"
            }
            PromiseVerdict::CannotTell => {
                "which cannot tell the promise from nothing: more --blocks or a longer --time may"
            }
        };
        write!(f, "{promised}. Found: {}, {meaning}.", compared(*found))
    }
}

/// `1.20 µs ± 300 ns less`.
fn compared(saved: Estimate<Nanos>) -> String {
    let word = if saved.mean < Nanos::ZERO { "more" } else { "less" };
    let size = Estimate { mean: Nanos(saved.mean.0.abs()), ..saved };
    format!("{size} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(promised: (f64, f64), found: (f64, f64)) -> PromiseVerdict {
        let estimate = |(mean, half)| Estimate::new(Nanos(mean), Nanos(half));
        let finding = PromiseFinding {
            promised: estimate(promised),
            found: Some(estimate(found)),
            of: "a packet".to_owned(),
        };
        finding.verdict()
    }

    #[test]
    fn a_promise_is_kept_broken_or_not_decided() {
        assert_eq!(verdict((500.0, 100.0), (450.0, 80.0)), PromiseVerdict::Within);
        assert_eq!(verdict((500.0, 100.0), (650.0, 60.0)), PromiseVerdict::Within, "intervals meet");
        assert_eq!(verdict((500.0, 100.0), (-200.0, 80.0)), PromiseVerdict::Not);
        assert_eq!(
            verdict((500.0, 100.0), (900.0, 80.0)),
            PromiseVerdict::Not,
            "more than promised is not it"
        );
        assert_eq!(verdict((500.0, 100.0), (100.0, 600.0)), PromiseVerdict::CannotTell);
        assert_eq!(
            verdict((-600.0, 800.0), (290.0, 290.0)),
            PromiseVerdict::CannotTell,
            "nothing was promised"
        );
        let uncounted = PromiseFinding {
            promised: Estimate::new(Nanos(5.0), Nanos(1.0)),
            found: None,
            of: String::new(),
        };
        assert_eq!(uncounted.verdict(), PromiseVerdict::CannotTell);
    }

    /// 10 µs of each packet now, 9.5 µs then.
    #[test]
    fn a_saving_is_the_paired_difference_and_no_surer_than_the_control() {
        let now = [10_000.0, 20_000.0, 15_000.0];
        let then = now.map(|time| time - 500.0);
        let saved = |again: [f64; 3]| saved_of(&now, &then, &again).unwrap();
        assert_eq!(saved(now), Estimate::new(Nanos(500.0), Nanos(0.0)), "what blocks share cancels");
        assert_eq!(saved(now.map(|time| time + 700.0)).half(), 700.0);
        assert_eq!(saved_of(&now[..1], &then[..1], &now[..1]), None);
    }
}
