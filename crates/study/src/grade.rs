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

use crate::Findings;
use crate::decide::{Advice, Region};
use warmcore_costs::Profile;
use warmcore_costs::profile::Measured;
use warmcore_record::document::{Confidence, ConfidenceLevel};
use warmcore_scenario::Combination;
use warmcore_units::Estimate;

/// A choice is still almost certain if others may save this fraction of the delay.
pub const LITTLE: f64 = 0.05;
/// Nothing is known about a choice if others may save this fraction of the delay.
pub const MUCH: f64 = 0.2;
/// The fraction of draws in which a certain choice is among the best.
pub const NEARLY_ALL: f64 = 0.9;
/// The fraction of costs, or of runs, that makes a problem of theirs count.
const MOST: f64 = 0.5;
/// The fraction of costs that may use disturbed runs on a machine that still counts as quiet.
const A_FEW: f64 = 0.1;

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

/// How the costs of a profile were measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Quality {
    /// The number of costs.
    pub costs: usize,
    /// Costs that missed the half-width asked for.
    pub missed: usize,
    /// Costs without a half-width.
    pub unstated: usize,
    /// Costs with too few undisturbed runs, which use disturbed runs too.
    pub on_disturbed: usize,
    /// Runs, including those set aside.
    pub runs: u64,
    /// Runs set aside because something disturbed them, unless a cost had too few others.
    pub set_aside: u64,
    /// Those of them in which the processors were at another distance than in the runs that count.
    pub vcpu_moved_runs: u64,
}

impl Quality {
    /// The quality of `profile`. Published costs have no runs, and so no disturbed ones.
    #[must_use]
    pub fn from_profile(profile: &Profile) -> Self {
        let mut quality = Self::default();
        let times = [&profile.times.locking, &profile.times.independent_stacks];
        let receive =
            times.into_iter().flat_map(|times| times.cached.values().chain(times.migrates.values()));
        let receive = receive.flat_map(|receive| [&receive.hot].into_iter().chain(&receive.cold));
        let overheads = profile.free_memory.iter().flat_map(|pool| [&pool.acquire, &pool.release]);
        let all = times.into_iter().map(|times| &times.fully_cold).chain(receive).chain(overheads);
        all.for_each(|cost| quality.count(cost));
        // The calibration's own count includes the runs that were aborted.
        if let Some(runs) = profile.provenance.runs {
            (quality.runs, quality.set_aside) = (runs.made, runs.excluded());
            quality.vcpu_moved_runs = runs.vcpu_moved;
        }
        quality
    }

    fn count(&mut self, cost: &Measured) {
        self.costs += 1;
        self.missed += usize::from(cost.missed_target);
        self.unstated += usize::from(cost.half_width.is_none());
        self.on_disturbed += usize::from(cost.rests_on_disturbed);
        let disturbed = u64::from(cost.disturbed);
        self.runs += u64::from(cost.runs) + if cost.rests_on_disturbed { 0 } else { disturbed };
        self.set_aside += disturbed;
    }
}

