//! The doubts about a piece of advice: each limits the confidence in it, and gives its reason.

use super::{Evidence, LITTLE, MUCH, NEARLY_ALL, Quality, percent};
use warmcore_record::document::ConfidenceLevel;

/// The fraction of costs, or of runs, that makes a problem of theirs count.
const MOST: f64 = 0.5;
/// The fraction of costs that may use disturbed runs on a machine that still counts as quiet.
const A_FEW: f64 = 0.1;

/// The highest confidence that a doubt allows, and the reason.
type Doubt = (ConfidenceLevel, String);

/// All doubts that `evidence` raises, in the order in which they are stated.
pub(super) fn all(evidence: &Evidence) -> Vec<Doubt> {
    let doubts = [
        perhaps_beaten(evidence.at_most_lost),
        rarely_best(evidence.among_best),
        extrapolated(evidence),
        badly_measured(evidence.quality),
        moved_apart(evidence.quality),
        unstated(evidence.quality),
    ];
    doubts.into_iter().flatten().collect()
}

fn perhaps_beaten(lost: f64) -> Option<Doubt> {
    let level = match lost {
        _ if lost <= LITTLE => return None,
        _ if lost <= MUCH => ConfidenceLevel::Moderate,
        _ => ConfidenceLevel::Low,
    };
    Some((level, format!("the intervals do not exclude that another is better by {}", percent(lost))))
}

fn rarely_best(among_best: f64) -> Option<Doubt> {
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

fn extrapolated(evidence: &Evidence) -> Option<Doubt> {
    let Evidence { processors, measured_processors, .. } = *evidence;
    (processors > measured_processors).then(|| {
        (
            ConfidenceLevel::Moderate,
            format!("extrapolated to {processors} processors from the costs of {measured_processors}"),
        )
    })
}

fn badly_measured(quality: Quality) -> Option<Doubt> {
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

fn unstated(Quality { costs, unstated, .. }: Quality) -> Option<Doubt> {
    (unstated as f64 > MOST * costs as f64).then(|| {
        (
            ConfidenceLevel::Moderate,
            format!("{unstated} of {costs} costs come without a half-width, and are taken as exact"),
        )
    })
}

fn moved_apart(Quality { runs, vcpu_moved_runs, .. }: Quality) -> Option<Doubt> {
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
