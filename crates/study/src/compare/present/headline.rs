//! The verdict of a comparison: the first lines of its report.

use super::delays::chart;
use super::words::{error_words, is_noisy};
use crate::compare::differences::{Difference, LIMIT, differences};
use crate::compare::judge::Judgement;
use crate::compare::point::{ComparedPoint, JudgedQuantity, PredictionModel};
use crate::compare::{Compared, Comparison};
use std::collections::BTreeSet;
use warmcore_costs::Profile;
use warmcore_record::document::{Confidence, ConfidenceLevel, ReportVerdict, Statement};

pub(super) fn verdict(comparison: &Comparison, profile: &Profile) -> ReportVerdict {
    let all = &comparison.compared;
    ReportVerdict {
        headline: headline(comparison),
        scope: format!(
            "This speaks for the runtime and the user-space receive path of Warmcore on this machine, predicted with the \
             costs of the {}.",
            profile.name
        ),
        chart: Some(chart(all, "mean", "mean packet delay", |figures| figures.delay)),
        statements: all.iter().map(statement).chain(choice(all)).collect(),
        ..ReportVerdict::default()
    }
}

/// The result in a few sentences.
#[must_use]
pub fn headline(comparison: &Comparison) -> String {
    let all = &comparison.compared;
    let points = || all.iter().flat_map(|compared| &compared.points);
    let count =
        |source, judgement| points().filter(|point| point.judgement(source) == Some(judgement)).count();
    let judged = points().filter(|point| point.judgement(PredictionModel::Caches).is_some()).count();
    let [good, off, undecided] = [Judgement::Good, Judgement::Off, Judgement::Undecided]
        .map(|judgement| count(PredictionModel::Caches, judgement));
    if let Some(nothing) = nothing_judged(comparison) {
        return nothing;
    }
    let mut headline = format!(
        "{good} of {judged} predictions are good: mean delay within {:.0}% and time in the stack within {:.0}% of \
             what was measured. {off} are not, and {undecided} are undecided. Without a model of caches, {} would be \
             good.",
        JudgedQuantity::Delay.limit() * 100.0,
        JudgedQuantity::Stack.limit() * 100.0,
        count(PredictionModel::Null, Judgement::Good),
    );
    let noisy = points().filter(|point| is_noisy(point)).count();
    if noisy > 0 {
        headline += &format!(
            " At {noisy} of {}, the machine was too busy with other work for that to be judged.",
            points().count()
        );
    }
    let together = points().filter(|point| !point.is_modelled()).count();
    if together > 0 {
        headline += &format!(
            " At {together} of {}, workers use one stack at the same time, which is not modelled.",
            points().count()
        );
    }
    let apart = points().filter(|point| !point.is_near()).count();
    if apart > 0 {
        headline += &format!(
            " The processors were not as near as the prediction takes them to be at {apart} of {}.",
            points().count()
        );
    }
    headline
}

/// Says that nothing could be judged, and why; `None` if something could.
#[must_use]
pub fn nothing_judged(comparison: &Comparison) -> Option<String> {
    let points: Vec<&ComparedPoint> =
        comparison.compared.iter().flat_map(|compared| &compared.points).collect();
    if points.iter().any(|point| point.judgement(PredictionModel::Caches).is_some()) {
        return None;
    }
    let reasons: Vec<&str> = points.iter().filter_map(|point| point.unjudged()).collect();
    let distinct = BTreeSet::from_iter(&reasons);
    let counted = distinct.into_iter().map(|reason| {
        let count = reasons.iter().filter(|other| *other == reason).count();
        format!("at {count} of {} loads {reason}", reasons.len())
    });
    let all = counted.collect::<Vec<_>>().join("; ");
    Some(format!("Nothing could be judged: {all}."))
}

/// The statement about one scheduling.
fn statement(compared: &Compared) -> Statement {
    let share = |quantity: JudgedQuantity| {
        let judged =
            || compared.points.iter().filter_map(|point| point.judged(quantity, PredictionModel::Caches));
        let good = judged().filter(|&judgement| judgement == Judgement::Good).count();
        format!("{quantity} within {:.0}% at {good} of {}", quantity.limit() * 100.0, judged().count())
    };
    let evidence = compared.points.iter().map(|point| {
        let error = |quantity| error_words(point, quantity, PredictionModel::Caches);
        format!(
            "at {}: mean delay {}, time in the stack {}, 99th percentile {}",
            point.rate,
            error(JudgedQuantity::Delay),
            error(JudgedQuantity::Stack),
            error(JudgedQuantity::P99)
        )
    });
    let is_decided = |point: &ComparedPoint| {
        point.judgement(PredictionModel::Caches).is_some_and(|judgement| judgement != Judgement::Undecided)
    };
    let all_decided = compared.points.iter().all(is_decided);
    Statement {
        text: format!(
            "{}: {}, {}, {}.",
            compared.scheduling,
            share(JudgedQuantity::Delay),
            share(JudgedQuantity::Stack),
            share(JudgedQuantity::P99)
        ),
        evidence: evidence.collect(),
        confidence: Confidence {
            level: if all_decided { ConfidenceLevel::High } else { ConfidenceLevel::Low },
            reason: "high where every load could be judged and is decided: a prediction counts as within a limit only \
                     if the whole interval of its error is"
                .to_owned(),
        },
    }
}

/// The statement about the differences between schedulings; nothing if there is only one.
fn choice(all: &[Compared]) -> Option<Statement> {
    let differences = differences(all);
    if differences.is_empty() {
        return None;
    }
    let decided: Vec<bool> = differences.iter().filter_map(Difference::order_is_right).collect();
    let right = decided.iter().filter(|&&right| right).count();
    let good = differences.iter().filter(|difference| difference.judged() == Judgement::Good).count();
    let null =
        differences.iter().filter(|difference| difference.null_judged() == Some(Judgement::Good)).count();
    Some(Statement {
        text: format!(
            "Which of two ways is better is predicted right {right} of {} times that prediction and clock both tell \
             one from the other. By how much is predicted within {:.0}% of the delay {good} of {} times; without a model of caches {null} times.",
            decided.len(),
            LIMIT * 100.0,
            differences.len()
        ),
        evidence: Vec::new(),
        confidence: Confidence {
            level: if decided.len() == differences.len() {
                ConfidenceLevel::High
            } else {
                ConfidenceLevel::Low
            },
            reason: "whether prediction and clock can tell the ways apart at every rate".to_owned(),
        },
    })
}
