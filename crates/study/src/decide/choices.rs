//! Which curves to choose where: the fewest choices that cover all rates, and the borders between them.

use super::{Border, INDIFFERENT, least, simplest};
use crate::predictions::HostPredictions;
use std::ops::RangeInclusive;

/// A curve that is among the best at several rates in a row.
pub(super) struct Choice {
    pub(super) rates: RangeInclusive<usize>,
    pub(super) best: usize,
    /// All curves that are among the best at each of them.
    pub(super) good: Vec<usize>,
}

/// The smallest number of choices that cover all rates at which any combination keeps up.
pub(super) fn choices(host: &HostPredictions) -> Option<Vec<Choice>> {
    let mut choices = Vec::new();
    let mut from = 0;
    while from < host.rates.len() {
        let mut good = as_good_as_best(host, from);
        if good.is_empty() {
            break;
        }
        let mut to = from;
        while to + 1 < host.rates.len() {
            let next = as_good_as_best(host, to + 1);
            let both: Vec<usize> = good.iter().copied().filter(|curve| next.contains(curve)).collect();
            if both.is_empty() {
                break;
            }
            good = both;
            to += 1;
        }
        let best = simplest(host, &good, |curve| total_delay(host, curve, from..=to))?;
        choices.push(Choice { rates: from..=to, best, good });
        from = to + 1;
    }
    Some(choices)
}

/// The borders between `choices`, in ascending order. Each border is searched between the one before and the
/// end of the next choice.
pub(super) fn borders(host: &HostPredictions, choices: &[Choice]) -> Vec<Border> {
    let mut borders: Vec<Border> = Vec::new();
    for pair in choices.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        let above = borders.last().map_or(0, |last| host.rates.partition_point(|rate| rate.0 <= last.at.0));
        let from = above.min(*before.rates.end());
        borders.push(Border::between(host, before.best, after.best, from..=*after.rates.end()));
    }
    borders
}

/// The curves whose delay at the given `rate` cannot be distinguished from the lowest.
fn as_good_as_best(host: &HostPredictions, rate: usize) -> Vec<usize> {
    let delay = |curve: &usize| Some((*curve, host.steady(*curve, rate)?.delay.mean.0));
    let delays = (0..host.curves.len()).filter_map(|curve| delay(&curve));
    let Some((lowest, _)) = delays.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Vec::new() };
    let is_good = |curve: &usize| {
        host.delay_ratio(*curve, lowest, rate).is_some_and(|ratio| least(ratio) <= 1.0 + INDIFFERENT)
    };
    (0..host.curves.len()).filter(is_good).collect()
}

/// The sum of the logarithms of a curve's delays.
fn total_delay(host: &HostPredictions, curve: usize, rates: RangeInclusive<usize>) -> f64 {
    let outcomes = rates.filter_map(|rate| host.steady(curve, rate));
    outcomes.map(|outcome| outcome.delay.mean.0.ln()).sum()
}
