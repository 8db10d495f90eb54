//! Phrases that sentences of the verdict share: combinations, ratios, gains, processors, loads.

use crate::Findings;
use crate::decide::{Advice, Ordinary};
use crate::grade::percent;
use warmcore_costs::Approach;
use warmcore_scenario::Combination;
use warmcore_units::Estimate;

/// A combination in as few words as a reader who does not know Salehi 1994 understands.
pub(super) fn in_brief(combination: Combination) -> String {
    let pools = if combination.has_own_pools() { "" } else { ", shared pool" };
    format!("{}, {}{pools}", stacks(combination.approach), combination.policy)
}

/// A combination in plain words.
pub(super) fn in_words(combination: Combination) -> String {
    let stack = stacks(combination.approach);
    let policy = combination.policy.in_words();
    let pools = if combination.has_own_pools() { "" } else { ", with a shared pool" };
    format!("{stack} {policy}{pools}")
}

fn stacks(approach: Approach) -> &'static str {
    match approach {
        Approach::Locking => "one stack with locks",
        Approach::IndependentStacks => "independent stacks",
    }
}

/// A factor with its half-width: `1.79 ± 0.03`.
pub(super) fn factor(ratio: Estimate<f64>) -> String {
    format!("{:.2} ± {:.2}", ratio.mean, ratio.half_width.unwrap_or(0.0))
}

/// A gain in percent with its half-width.
pub(super) fn saved(gain: Estimate<f64>) -> String {
    format!("{} ± {}", percent(gain.mean), percent(gain.half_width.unwrap_or(0.0)))
}

/// How many processors, and whether that is more than was measured.
pub(super) fn processors(findings: &Findings, advice: &Advice) -> String {
    let count = advice.processors;
    let measured = findings.measured_processors;
    match count {
        1 => "1 processor".to_owned(),
        _ if count > measured => format!("{count} processors (extrapolated from {measured})"),
        _ => format!("{count} processors"),
    }
}

/// The ordinary load, in words.
pub(super) fn ordinary_load(Ordinary { rate, load, .. }: Ordinary) -> String {
    match (0.47..=0.53).contains(&load) {
        true => format!("{rate}, half of what the common default carries"),
        false => format!("{rate}, {} of what the common default carries", percent(load)),
    }
}
