//! Steps that recipes are made of.

use crate::salehi_1994::simulations::{AtRate, above, extremes, ratio};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Finding, Value, ValueAt};
use warmcore_sim::packet::Outcome;
use warmcore_units::{Estimate, PerSecond};

/// One value.
pub(super) fn value(value: Estimate<f64>, note: impl Into<String>) -> Option<Finding> {
    Some(Finding::single(value, note))
}

/// A value at each rate.
pub(super) fn rates(values: &[AtRate], note: impl Into<String>) -> Option<Finding> {
    let found = values.iter().map(|at| ValueAt::new(rate(at.rate), at.value));
    Finding::new(found.collect(), note)
}

/// A value at each rate, for several comparisons, which are the cases of the claim.
pub(super) fn each<L: AsRef<str>>(
    comparisons: impl IntoIterator<Item = (L, Vec<AtRate>)>,
    note: impl Into<String>,
) -> Option<Finding> {
    let labelled = |(label, values): (L, Vec<AtRate>)| {
        let found = |at: AtRate| ValueAt::new(rate(at.rate), at.value).in_case(label.as_ref());
        values.into_iter().map(found).collect::<Vec<_>>()
    };
    Finding::new(comparisons.into_iter().flat_map(labelled).collect(), note)
}

/// A value at each of several named places.
pub(super) fn places<P: Into<String>>(
    values: impl IntoIterator<Item = (P, Estimate<f64>)>,
    note: impl Into<String>,
) -> Option<Finding> {
    let found = values.into_iter().map(|(place, value)| ValueAt::new(place, value));
    Finding::new(found.collect(), note)
}

/// Whether the difference is significantly above zero: its interval lies above zero.
fn is_above(at: &AtRate) -> bool {
    at.value.mean > at.value.half_width.unwrap_or(0.0)
}

/// Whether the difference is significantly below zero: its interval lies below zero.
fn is_below(at: &AtRate) -> bool {
    at.value.mean < -at.value.half_width.unwrap_or(0.0)
}

/// The rate at which one alternative becomes better than the other as the rate rises, in percent of
/// `capacity`. Its interval reaches from the last rate before which every significant one of `differences` is
/// above zero, to the first rate from which on every significant one is below zero. It starts at zero if none
/// is above zero at first, and has no end if none is below zero at last.
pub(super) fn crossover(differences: &[AtRate], capacity: f64) -> Value {
    let first_below = differences.iter().position(is_below).unwrap_or(differences.len());
    let last_above = differences.iter().rposition(is_above);
    let before = differences.iter().take(first_below).rposition(is_above);
    let after = differences.iter().skip(last_above.map_or(0, |last| last + 1)).find(|at| is_below(at));
    let percent = |rate: f64| 100.0 * rate / capacity;
    let low = before.and_then(|place| differences.get(place)).map_or(0.0, |at| percent(at.rate));
    let high = after.map_or(f64::INFINITY, |at| percent(at.rate));
    Value { mean: if high.is_finite() { (low + high) / 2.0 } else { low }, low, high }
}

/// The first rate from which on all `differences` are significantly above zero, if there is one.
pub(super) fn from_rate(differences: &[AtRate]) -> Option<f64> {
    let behind = differences.iter().rposition(|at| !is_above(at));
    differences.get(behind.map_or(0, |last| last + 1)).map(|at| at.rate)
}

/// Mean waiting time, in mean service times, at each rate of `setting` up to `load` times its capacity.
pub(super) fn waiting(simulations: &Simulations, setting: CurveSetting, load: f64) -> Vec<AtRate> {
    let Some(curve) = simulations.get(setting) else { return Vec::new() };
    let against = |of: fn(&Outcome) -> _| curve.against_rate(0.0..=load, of);
    let both = against(|outcome| outcome.delay).into_iter().zip(against(|outcome| outcome.service));
    both.map(|(delay, service)| AtRate { value: waits(delay.value, service.value), ..delay }).collect()
}

