//! How errors and loads are written, and the meaning of the marks beside them.

use crate::compare::Compared;
use crate::compare::point::{ComparedPoint, JudgedQuantity, NEGLIGIBLE_SHARE_TOGETHER, PredictionModel};
use crate::compare::quiet::QUIET;
use warmcore_measure::Proximity;
use warmcore_units::{Estimate, Nanos};

/// Marks a point whose processors were at another distance. (The dagger marks missed targets.)
pub(super) const APART: &str = "‡";
/// Marks a point at which the machine was too busy with other work.
const NOISY: &str = "§";
/// Marks a point at which workers use one stack at the same time.
const TOGETHER_MARK: &str = "¶";

/// An error as a percentage, with its half-width if that is known.
#[must_use]
pub fn percent(error: &Estimate<f64>) -> String {
    let half = match error.half_width.filter(|half| half.is_finite()) {
        Some(half) => format!(" ± {:.1}%", half * 100.0),
        None => " (half-width unknown)".to_owned(),
    };
    format!("{:+.1}%{half}", error.mean * 100.0)
}

/// The error of a prediction in words; empty if the point cannot be judged, because the error would say
/// nothing about the prediction.
#[must_use]
pub fn error_words(point: &ComparedPoint, quantity: JudgedQuantity, source: PredictionModel) -> String {
    match point.error(quantity, source) {
        None => "not known".to_owned(),
        Some(_) if !point.is_judged() => "not judged".to_owned(),
        Some(error) => percent(&error),
    }
}

/// The load of `point` as a percentage, with its marks. [`meaning_of_marks`] explains them.
#[must_use]
pub fn load(point: &ComparedPoint) -> String {
    let apart = if point.is_near() { String::new() } else { format!(" {APART}") };
    let noisy = if is_noisy(point) { format!(" {NOISY}") } else { String::new() };
    let together = if point.is_modelled() { String::new() } else { format!(" {TOGETHER_MARK}") };
    let percent = point.load * 100.0;
    let decimals = if percent < 1.0 { 3 } else { 0 };
    format!("{percent:.decimals$}%{apart}{noisy}{together}")
}

/// Whether `point` cannot be judged because the machine was too busy with other work.
pub(super) fn is_noisy(point: &ComparedPoint) -> bool {
    point.is_near() && !point.is_quiet()
}

/// Explains the marks that points of `all` have.
#[must_use]
pub fn meaning_of_marks(all: &[Compared]) -> Vec<String> {
    let noisy = all.iter().flat_map(|compared| &compared.points).any(is_noisy).then(|| {
        format!(
            "{NOISY} More than {:.0}% of the packets arrived while the machine kept a worker from running, or while the resulting \
            backlog was processed. Such a point says more about the machine than about the prediction and is not judged: \
            compare again when the machine is less busy.",
            QUIET * 100.0
        )
    });
    let together = all.iter().flat_map(|compared| &compared.points).any(|point| !point.is_modelled()).then(|| {
        format!(
            "{TOGETHER_MARK} For more than {:.0}% of the time that a packet is in the stack, other workers are predicted to \
            be in it too. Its lines and locks then move between processors while they are used: packets take longer, by about that \
            share, than in the calibration, in which workers take turns. That is not modelled, and not judged.",
            NEGLIGIBLE_SHARE_TOGETHER * 100.0
        )
    });
    meaning_of_apart(all).into_iter().chain(noisy).chain(together).collect()
}

/// Explains one mark; `None` if no point of `all` has it.
fn meaning_of_apart(all: &[Compared]) -> Option<String> {
    let mut points = all.iter().flat_map(|compared| &compared.points);
    points.any(|point| !point.is_near()).then(|| {
        format!(
            "{APART} While this was run, the processors were nearer to each other or farther apart than the \
             prediction takes them to be: what a cache line takes from one to the other differed by more than a \
             factor of {} from what it took when the costs were measured or, if the profile does not say, from what \
             it mostly took. A hypervisor does that when it moves virtual processors between physical ones. Packets \
             whose data migrates then take more or less than predicted, and the error says little about the \
             prediction: compare again at another time.",
            Proximity::TOLERANCE
        )
    })
}

pub(super) fn in_micros(time: Estimate<Nanos>) -> Estimate<f64> {
    let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
    Estimate { mean: time.mean.micros(), half_width: half }
}
