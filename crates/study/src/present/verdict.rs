//! The verdict: what to do, what it gains, how sure that is.

use crate::Findings;
use crate::decide::{Advice, Gain, GainAt, Region};
use crate::present::{actions::actions, scope::scope};
use warmcore_costs::Approach;
use warmcore_record::document::Verdict;
use warmcore_record::document::{Confidence, KeyFigure, Level, Statement};
use warmcore_scenario::Combination;
use warmcore_units::Estimate;

/// The verdict on `findings`; the first number of processors leads.
#[must_use]
pub fn verdict(findings: &Findings) -> Verdict {
    Verdict {
        headline: findings.advice.first().map_or_else(|| "Nothing was predicted.".to_owned(), headline),
        figures: findings.advice.first().map_or_else(Vec::new, key_figures),
        scope: scope(findings),
        statements: findings.advice.first().map_or_else(Vec::new, statements),
        actions: actions(findings),
        ..Verdict::default()
    }
}

/// What is found for the numbers of processors that do not lead.
#[must_use]
pub fn ahead(findings: &Findings) -> Vec<Statement> {
    findings.advice.iter().skip(1).flat_map(statements).collect()
}

fn statements(advice: &Advice) -> Vec<Statement> {
    let regions = advice.regions.iter().map(|region| region_statement(advice, region));
    regions.chain([capacity_statement(advice)]).collect()
}

/// The advice in one sentence, for who reads no further.
#[must_use]
pub fn headline(advice: &Advice) -> String {
    let processors = processors(advice.processors);
    let mut sentence = match &advice.regions[..] {
        [] => return format!("On {processors}, every combination is saturated at every rate."),
        [only] => format!("On {processors}, use {} at every load", in_words(only.best)),
        [first, .., last] if first.best == last.best => {
            format!("On {processors}, use {} at most loads", in_words(first.best))
        }
        [first, .., last] => format!(
            "On {processors}, use {} below about {}, and {} above",
            in_words(first.best),
            first.to,
            in_words(last.best)
        ),
    };
    match over_default(advice).filter(|gain| is_above_noise(gain.most.gain)) {
        Some(gain) => {
            sentence += &format!(": packets take {} less time than under the common default", span_of(gain));
        }
        None => sentence += ": no policy is measurably faster than the common default",
    }
    let capacity = advice.capacity.over_default;
    if is_above_noise(Estimate { mean: capacity.mean - 1.0, ..capacity }) {
        sentence += &format!(", and the machine carries {:.2} times the traffic", capacity.mean);
    }
    sentence + "."
}

/// The gain over the common default, over all regions that are not the default's own.
fn over_default(advice: &Advice) -> Option<Gain> {
    let regions = advice.regions.iter().filter(|region| region.best != Combination::COMMON_DEFAULT);
    let gains = regions.filter_map(|region| region.over_default);
    gains.reduce(|a, b| Gain {
        least: if b.least.gain.mean < a.least.gain.mean { b.least } else { a.least },
        most: if b.most.gain.mean > a.most.gain.mean { b.most } else { a.most },
    })
}

/// A combination as a person would say it.
#[must_use]
pub fn in_words(combination: Combination) -> String {
    let stack = match combination.approach {
        Approach::Locking => "one stack with locks",
        Approach::IndependentStacks => "independent stacks",
    };
    let policy = combination.policy.in_words();
    let pools = if combination.has_own_pools() { "" } else { ", with a shared pool" };
    format!("{stack} {policy}{pools}")
}

fn key_figures(advice: &Advice) -> Vec<KeyFigure> {
    let gains = |of: fn(&Region) -> Option<Gain>| {
        let gains = advice.regions.iter().filter_map(of).map(|gain| gain.most);
        gains.max_by(|a, b| a.gain.mean.total_cmp(&b.gain.mean))
    };
    let figure = |at: GainAt, meaning: String| KeyFigure {
        value: format!("−{}", percent(at.gain.mean)),
        half_width: format!("± {}", percent(at.gain.half_width.unwrap_or(0.0))),
        meaning,
    };
    let over_default = gains(|region| region.over_default)
        .map(|at| figure(at, format!("packet delay against the common default, at {}", at.rate)));
    let over_worst = gains(|region| region.over_worst)
        .map(|at| figure(at, format!("packet delay against {}, at {}", at.against, at.rate)));
    let capacity = advice.capacity.over_default;
    let carries = KeyFigure {
        value: format!("×{:.2}", capacity.mean),
        half_width: format!("± {:.2}", capacity.half_width.unwrap_or(0.0)),
        meaning: format!("traffic carried against the common default, with {}", advice.capacity.best),
    };
    over_default.into_iter().chain(over_worst).chain([carries]).collect()
}

