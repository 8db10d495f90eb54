//! The verdict: what to do, what it gains, how sure that is.
//!
//! Choices and ratios come first, because another study of the machine finds the same ones. Rates follow,
//! with the interval in which other studies would find them.

use crate::Findings;
use crate::decide::{Advice, Gain, GainAt};
use crate::grade::{is_above_noise, percent};
use crate::present::actions::{actions, capitalised};
use crate::present::headline::{confidence, headline};
use crate::present::phrases::{factor, in_brief, ordinary_load, processors, saved};
use crate::present::scope::scope;
use crate::server::present::advised;
use warmcore_costs::profile::Kind;
use warmcore_record::document::{KeyFigure, ReportVerdict, Statement};
use warmcore_scenario::Combination;
use warmcore_units::{Estimate, PerSecond};

/// The maximum number of lines of advice for one number of processors.
const LINES: usize = 3;

/// The verdict on `findings`, for the first number of processors.
#[must_use]
pub fn verdict(findings: &Findings) -> ReportVerdict {
    let Some(advice) = findings.advice.first() else {
        return ReportVerdict { headline: "Nothing was predicted.".to_owned(), ..ReportVerdict::default() };
    };
    let in_memory = ReportVerdict {
        headline: headline(findings, advice),
        confidence: confidence(findings, advice),
        scope: scope(findings),
        figures: key_figures(advice),
        statements: lines(findings, advice, ""),
        actions: actions(findings),
        ..ReportVerdict::default()
    };
    advised::leading(&findings.servers, in_memory)
}

/// The advice for all other numbers of processors.
#[must_use]
pub fn other_processor_counts(findings: &Findings) -> Vec<Statement> {
    let on = |advice| format!("On {}, ", processors(findings, advice));
    findings.advice.iter().skip(1).flat_map(|advice| lines(findings, advice, &on(advice))).collect()
}

fn key_figures(advice: &Advice) -> Vec<KeyFigure> {
    let figure = |gain: Estimate<f64>, meaning: String| KeyFigure {
        value: format!("−{}", percent(gain.mean)),
        half_width: format!("± {}", percent(gain.half_width.unwrap_or(0.0))),
        meaning,
    };
    let ordinary = advice.ordinary.and_then(|at| {
        let meaning = format!("packet delay against the common default, at {}", ordinary_load(at));
        Some(figure(at.over_default?, meaning))
    });
    let capacity = advice.capacity.over_default;
    let carries = KeyFigure {
        value: format!("×{:.2}", capacity.mean),
        half_width: format!("± {:.2}", capacity.half_width.unwrap_or(0.0)),
        meaning: format!("traffic carried against the common default, with {}", advice.capacity.best),
    };
    ordinary.into_iter().chain([carries]).collect()
}

/// The widest regions, from low loads to high, and the combination with the highest capacity if a line is
/// left for it. Each line begins with `on`.
fn lines(findings: &Findings, advice: &Advice, on: &str) -> Vec<Statement> {
    let mut regions: Vec<usize> = (0..advice.regions.len()).collect();
    let width = |index: &usize| advice.regions[*index].to.0 / advice.regions[*index].from.0;
    regions.sort_by(|a, b| width(b).total_cmp(&width(a)));
    regions.truncate(LINES);
    regions.sort_unstable();
    let mut lines: Vec<Statement> =
        regions.into_iter().map(|index| region_line(findings, advice, index)).collect();
    let capacity = capacity_line(findings, advice);
    if lines.len() < LINES {
        lines.push(capacity);
    } else if let Some(last) = lines.last_mut() {
        last.evidence.extend(capacity.evidence);
    }
    lines
        .into_iter()
        .map(|line| Statement { text: capitalised(&format!("{on}{}", line.text)), ..line })
        .collect()
}

