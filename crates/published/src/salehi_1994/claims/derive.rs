//! The steps that recipes are made of.

use super::{Derived, Ours, Tally, shown};
use crate::salehi_1994::evidence::{At, extremes, ratio};
use crate::salehi_1994::{Evidence, Setting};
use core::fmt::Display;
use warmcore_sim::packet::Outcome;
use warmcore_units::{Estimate, PerSecond};

/// One figure.
pub(super) fn value(value: Estimate<f64>, because: impl Into<String>) -> Option<Derived> {
    Some(Derived { ours: Ours::Value(value), because: because.into() })
}

/// The greatest of `values`, and at which rate.
pub(super) fn greatest(values: &[At], because: impl Display) -> Option<Derived> {
    let (_, most) = extremes(values)?;
    value(most.value, format!("Largest at {}. {because}", rate(most.rate)))
}

/// From the least to the greatest of `values`, and at which rates.
pub(super) fn span(values: &[At], because: impl Display) -> Option<Derived> {
    let (least, most) = extremes(values)?;
    let because = format!("Least at {}, largest at {}. {because}", rate(least.rate), rate(most.rate));
    Some(Derived { ours: Ours::Span(least.value, most.value), because })
}

/// From the least to the greatest of values that belong to no rate.
pub(super) fn span_of(
    values: impl IntoIterator<Item = Estimate<f64>>,
    because: impl Into<String>,
) -> Option<Derived> {
    let values: Vec<At> = values.into_iter().map(|value| At { rate: 0.0, value }).collect();
    let (least, most) = extremes(&values)?;
    Some(Derived { ours: Ours::Span(least.value, most.value), because: because.into() })
}

/// In how many of `differences` the claim, that they are above zero, holds.
pub(super) fn tally(differences: &[At], because: impl Display) -> Option<Derived> {
    let mut tally = Tally::default();
    for At { value, .. } in differences {
        let half = value.half_width.unwrap_or(0.0);
        if value.mean > half {
            tally.held += 1;
        } else if value.mean < -half {
            tally.against += 1;
        } else {
            tally.undecided += 1;
        }
    }
    let (least, most) = extremes(differences)?;
    let ends = format!(
        "From {} at {} to {} at {}.",
        percent(least.value),
        rate(least.rate),
        percent(most.value),
        rate(most.rate)
    );
    Some(Derived { ours: Ours::Tally(tally), because: format!("{ends} {because}") })
}

/// The first rate from which on `differences` are all above zero, if there is one.
pub(super) fn from_rate(differences: &[At]) -> Option<f64> {
    let behind = differences.iter().rposition(|at| at.value.mean <= 0.0);
    differences.get(behind.map_or(0, |last| last + 1)).map(|at| at.rate)
}

/// Mean waiting time in units of the mean service time, at each rate of `setting` up to `load`
/// times its capacity.
pub(super) fn waiting(evidence: &Evidence, setting: Setting, load: f64) -> Vec<At> {
    let Some(curve) = evidence.of(setting) else { return Vec::new() };
    let against = |of: fn(&Outcome) -> _| curve.against_rate(0.0..=load, of);
    let both = against(|outcome| outcome.delay).into_iter().zip(against(|outcome| outcome.service));
    both.map(|(delay, service)| At { value: waits(delay.value, service.value), ..delay }).collect()
}

/// The values of `ours` and `theirs` at the highest rate that both have.
pub(super) fn at_same_rate(ours: &[At], theirs: &[At]) -> Option<(At, At)> {
    let pair = |at: &At| Some((*at, *theirs.iter().find(|other| other.rate == at.rate)?));
    ours.iter().rev().find_map(pair)
}

/// `delay / service - 1`.
fn waits(delay: Estimate<f64>, service: Estimate<f64>) -> Estimate<f64> {
    let ratio = ratio(delay, service);
    Estimate { mean: ratio.mean - 1.0, ..ratio }
}

/// By how many percent the values of `estimates` lie apart at most, over the least of them.
pub(super) fn apart(estimates: &[Estimate<f64>]) -> Option<Estimate<f64>> {
    let by_mean = |a: &&Estimate<f64>, b: &&Estimate<f64>| a.mean.total_cmp(&b.mean);
    let (least, most) = (estimates.iter().min_by(by_mean)?, estimates.iter().max_by(by_mean)?);
    Some(crate::salehi_1994::evidence::above(*most, *least))
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
    format!("{} %", shown(value))
}

/// A percentage at its rate, in words; nothing if there is none.
pub(super) fn largest(values: &[At]) -> String {
    extremes(values)
        .map_or_else(String::new, |(_, most)| format!("{} at {}", percent(most.value), rate(most.rate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rate: f64, mean: f64) -> At {
        At { rate, value: Estimate::new(mean, 1.0) }
    }

    #[test]
    fn intervals_decide_what_is_counted() {
        let differences = [at(1.0, -5.0), at(2.0, 0.5), at(3.0, 2.0), at(4.0, 3.0)];
        let Ours::Tally(counted) = tally(&differences, "").unwrap().ours else { panic!("a tally") };
        assert_eq!(counted, Tally { held: 2, undecided: 1, against: 1 });
        assert_eq!(from_rate(&differences), Some(2.0));
        assert_eq!(from_rate(&[at(1.0, -1.0)]), None);
        assert!(tally(&[], "").is_none());
    }

    #[test]
    fn capacities_lie_apart_by_the_largest_over_the_least() {
        let values = [110.0, 100.0, 105.0].map(Estimate::published);
        assert!((apart(&values).unwrap().mean - 10.0).abs() < 1e-9);
    }
}