fn region_statement(advice: &Advice, region: &Region) -> Statement {
    let span = if region.from == region.to {
        format!("At {}", region.from)
    } else {
        format!("From {} to {}", region.from, region.to)
    };
    let on = processors(advice.processors);
    let mut text = format!("{span} on {on}, use {}.", in_words(region.best));
    if let Some(gain) = region.over_default.filter(|_| region.best != Combination::COMMON_DEFAULT) {
        text += &format!(" A packet takes {} less time than under the common default.", span_of(gain));
    }
    if region.best == Combination::COMMON_DEFAULT {
        text += " This is the common default.";
    }
    if region.default_saturates {
        text += " In the upper part of this region the common default is saturated or nearly so.";
    }
    if let Some(gain) = region.over_worst {
        text +=
            &format!(" Against the worst combination that keeps up easily, it is {} less.", span_of(gain));
    }
    let evidence = |name: &str, at: GainAt| {
        let half_width = percent(at.gain.half_width.unwrap_or(0.0));
        format!("{name}: {} ± {half_width} at {}, against {}", percent(at.gain.mean), at.rate, at.against)
    };
    let over = |name: &str, gain: Option<Gain>| {
        let ends = gain.map(|gain| {
            let ends = [("smallest", gain.least), ("largest", gain.most)];
            ends.map(|(end, at)| evidence(&format!("{end} gain over {name}"), at))
        });
        ends.into_iter().flatten()
    };
    let mut lines: Vec<String> =
        over("the common default", region.over_default).chain(over("the worst", region.over_worst)).collect();
    if region.saturated > 0 {
        lines.push(format!(
            "{} of {} combinations are saturated at {}",
            region.saturated,
            Combination::COUNT,
            region.to
        ));
    }
    if !region.as_good.is_empty() {
        let names: Vec<String> = region.as_good.iter().map(ToString::to_string).collect();
        lines.push(format!("as good throughout: {}", names.join("; ")));
    }
    Statement { text, evidence: lines, confidence: confidence(region) }
}

/// How sure it is that the region's choice beats what it is compared with.
fn confidence(region: &Region) -> Confidence {
    let Some(gain) = region.over_default.filter(|_| region.best != Combination::COMMON_DEFAULT) else {
        let reason = match region.best == Combination::COMMON_DEFAULT {
            true => "no other combination is better by more than its interval or by 1%",
            false => {
                "the common default is saturated or nearly so in this region, the advised combination is not"
            }
        };
        return Confidence { level: Level::High, reason: reason.to_owned() };
    };
    let reason = |words: &str, at: GainAt| {
        format!(
            "{words} ({} ± {} at {}; the half-width holds the simulation's and the measured costs' uncertainty)",
            percent(at.gain.mean),
            percent(at.gain.half_width.unwrap_or(0.0)),
            at.rate
        )
    };
    let (level, reason) = if is_above_noise(gain.least.gain) {
        (Level::High, reason("even the smallest gain exceeds its half-width", gain.least))
    } else if is_above_noise(gain.most.gain) {
        (
            Level::Moderate,
            reason("the largest gain exceeds its half-width, the smallest does not", gain.least),
        )
    } else {
        (Level::Low, reason("no gain over the common default exceeds its half-width", gain.most))
    };
    Confidence { level, reason }
}

fn capacity_statement(advice: &Advice) -> Statement {
    let capacity = &advice.capacity;
    let times = |of: Estimate<f64>| format!("{:.2} ± {:.2}", of.mean, of.half_width.unwrap_or(0.0));
    let exceeds =
        is_above_noise(Estimate { mean: capacity.over_default.mean - 1.0, ..capacity.over_default });
    let (level, reason) = match exceeds {
        true => (Level::High, "the ratio to the common default exceeds 1 by more than its half-width"),
        false => (Level::Low, "the ratio to the common default is 1 within its half-width"),
    };
    Statement {
        text: format!(
            "On {} the highest rate, {}, is carried by {}: {:.2} times what the common default carries.",
            processors(advice.processors),
            capacity.capacity.mean,
            in_words(capacity.best),
            capacity.over_default.mean
        ),
        evidence: vec![
            format!("capacity: {}", capacity.capacity),
            format!("times the common default's: {}", times(capacity.over_default)),
            format!("times the lowest of all combinations: {}", times(capacity.over_worst)),
        ],
        confidence: Confidence { level, reason: reason.to_owned() },
    }
}

/// Whether a gain is positive beyond its half-width.
fn is_above_noise(gain: Estimate<f64>) -> bool {
    gain.mean > gain.half_width.unwrap_or(0.0)
}

fn span_of(gain: Gain) -> String {
    let (least, most) = (percent(gain.least.gain.mean), percent(gain.most.gain.mean));
    if least == most { least } else { format!("{least} to {most}") }
}

fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}
