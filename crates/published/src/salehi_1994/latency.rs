//! End-to-end latency (Salehi, Kurose & Towsley 1994, §6.3): `E = F + 2 p_s`, where `p_s` is the delay of
//! protocol processing at the server. `F = 2 p_c + 2 τ + C` is everything else, given as a multiple `V` of
//! the best receive time.
//!
//! With affinity scheduling, `p_s` is the smaller of the delays under MRU and Wired-Streams with pools per
//! processor. Without it, `p_s` is the delay under LRU with global pools. Salehi 1994 does not say which
//! policies it compared; these are the two extremes of its Table 1.

use crate::salehi_1994::CurveSetting;
use crate::salehi_1994::simulations::{AtRate, Simulations};
use std::ops::RangeInclusive;
use warmcore_costs::{Approach, Situation};
use warmcore_scenario::Organisation::Global;
use warmcore_scenario::Parallelism;
use warmcore_scenario::ProcessorPolicy::{Lru, Mru, WiredStreams};
use warmcore_units::Estimate;

/// The multiples drawn in figure 11.
pub const MULTIPLES: [f64; 4] = [0.0, 5.0, 10.0, 20.0];

/// By how many percent affinity scheduling shortens end-to-end latency under `approach`, if everything but
/// protocol processing at the server takes `multiple` times the best receive time.
#[must_use]
pub fn reduction(
    simulations: &Simulations,
    approach: Parallelism,
    multiple: f64,
    load: RangeInclusive<f64>,
) -> Vec<AtRate> {
    let Some(best) = best_receive_time(simulations) else { return Vec::new() };
    let without = CurveSetting::new(approach, Lru).pools(Global, Global);
    let with =
        [Mru, WiredStreams].map(|policy| simulations.delays(CurveSetting::new(approach, policy), 0.0..=1.0));
    let at = |without: AtRate| {
        let with = with.iter().flatten().filter(|with| with.rate == without.rate);
        let with = with.min_by(|a, b| a.value.mean.total_cmp(&b.value.mean))?;
        Some(AtRate { rate: without.rate, value: shortened(with.value, without.value, multiple * best) })
    };
    simulations.delays(without, load).into_iter().filter_map(at).collect()
}

/// The best receive time of all, in µs: that of a hot packet under independent stacks; 57.4 in Salehi 1994.
#[must_use]
pub fn best_receive_time(simulations: &Simulations) -> Option<f64> {
    let times = simulations.options.profile.times.get(Approach::IndependentStacks);
    Some(times.get(Situation::default())?.hot.mean.micros())
}

/// `(E_n - E_a) / E_n` in percent, for server delays `with` and `without` affinity scheduling.
fn shortened(with: Estimate<f64>, without: Estimate<f64>, fixed: f64) -> Estimate<f64> {
    let (shorter, longer) = (fixed + 2.0 * with.mean, fixed + 2.0 * without.mean);
    let half = |of: Estimate<f64>| 2.0 * of.half_width.unwrap_or(0.0);
    let half_width = (half(with) / longer).hypot(half(without) * shorter / longer.powi(2));
    Estimate::new(100.0 * (1.0 - shorter / longer), 100.0 * half_width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_part_dilutes_the_reduction() {
        let (with, without) = (Estimate::new(60.0, 0.6), Estimate::new(120.0, 1.2));
        assert_eq!(shortened(with, without, 0.0).mean, 50.0);
        assert_eq!(shortened(with, without, 240.0).mean, 25.0);
        // Without a fixed part this is a plain ratio.
        let ratio = super::super::simulations::below(with, without);
        let half_widths = [shortened(with, without, 0.0).half_width, ratio.half_width].map(Option::unwrap);
        assert!((half_widths[0] - half_widths[1]).abs() < 1e-9);
    }
}
