//! Advice about the scheduler of a mix, in words: what to do, and whom it would harm.

use super::words::with_unit;
use crate::visible::visible;
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::advice::{
    Advice, Assessment, GREATEST_LOSS_PERCENT, Likelihood, RunFigures, WORTH_PERCENT, advise, longest_wait,
    rejected, starving_now,
};
use warmcore_units::Estimate;

/// What to do, who would lose by it, and whom any of the alternatives would starve: a line each.
pub(crate) fn advice(scenario: &RunQueueScenario, base: &[RunFigures], assessed: &[Assessment]) -> String {
    let mut lines = vec![sentence(scenario, base, assessed)];
    lines.extend(losers(scenario, base, assessed));
    lines.extend(not_advised(scenario, base, assessed));
    lines.extend(starving(scenario, base, assessed));
    lines.join("\n") + "\n"
}

/// What to do.
pub(crate) fn sentence(scenario: &RunQueueScenario, base: &[RunFigures], assessed: &[Assessment]) -> String {
    match advise(base, assessed) {
        Advice::Change(best) => format!(
            "Advice: {} would make this mix {} faster.",
            best.alternative.name,
            with_unit(&best.gain, "%")
        ),
        Advice::Harmful(best) => format!(
            "Advice: keep the scheduler. {} would make this mix {} faster, but at the cost of some.",
            best.alternative.name,
            with_unit(&best.gain, "%")
        ),
        Advice::CannotTell(best) => format!(
            "Advice: none yet. {} may make this mix {} faster. The runs do not tell whether {}: give more (--runs).",
            best.alternative.name,
            with_unit(&best.gain, "%"),
            doubts(scenario, best).join(", nor whether ")
        ),
        Advice::Keep => {
            format!("Advice: keep the scheduler. No alternative makes this mix faster by {WORTH_PERCENT} %.")
        }
        Advice::OneRun => "Advice: none. One run has no scatter to compare with: give --runs 2 or more.".to_owned(),
        Advice::NoMisses => "Advice: cannot tell what affinity would save, since no cache misses are charged: give the applications a \
                             `footprint` or `references`, or a longer run. Without misses, no alternative is faster."
            .to_owned(),
        Advice::NoAlternative => {
            "Advice: none. There is no other scheduler than the scenario's to compare with.".to_owned()
        }
    }
}

/// The applications that lose by the alternative that the advice names.
pub(crate) fn losers(
    scenario: &RunQueueScenario,
    base: &[RunFigures],
    assessed: &[Assessment],
) -> Vec<String> {
    let Some(best) = advise(base, assessed).about() else { return Vec::new() };
    let loses = |(place, gain): (usize, &Estimate<f64>)| {
        (gain.mean + gain.half() < 0.0).then(|| {
            let slower = Estimate::new(-gain.mean, gain.half());
            let name = visible(&scenario.applications[place].name);
            format!("With it, {name} would be {} slower.", with_unit(&slower, "%"))
        })
    };
    best.gains.iter().enumerate().filter_map(loses).collect()
}

/// What the runs do not tell of an alternative.
fn doubts(scenario: &RunQueueScenario, one: &Assessment) -> Vec<String> {
    let gain = (one.is_worth() == Likelihood::Possible).then(|| format!("it gains {WORTH_PERCENT} %"));
    let harm = one.maybe_harmed().into_iter().map(|place| {
        let name = visible(&scenario.applications[place].name);
        format!("it makes {name} slower by more than {GREATEST_LOSS_PERCENT} %")
    });
    gain.into_iter().chain(harm).collect()
}

/// The alternatives that look faster than what is advised, and why they are not.
pub(crate) fn not_advised(
    scenario: &RunQueueScenario,
    base: &[RunFigures],
    assessed: &[Assessment],
) -> Vec<String> {
    let line = |(one, harmed): (&Assessment, Vec<usize>)| {
        let gain = with_unit(&one.gain, "%");
        let harm = |place: &usize| {
            let name = visible(&scenario.applications[*place].name);
            let slower = Estimate::new(-one.gains[*place].mean, one.gains[*place].half());
            format!("{name} would be {} slower", with_unit(&slower, "%"))
        };
        let harmed: Vec<String> = harmed.iter().map(harm).collect();
        let why = if harmed.is_empty() { "its gain is not sure".to_owned() } else { harmed.join(", ") };
        format!("Not advised: {}, {gain} faster, since {why}.", one.alternative.name)
    };
    rejected(base, assessed).into_iter().map(line).collect()
}

/// Whom the scenario's own scheduler starves, and whom the alternatives would.
pub(crate) fn starving(
    scenario: &RunQueueScenario,
    base: &[RunFigures],
    assessed: &[Assessment],
) -> Vec<String> {
    let one = |one: &Assessment, place: usize| {
        format!(
            "Starving: with {}, a process of {} waits up to {} instead of {}.",
            one.alternative.name,
            visible(&scenario.applications[place].name),
            with_unit(&one.longest_waits[place], "s"),
            with_unit(&longest_wait(base, place), "s")
        )
    };
    let now = starving_now(scenario, base).into_iter().map(|place| {
        let name = visible(&scenario.applications[place].name);
        format!(
            "Starving now: a process of {name} waits up to {}.",
            with_unit(&longest_wait(base, place), "s")
        )
    });
    let then =
        assessed.iter().flat_map(|each| each.starved(base).into_iter().map(move |place| one(each, place)));
    now.chain(then).collect()
}
