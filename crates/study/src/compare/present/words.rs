//! How errors and loads are written, and what the marks beside them mean.

use crate::compare::Compared;
use crate::compare::point::{ComparedPoint, Quantity, Source, TOGETHER};
use crate::compare::quiet::QUIET;
use warmcore_measure::Proximity;
use warmcore_units::{Estimate, Nanos};

/// What marks a point whose processors were at another distance. The dagger marks missed targets.
pub(super) const APART: &str = "‡";
/// What marks a point at which the machine did too much else.
const NOISY: &str = "§";
/// What marks a point at which workers use one stack at the same time.
const TOGETHER_MARK: &str = "¶";

/// An error as a percentage with its half-width, where that is known.
#[must_use]
pub fn percent(error: &Estimate<f64>) -> String {
    let half = match error.half_width.filter(|half| half.is_finite()) {
        Some(half) => format!(" ± {:.1}%", half * 100.0),
        None => " (how sure is not known)".to_owned(),
    };
    format!("{:+.1}%{half}", error.mean * 100.0)
}

/// The error of a prediction in words: none where it cannot be judged, as it would say nothing of the
/// prediction.
#[must_use]
pub fn error_words(point: &ComparedPoint, quantity: Quantity, source: Source) -> String {
    match point.error(quantity, source) {
        None => "not known".to_owned(),
        Some(_) if !point.is_judged() => "not judged".to_owned(),
        Some(error) => percent(&error),
    }
}

/// The load of `point` as a percentage, marked if its processors were at another distance, the machine did
/// too much else, or workers use one stack at the same time; what the marks mean is in [`meaning_of_marks`].
#[must_use]
pub fn load(point: &ComparedPoint) -> String {
    let apart = if point.is_near() { String::new() } else { format!(" {APART}") };
    let noisy = if is_noisy(point) { format!(" {NOISY}") } else { String::new() };
    let together = if point.is_modelled() { String::new() } else { format!(" {TOGETHER_MARK}") };
    let percent = point.load * 100.0;
    let decimals = if percent < 1.0 { 3 } else { 0 };
    format!("{percent:.decimals$}%{apart}{noisy}{together}")
}

/// Whether `point` cannot be judged because of what else the machine did.
pub(super) fn is_noisy(point: &ComparedPoint) -> bool {
    point.is_near() && !point.is_quiet()
}

/// What the marks of [`load`]s mean, as far as points of `all` bear them.
#[must_use]
pub fn meaning_of_marks(all: &[Compared]) -> Vec<String> {
    let noisy = all.iter().flat_map(|compared| &compared.points).any(is_noisy).then(|| {
        format!(
            "{NOISY} More than {:.0}% of the packets met a time in which the machine kept a worker from running, or \
             came while what had piled up was worked off. Such a point tells of the machine more than of the \
             prediction, and is not judged: compare again when it has less else to do.",
            QUIET * 100.0
        )
    });
    let together = all.iter().flat_map(|compared| &compared.points).any(|point| !point.is_modelled()).then(|| {
        format!(
            "{TOGETHER_MARK} More than {:.0}% of the time that a packet is in the stack, other workers are predicted to \
             be in it too. Its lines and locks then go to and fro while they are used: packets take longer, by about that \
             share, than in the calibration, which has workers take turns. That is not modelled, and not judged.",
            TOGETHER * 100.0
        )
    });
    meaning_of_apart(all).into_iter().chain(noisy).chain(together).collect()
}

/// `None` if no point of `all` bears that mark.
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