/// The values of `ours` and `theirs` at the highest rate that both have.
pub(super) fn at_same_rate(ours: &[AtRate], theirs: &[AtRate]) -> Option<(AtRate, AtRate)> {
    let pair = |at: &AtRate| Some((*at, *theirs.iter().find(|other| other.rate == at.rate)?));
    ours.iter().rev().find_map(pair)
}

/// `delay / service - 1`.
fn waits(delay: Estimate<f64>, service: Estimate<f64>) -> Estimate<f64> {
    let ratio = ratio(delay, service);
    Estimate { mean: ratio.mean - 1.0, ..ratio }
}

/// `a - b`, for independent values.
pub(super) fn minus(a: Estimate<f64>, b: Estimate<f64>) -> Estimate<f64> {
    let half = |of: Estimate<f64>| of.half_width.unwrap_or(0.0);
    Estimate::new(a.mean - b.mean, half(a).hypot(half(b)))
}

/// The difference between the greatest and the least of `estimates`, in percent of the least.
pub(super) fn apart(estimates: &[Estimate<f64>]) -> Option<Estimate<f64>> {
    let by_mean = |a: &&Estimate<f64>, b: &&Estimate<f64>| a.mean.total_cmp(&b.mean);
    let (least, most) = (estimates.iter().min_by(by_mean)?, estimates.iter().max_by(by_mean)?);
    Some(above(*most, *least))
}

/// A rate in words.
pub(super) fn rate(rate: f64) -> String {
    format!("{} packets/s", short(rate))
}

fn short(rate: f64) -> String {
    if rate < 1e3 {
        format!("{rate}")
    } else {
        PerSecond(rate).to_string().replace("/s", "").trim_end().to_owned()
    }
}

/// A percentage in words.
pub(super) fn percent(value: Estimate<f64>) -> String {
    format!("{} %", Value::from(value))
}

/// The greatest percentage and its rate, in words; empty if there is none.
pub(super) fn largest(values: &[AtRate]) -> String {
    extremes(values)
        .map_or_else(String::new, |(_, most)| format!("{} at {}", percent(most.value), rate(most.rate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rate: f64, mean: f64) -> AtRate {
        AtRate { rate, value: Estimate::new(mean, 1.0) }
    }

    #[test]
    fn a_crossover_lies_between_significant_differences() {
        let across = |differences: &[AtRate]| {
            let Value { low, high, .. } = crossover(differences, 10.0);
            (low, high)
        };
        assert_eq!(across(&[at(1.0, 5.0), at(2.0, 3.0), at(3.0, 0.5), at(4.0, -3.0)]), (20.0, 40.0));
        assert_eq!(across(&[at(1.0, -5.0), at(2.0, -3.0)]), (0.0, 10.0));
        assert_eq!(across(&[at(1.0, 5.0), at(2.0, 0.5)]), (10.0, f64::INFINITY));
        // If the curves cross twice, the crossover lies anywhere between the crossings.
        assert_eq!(across(&[at(1.0, 5.0), at(2.0, -3.0), at(3.0, 3.0), at(4.0, -3.0)]), (10.0, 40.0));
    }

    #[test]
    fn one_is_better_only_where_all_later_differences_are_significant() {
        let differences = [at(1.0, -5.0), at(2.0, 0.5), at(3.0, 2.0), at(4.0, 3.0)];
        assert_eq!(from_rate(&differences), Some(3.0), "0.5 ± 1 may be zero");
        let falls_back = [at(1.0, 2.0), at(2.0, 0.5), at(3.0, 2.0)];
        assert_eq!(from_rate(&falls_back), Some(3.0));
        assert_eq!(from_rate(&[at(1.0, 3.0), at(2.0, 0.5)]), None);
        assert_eq!(from_rate(&[at(1.0, -2.0)]), None);
    }

    #[test]
    fn capacities_lie_apart_by_the_largest_over_the_least() {
        let values = [110.0, 100.0, 105.0].map(Estimate::published);
        assert!((apart(&values).unwrap().mean - 10.0).abs() < 1e-9);
    }
}