impl Findings {
    /// The confidence in the advice for a region.
    #[must_use]
    pub fn grade_region(&self, advice: &Advice, region: &Region) -> Confidence {
        let effect = match region.over_default {
            _ if region.best == Combination::COMMON_DEFAULT => Effect::Default,
            Some(gain) => Effect::Gain([gain.least.gain, gain.most.gain]),
            None => carried(advice),
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
            false => carried(advice),
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
fn carried(advice: &Advice) -> Effect {
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
    let doubts = [
        perhaps_beaten(evidence.at_most_lost),
        rarely_best(evidence.among_best),
        extrapolated(evidence),
        badly_measured(evidence.quality),
        moved_apart(evidence.quality),
        unstated(evidence.quality),
    ];
    let doubts: Vec<(ConfidenceLevel, String)> = doubts.into_iter().flatten().collect();
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

fn perhaps_beaten(lost: f64) -> Option<(ConfidenceLevel, String)> {
    let level = match lost {
        _ if lost <= LITTLE => return None,
        _ if lost <= MUCH => ConfidenceLevel::Moderate,
        _ => ConfidenceLevel::Low,
    };
    Some((level, format!("the intervals do not exclude that another is better by {}", percent(lost))))
}

fn rarely_best(among_best: f64) -> Option<(ConfidenceLevel, String)> {
    let level = match among_best {
        _ if among_best >= NEARLY_ALL => return None,
        _ if among_best >= 0.5 => ConfidenceLevel::Moderate,
        _ => ConfidenceLevel::Low,
    };
    Some((
        level,
        format!(
            "with other costs as likely as these, it is among the best in {} of cases",
            percent(among_best)
        ),
    ))
}

fn extrapolated(evidence: &Evidence) -> Option<(ConfidenceLevel, String)> {
    let Evidence { processors, measured_processors, .. } = *evidence;
    (processors > measured_processors).then(|| {
        (
            ConfidenceLevel::Moderate,
            format!("extrapolated to {processors} processors from the costs of {measured_processors}"),
        )
    })
}

fn badly_measured(quality: Quality) -> Option<(ConfidenceLevel, String)> {
    let Quality { costs, missed, on_disturbed, runs, set_aside, vcpu_moved_runs, .. } = quality;
    // Runs with moved processors have a reason of their own.
    let disturbed = set_aside.saturating_sub(vcpu_moved_runs);
    let exceeds = |part: f64, count: f64, of: f64| count > part * of;
    let missed_target = exceeds(MOST, missed as f64, costs as f64)
        .then(|| format!("{missed} of {costs} costs are less precise than asked for"));
    let set_aside = exceeds(MOST, disturbed as f64, runs as f64)
        .then(|| format!("{disturbed} of {runs} runs were disturbed and set aside"));
    let busy = exceeds(A_FEW, on_disturbed as f64, costs as f64).then(|| {
        format!(
            "{on_disturbed} of {costs} costs had to be taken from runs in which other work got in the way, as the \
             machine was busy"
        )
    });
    let is_disturbed = set_aside.is_some() || busy.is_some();
    let is_low = is_disturbed && missed_target.is_some() || exceeds(MOST, on_disturbed as f64, costs as f64);
    let reasons: Vec<String> = [missed_target, set_aside, busy].into_iter().flatten().collect();
    let level = if is_low { ConfidenceLevel::Low } else { ConfidenceLevel::Moderate };
    (!reasons.is_empty()).then(|| (level, reasons.join(" and ")))
}

fn unstated(Quality { costs, unstated, .. }: Quality) -> Option<(ConfidenceLevel, String)> {
    (unstated as f64 > MOST * costs as f64).then(|| {
        (
            ConfidenceLevel::Moderate,
            format!("{unstated} of {costs} costs come without a half-width, and are taken as exact"),
        )
    })
}

fn moved_apart(Quality { runs, vcpu_moved_runs, .. }: Quality) -> Option<(ConfidenceLevel, String)> {
    (vcpu_moved_runs as f64 > A_FEW * runs as f64).then(|| {
        (
            ConfidenceLevel::Low,
            format!(
                "in {vcpu_moved_runs} of {runs} runs a hypervisor had moved the processors to another distance, for which \
                 nothing is predicted here"
            ),
        )
    })
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
    use warmcore_costs::profile::Runs;

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

    /// A run counts once, whether or not a cost uses it.
    #[test]
    fn runs_are_counted_once() {
        let mut profile = Profile::sgi_challenge_xl();
        let cost = &mut profile.times.locking.fully_cold;
        *cost = Measured { runs: 5, disturbed: 2, ..*cost };
        let counted = |profile: &Profile| {
            let Quality { on_disturbed, runs, set_aside, .. } = Quality::from_profile(profile);
            (on_disturbed, runs, set_aside)
        };
        assert_eq!(counted(&profile), (0, 7, 2));
        profile.times.locking.fully_cold.rests_on_disturbed = true;
        assert_eq!(counted(&profile), (1, 5, 2));
        profile.provenance.runs = Some(Runs { made: 153, disturbed: 40, vcpu_moved: 3 });
        assert_eq!(counted(&profile), (1, 153, 43));
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

    #[test]
    fn published_costs_have_no_runs_and_were_not_disturbed() {
        let quality = Quality::from_profile(&Profile::sgi_challenge_xl());
        assert_eq!(quality, Quality { costs: 52, unstated: 52, ..Quality::default() });
    }
}
