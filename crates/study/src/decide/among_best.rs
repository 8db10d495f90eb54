//! How often a combination is among the best, over the draws of costs.

use super::INDIFFERENT;
use crate::predictions::{Draw, HostPredictions};
use std::ops::RangeInclusive;
use warmcore_scenario::Combination;

/// For each combination, the fraction of draws in which its delay over all `rates` exceeds no other by more
/// than [`INDIFFERENT`]. A combination that keeps up at more rates is better than one that keeps up at fewer.
pub(super) fn among_best(host: &HostPredictions, rates: RangeInclusive<usize>) -> Vec<(Combination, f64)> {
    among_lowest(host, |curve, draw| {
        let delay =
            |rate: usize| Some((host.steady(curve, rate)?.delay.mean.0 * draw.delay(curve, rate)?).ln());
        let delays: Vec<f64> = rates.clone().filter_map(delay).collect();
        let saturated = rates.clone().count() - delays.len();
        (saturated, delays.iter().sum::<f64>() / delays.len().max(1) as f64)
    })
}

/// For each curve, the fraction of draws in which its cost is among the lowest. Costs are compared by the
/// first number, then by the logarithm of the second.
pub(super) fn among_lowest(
    host: &HostPredictions,
    cost: impl Fn(usize, &Draw) -> (usize, f64),
) -> Vec<(Combination, f64)> {
    let mut times = vec![0_usize; host.curves.len()];
    for draw in &host.draws {
        let costs: Vec<(usize, f64)> = (0..host.curves.len()).map(|curve| cost(curve, draw)).collect();
        let order = |a: &&(usize, f64), b: &&(usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        let Some(lowest) = costs.iter().min_by(order) else { continue };
        for (times, cost) in times.iter_mut().zip(&costs) {
            *times += usize::from(cost.0 == lowest.0 && cost.1 <= lowest.1 + INDIFFERENT);
        }
    }
    let part = |(curve, &times): (usize, &usize)| {
        (times > 0).then(|| (host.curves[curve].combination, times as f64 / host.draws.len() as f64))
    };
    let mut parts: Vec<(Combination, f64)> = times.iter().enumerate().filter_map(part).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}
