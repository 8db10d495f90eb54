//! Where one region of load ends and the next begins.

use crate::costs::draw::BETWEEN_STUDIES;
use crate::predictions::HostPredictions;
use core::ops::RangeInclusive;
use serde::Serialize;
use warmcore_units::PerSecond;

/// A border whose interval spans more than this factor is not determined.
const DETERMINED: f64 = 10.0;

/// Where one region ends and the next begins.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Border {
    /// According to the measured costs.
    pub at: PerSecond,
    /// The rates between which 95% of other studies would find it; `None` if it is not determined, because
    /// the interval spans a factor of ten or more.
    pub within: Option<[PerSecond; 2]>,
}

impl Border {
    /// Where curve `after` of `host` becomes better than curve `before`, among some of its rates.
    ///
    /// Each draw has its own border. The interval holds 95% of them and is widened by the error that all
    /// rates share.
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
        // Of forty draws these are the second and the last but one.
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

/// The lead of `after` in the logarithm of its delay, at each rate; `None` if neither keeps up.
fn leads(
    host: &HostPredictions,
    before: usize,
    after: usize,
    rates: RangeInclusive<usize>,
    draw: Option<usize>,
) -> Vec<Option<f64>> {
    /// The lead if only one of the two keeps up.
    const LEAD_WITHOUT_RIVAL: f64 = 1.0;
    let delay = |curve: usize, rate: usize| {
        let predicted = host.steady(curve, rate)?.delay.mean.0;
        let factor = draw.map_or(Some(1.0), |draw| host.draws[draw].delay(curve, rate))?;
        Some((predicted * factor).ln())
    };
    let lead = |rate: usize| match (delay(before, rate), delay(after, rate)) {
        (Some(before), Some(after)) => Some(before - after),
        (None, Some(_)) => Some(LEAD_WITHOUT_RIVAL),
        (Some(_), None) => Some(-LEAD_WITHOUT_RIVAL),
        (None, None) => None,
    };
    rates.map(lead).collect()
}

/// The rate from which on it is best to follow the curve that leads above it, as a logarithm like `rates`:
/// where the sum of all leads below is least. Chance at single rates changes it little. Between two rates it
/// is where the straight line between their leads crosses zero.
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
