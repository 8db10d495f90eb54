//! The confidence of a piece of advice: one rule for all advice, as a pure function of the evidence.
//!
//! Advice starts with high confidence. Each doubt limits it and adds its reason:
//!
//! | doubt | at most |
//! |---|---|
//! | no gain exceeds its half-width | low |
//! | only the largest gain exceeds its half-width, not the smallest | moderate |
//! | others might be better by more than [`LITTLE`], or by more than [`MUCH`] | moderate, low |
//! | among the best in fewer than [`NEARLY_ALL`] of the draws, or than half | moderate, low |
//! | for more processors than were measured | moderate |
//! | most costs are less precise than asked for, or have no stated half-width | moderate |
//! | most runs were disturbed, or at least a tenth of the costs use disturbed runs | moderate |
//! | both of these, or most costs use disturbed runs | low |
//! | in at least a tenth of the runs the processors were at another distance, for which nothing is predicted | low |

mod doubts;
mod quality;

pub use quality::Quality;

use crate::Findings;
use crate::decide::{Advice, Region};
use warmcore_record::document::{Confidence, ConfidenceLevel};
use warmcore_scenario::Combination;
use warmcore_units::Estimate;

/// A choice is still almost certain if others may save this fraction of the delay.
pub const LITTLE: f64 = 0.05;
/// Nothing is known about a choice if others may save this fraction of the delay.
pub const MUCH: f64 = 0.2;
/// The fraction of draws in which a certain choice is among the best.
pub const NEARLY_ALL: f64 = 0.9;

/// The evidence for and against a piece of advice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evidence {
    /// What it gains.
    pub effect: Effect,
    /// The largest fraction of the delay, or of the capacity, that another combination might save or add.
    pub at_most_lost: f64,
    /// The fraction of draws in which it is among the best.
    pub among_best: f64,
    /// The number of processors it is for.
    pub processors: u32,
    /// The number of processors the costs were measured on.
    pub measured_processors: u32,
    /// How the costs were measured.
    pub quality: Quality,
}

/// What a piece of advice gains.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Effect {
    /// The smallest and the largest gain over the common default, as fractions.
    Gain([Estimate<f64>; 2]),
    /// It is the common default: no other combination is shown to be better.
    Default,
}

impl Findings {
    /// The confidence in the advice for a region.
    #[must_use]
    pub fn grade_region(&self, advice: &Advice, region: &Region) -> Confidence {
        let effect = match region.over_default {
            _ if region.best == Combination::COMMON_DEFAULT => Effect::Default,
            Some(gain) => Effect::Gain([gain.least.gain, gain.most.gain]),
            None => capacity_gain(advice),
        };
        let among_best = frequency(&region.among_best, region.best);
        grade(&Evidence { effect, among_best, at_most_lost: region.at_most_lost, ..self.evidence(advice) })
    }

    /// The confidence in which combination has the highest capacity.
    #[must_use]
    pub fn grade_capacity(&self, advice: &Advice) -> Confidence {
        let capacity = &advice.capacity;
        let effect = match capacity.best == Combination::COMMON_DEFAULT {
            true => Effect::Default,
            false => capacity_gain(advice),
        };
        let among_best = frequency(&capacity.among_best, capacity.best);
        grade(&Evidence { effect, among_best, at_most_lost: capacity.at_most_lost, ..self.evidence(advice) })
    }

    /// The evidence that all advice for this number of processors shares.
    fn evidence(&self, advice: &Advice) -> Evidence {
        Evidence {
            effect: Effect::Default,
            at_most_lost: 0.0,
            among_best: 1.0,
            processors: advice.processors,
            measured_processors: self.measured_processors,
            quality: Quality::from_profile(&self.profile),
        }
    }
}

/// How much more traffic is carried than by the common default.
fn capacity_gain(advice: &Advice) -> Effect {
    let ratio = advice.capacity.over_default;
    Effect::Gain([Estimate { mean: ratio.mean - 1.0, ..ratio }; 2])
}

fn frequency(among_best: &[(Combination, f64)], combination: Combination) -> f64 {
    among_best.iter().find(|(of, _)| *of == combination).map_or(0.0, |(_, part)| *part)
}

/// The confidence that follows from `evidence`.
#[must_use]
pub fn grade(evidence: &Evidence) -> Confidence {
    let (level, reason) = effect(evidence.effect);
    let doubts = doubts::all(evidence);
    let level = doubts.iter().map(|doubt| doubt.0).fold(level, ConfidenceLevel::min);
    let reasons: Vec<String> = [reason].into_iter().chain(doubts.into_iter().map(|doubt| doubt.1)).collect();
    Confidence { level, reason: reasons.join("; ") }
}

fn effect(effect: Effect) -> (ConfidenceLevel, String) {
    let shown =
        |gain: Estimate<f64>| format!("{} ± {}", percent(gain.mean), percent(gain.half_width.unwrap_or(0.0)));
    match effect {
        Effect::Gain([least, _]) if is_above_noise(least) => (
            ConfidenceLevel::High,
            format!("even the smallest gain, {}, exceeds its half-width", shown(least)),
        ),
        Effect::Gain([least, most]) if is_above_noise(most) => (
            ConfidenceLevel::Moderate,
            format!(
                "the largest gain, {}, exceeds its half-width, the smallest, {}, does not",
                shown(most),
                shown(least)
            ),
        ),
        Effect::Gain([_, most]) => {
            (ConfidenceLevel::Low, format!("no gain exceeds its half-width: {} at most", shown(most)))
        }
        Effect::Default => (ConfidenceLevel::High, "no other combination is shown to be better".to_owned()),
    }
}

