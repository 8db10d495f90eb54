//! Where one region of load ends and the next begins.

use crate::costs::draw::BETWEEN_STUDIES;
use crate::predict::HostPredictions;
use core::ops::RangeInclusive;
use serde::Serialize;
use warmcore_units::PerSecond;

/// A border that may lie anywhere within more than this factor is not determined.
const DETERMINED: f64 = 10.0;

/// Where one region ends and the next begins.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Border {
    /// As the measured costs have it.
    pub at: PerSecond,
    /// Between which rates 95% of other studies would put it; `None` if that is not determined: anywhere
    /// within a factor of ten and more.
    pub within: Option<[PerSecond; 2]>,
}

impl Border {
    /// Where `after` takes over from `before`, two curves of `host`, among some of its rates.
    ///
    /// Each draw has its own border; the interval is that of 95% of them, widened by what all rates may be
    /// off by together.
    pub(super) fn between(
        host: &HostPredictions,
        before: usize,
        after: usize,
        rates: RangeInclusive<usize>,
    ) -> Self {
        let logarithms: Vec<f64> = host.rates[rates.clone()].iter().map(|rate| rate.0.ln()).collect();
        let leads = |draw| leads(host, before, after, rates.clone(), draw);
        let at = crossing(&logarithms, &leads(None));
        let mut drawn: Vec<f64> =
            (0..host.draws.len()).map(|draw| crossing(&logarithms, &leads(Some(draw)))).collect();
        drawn.sort_by(f64::total_cmp);
        // Of forty, the second and the last but one.
        let outside = drawn.len() / 40;
        let ends = drawn.get(outside).copied().zip(drawn.iter().rev().nth(outside).copied());
        let [low, high] = ends.map_or([at; 2], |(low, high)| [low.min(at), high.max(at)]);
        let [low, high] = [at - (at - low).hypot(BETWEEN_STUDIES), at + (high - at).hypot(BETWEEN_STUDIES)];
        let (Some(first), Some(last)) = (logarithms.first(), logarithms.last()) else {
            return Self { at: PerSecond(at.exp()), within: None };
        };
        let determined = high - low <= DETERMINED.ln() && low > *first && high < *last;
        let rate = |logarithm: f64| PerSecond(logarithm.exp());
        Self { at: rate(at), within: determined.then(|| [low, high].map(rate)) }
    }
}

/// By how much of its delay's logarithm `after` leads at each rate; `None` where neither keeps up.
fn leads(
    host: &HostPredictions,
    before: usize,
    after: usize,
    rates: RangeInclusive<usize>,
    draw: Option<usize>,
) -> Vec<Option<f64>> {
    /// Where only one of the two keeps up.
    const BY_FAR: f64 = 1.0;
    let delay = |curve: usize, rate: usize| {
        let predicted = host.steady(curve, rate)?.delay.mean.0;
        let factor = draw.map_or(Some(1.0), |draw| host.draws[draw].delay(curve, rate))?;
        Some((predicted * factor).ln())
    };
    let lead = |rate: usize| match (delay(before, rate), delay(after, rate)) {
        (Some(before), Some(after)) => Some(before - after),
        (None, Some(_)) => Some(BY_FAR),
        (Some(_), None) => Some(-BY_FAR),
        (None, None) => None,
    };
    rates.map(lead).collect()
}

/// The rate (its logarithm, like `rates`) from which on it is best to follow who leads above it: where the sum
/// of all leads below is least. Chance at single rates moves it little. Between two rates, where the straight
/// line between their leads crosses zero.
fn crossing(rates: &[f64], leads: &[Option<f64>]) -> f64 {
    let mut sum = 0.0;
    let (mut least, mut split) = (0.0, 0);
    for (index, lead) in leads.iter().enumerate() {
        sum += lead.unwrap_or(0.0);
        if sum < least {
            (least, split) = (sum, index + 1);
        }
    }
    let Some(below) = split.checked_sub(1) else { return rates.first().copied().unwrap_or(0.0) };
    let Some((&low, &high)) = rates.get(below).zip(rates.get(split)) else {
        return rates.last().copied().unwrap_or(0.0);
    };
    let part = match (leads[below], leads[split]) {
        (Some(at_low), Some(at_high)) if at_low < 0.0 && at_high > 0.0 => at_low / (at_low - at_high),
        _ => 0.5,
    };
    low + (high - low) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_is_where_switching_costs_least() {
        let rates = [0.0, 1.0, 2.0, 3.0];
        let at = |leads: [f64; 4]| crossing(&rates, &leads.map(Some));
        assert_eq!(at([-1.0, -1.0, 1.0, 1.0]), 1.5);
        assert_eq!(at([-1.0, -3.0, 1.0, 1.0]), 1.75);
        assert_eq!(at([-1.0, 0.1, -1.0, 2.0]), 2.0 + 1.0 / 3.0, "noise at one rate");
        assert_eq!([at([1.0; 4]), at([-1.0; 4])], [0.0, 3.0], "nothing crosses");
    }
}