fn region_line(findings: &Findings, advice: &Advice, index: usize) -> Statement {
    let region = &advice.regions[index];
    let mut text = format!("{}, ", loads(findings, advice, index));
    if region.best == Combination::COMMON_DEFAULT {
        text += "keep the common default: no other combination is shown to be faster.";
    } else {
        text += &format!("use {}", in_brief(region.best));
        text += &match region.over_default {
            Some(Gain { least, .. }) if is_above_noise(least.gain) => {
                format!(
                    ": a packet takes at least {} less time than under the common default.",
                    saved(least.gain)
                )
            }
            Some(_) => ": at some of these loads no gain over the common default is measurable.".to_owned(),
            None => ": the common default is at 90% of its capacity there, or beyond it.".to_owned(),
        };
    }
    Statement {
        text,
        evidence: region_evidence(advice, index),
        confidence: findings.grade_region(advice, region),
    }
}

/// The loads of a region, in words and with its borders.
fn loads(findings: &Findings, advice: &Advice, index: usize) -> String {
    let border = |index: usize| {
        let border = advice.regions.get(index).and_then(|region| region.border);
        border.map(|border| match border.within {
            Some(ends) => format!("about {}{}", border.at, in_another_study(findings, ends)),
            None => "a rate that is not determined".to_owned(),
        })
    };
    match (border(index), border(index + 1)) {
        (None, None) => "at every load".to_owned(),
        (None, Some(end)) => format!("at low loads, up to {end}"),
        (Some(_), None) if index == 1 => "at higher loads".to_owned(),
        (Some(begin), None) => format!("at high loads, from {begin}"),
        (Some(begin), Some(end)) => format!("in between, from {begin} to {end}"),
    }
}

/// The rates between which another study would find a rate; empty for published costs, which have no other
/// study.
fn in_another_study(findings: &Findings, [low, high]: [PerSecond; 2]) -> String {
    match findings.profile.provenance.kind {
        Kind::Measured => format!(" ({low} to {high} with another study's costs at this distance)"),
        Kind::Published => String::new(),
    }
}

fn region_evidence(advice: &Advice, index: usize) -> Vec<String> {
    let region = &advice.regions[index];
    let shown =
        |name: &str, at: GainAt| format!("{name}: {} at {}, against {}", saved(at.gain), at.rate, at.against);
    let over = |name: &str, gain: Option<Gain>| {
        let ends = gain.map(|gain| {
            let ends = [("smallest", gain.least), ("largest", gain.most)];
            ends.map(|(end, at)| shown(&format!("{end} gain over {name}"), at))
        });
        ends.into_iter().flatten()
    };
    let mut lines: Vec<String> =
        over("the common default", region.over_default).chain(over("the worst", region.over_worst)).collect();
    if region.default_saturates {
        lines.push("in the upper part the common default is saturated or nearly so".to_owned());
    }
    if region.saturated > 0 {
        let (saturated, all) = (region.saturated, Combination::COUNT);
        lines.push(format!("{saturated} of {all} combinations are saturated at {}", region.to));
    }
    if !region.as_good.is_empty() {
        let names: Vec<String> = region.as_good.iter().map(ToString::to_string).collect();
        lines.push(format!("no better as far as is known, and less simple: {}", names.join("; ")));
    }
    let among = region.among_best.iter().filter(|(_, part)| *part >= 0.05);
    let among: Vec<String> =
        among.map(|(combination, part)| format!("{combination} in {}", percent(*part))).collect();
    lines.push(format!("among the best, with other costs as likely as the measured: {}", among.join("; ")));
    lines
}

fn capacity_line(findings: &Findings, advice: &Advice) -> Statement {
    let capacity = &advice.capacity;
    let text = if capacity.best == Combination::COMMON_DEFAULT {
        "no combination is shown to carry more than the common default.".to_owned()
    } else {
        let (best, over) = (in_brief(capacity.best), factor(capacity.over_default));
        format!("{best} carry {over} times what the common default carries.")
    };
    let mut evidence = vec![
        format!("times the lowest of all combinations: {}", factor(capacity.over_worst)),
        format!("the highest rate: {}{}", capacity.capacity, in_another_study(findings, capacity.between)),
    ];
    if !capacity.as_good.is_empty() {
        let names: Vec<String> = capacity.as_good.iter().map(ToString::to_string).collect();
        evidence.push(format!("carry as much, as far as is known: {}", names.join("; ")));
    }
    Statement { text, evidence, confidence: findings.grade_capacity(advice) }
}