/// Whether a gain is positive beyond its half-width.
pub(crate) fn is_above_noise(gain: Estimate<f64>) -> bool {
    gain.mean > gain.half_width.unwrap_or(0.0)
}

/// A fraction in percent, with its significant digits.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Profile;

    const SURE: Evidence = Evidence {
        effect: Effect::Gain([Estimate { mean: 0.3, half_width: Some(0.02) }; 2]),
        at_most_lost: 0.0,
        among_best: 1.0,
        processors: 2,
        measured_processors: 2,
        quality: Quality {
            costs: 76,
            missed: 3,
            unstated: 0,
            on_disturbed: 0,
            runs: 4_000,
            set_aside: 100,
            vcpu_moved_runs: 40,
        },
    };

    fn level(evidence: Evidence) -> ConfidenceLevel {
        grade(&evidence).level
    }

    fn gain(least: f64, most: f64) -> Effect {
        Effect::Gain([least, most].map(|mean| Estimate::new(mean, 0.05)))
    }

    #[test]
    fn advice_without_doubts_has_high_confidence() {
        let Confidence { level, reason } = grade(&SURE);
        assert_eq!(
            (level, reason.as_str()),
            (ConfidenceLevel::High, "even the smallest gain, 30% ± 2.0%, exceeds its half-width")
        );
    }

    #[test]
    fn gains_within_their_half_widths_have_low_confidence() {
        assert_eq!(level(Evidence { effect: gain(0.01, 0.3), ..SURE }), ConfidenceLevel::Moderate);
        assert_eq!(level(Evidence { effect: gain(0.01, 0.04), ..SURE }), ConfidenceLevel::Low);
    }

    #[test]
    fn extrapolated_advice_never_has_high_confidence() {
        let Confidence { level, reason } = grade(&Evidence { processors: 64, ..SURE });
        assert_eq!(level, ConfidenceLevel::Moderate);
        assert!(reason.contains("extrapolated to 64 processors from the costs of 2"), "{reason}");
    }

    #[test]
    fn disturbed_runs_lower_confidence() {
        let missed = Quality { missed: 75, ..SURE.quality };
        let disturbed = Quality { runs: 6_588, set_aside: 4_680, vcpu_moved_runs: 0, ..SURE.quality };
        let both = Quality { missed: 75, ..disturbed };
        let levels = [missed, disturbed, both].map(|quality| level(Evidence { quality, ..SURE }));
        assert_eq!(levels, [ConfidenceLevel::Moderate, ConfidenceLevel::Moderate, ConfidenceLevel::Low]);
        let reason = grade(&Evidence { quality: both, ..SURE }).reason;
        assert!(reason.contains("75 of 76 costs") && reason.contains("4680 of 6588 runs"), "{reason}");
    }

    /// Another study, made while the processors stay at the other distance, finds other rates and gains.
    #[test]
    fn moved_processors_lower_confidence() {
        let quality = Quality { runs: 3_295, set_aside: 1_540, vcpu_moved_runs: 1_069, ..SURE.quality };
        let Confidence { level, reason } = grade(&Evidence { quality, ..SURE });
        assert_eq!(level, ConfidenceLevel::Low);
        assert!(reason.contains("in 1069 of 3295 runs"), "{reason}");
        assert!(!reason.contains("1540"), "runs of moved processors are counted once: {reason}");
    }

    #[test]
    fn costs_without_half_widths_lower_confidence() {
        let quality = Quality::from_profile(&Profile::sgi_challenge_xl());
        let Confidence { level, reason } = grade(&Evidence { quality, ..SURE });
        assert_eq!(level, ConfidenceLevel::Moderate, "{reason}");
        assert!(reason.contains("without a half-width"), "{reason}");
    }

    #[test]
    fn costs_from_disturbed_runs_lower_confidence() {
        let quality = |on_disturbed, missed| Quality { on_disturbed, missed, ..SURE.quality };
        let levels = [quality(3, 3), quality(12, 12), quality(42, 12), quality(12, 70)]
            .map(|quality| level(Evidence { quality, ..SURE }));
        assert_eq!(
            levels,
            [ConfidenceLevel::High, ConfidenceLevel::Moderate, ConfidenceLevel::Low, ConfidenceLevel::Low]
        );
        let reason = grade(&Evidence { quality: quality(42, 42), ..SURE }).reason;
        assert!(reason.contains("42 of 76 costs had to be taken from runs"), "{reason}");
    }

    #[test]
    fn a_choice_rarely_among_the_best_lowers_confidence() {
        let levels = [0.95, 0.7, 0.3].map(|among_best| level(Evidence { among_best, ..SURE }));
        assert_eq!(levels, [ConfidenceLevel::High, ConfidenceLevel::Moderate, ConfidenceLevel::Low]);
    }

    #[test]
    fn a_possible_loss_lowers_confidence() {
        for effect in [Effect::Default, SURE.effect] {
            let levels =
                [0.02, 0.1, 0.4].map(|at_most_lost| level(Evidence { effect, at_most_lost, ..SURE }));
            assert_eq!(levels, [ConfidenceLevel::High, ConfidenceLevel::Moderate, ConfidenceLevel::Low]);
        }
    }

    #[test]
    fn the_worst_doubt_decides() {
        let evidence = Evidence { effect: gain(0.01, 0.04), processors: 64, ..SURE };
        assert_eq!(level(evidence), ConfidenceLevel::Low);
        assert!(grade(&evidence).reason.contains("; extrapolated"));
    }
}
