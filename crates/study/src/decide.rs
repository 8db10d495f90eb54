//! Which combination to use in which region of load, what it gains, and how sure that is: a pure
//! function of the predictions.
//!
//! At each rate, the combinations whose delay cannot be told from the lowest (their intervals of
//! the difference contain zero, or they differ by less than [`INDIFFERENT`]) are all as good. A
//! region goes on while one combination is among the good ones at every rate of it, so that the
//! advice changes only where the figures force it to.

use crate::predict::{Curve, Host};
use warmcore_costs::{Approach, Profile};
use warmcore_scenario::Combination;
use warmcore_sim::packet::Outcome;
use warmcore_units::{Estimate, PerSecond};

/// A combination this near to its capacity is not compared with: its delay grows without bound
/// there, and so would any gain over it.
pub const NEAR_SATURATION: f64 = 0.9;

/// How far the delay of a run that ended before it was precise may be off, as a fraction: its
/// interval, made of too few independent pieces, says less than it should.
pub const IMPRECISE: f64 = 0.1;

/// Delays that differ by less than this fraction are not worth a change of policy.
pub const INDIFFERENT: f64 = 0.01;

/// The advice for one number of processors.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// How many processors.
    pub processors: u32,
    /// The regions of load, from near idle to saturation.
    pub regions: Vec<Region>,
    /// What carries the most.
    pub capacity: CapacityAdvice,
}

/// A region of load in which one combination is best throughout.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Where it begins: the lowest rate simulated, or where its choice overtakes the last region's.
    pub from: PerSecond,
    /// Where it ends: where the next region begins, or the highest rate simulated.
    pub to: PerSecond,
    /// What to use.
    pub best: Combination,
    /// Other combinations as good at every rate of the region.
    pub as_good: Vec<Combination>,
    /// What it gains over the common default, where that keeps up easily.
    pub over_default: Option<Gain>,
    /// Whether the common default is saturated or nearly so at some rate of the region.
    pub default_saturates: bool,
    /// What it gains over the worst combination that keeps up easily.
    pub over_worst: Option<Gain>,
    /// How many combinations are saturated at the region's highest rate.
    pub saturated: usize,
}

/// How much shorter a mean delay becomes, as a fraction of the delay compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// Where the gain is smallest.
    pub least: GainAt,
    /// Where it is largest.
    pub most: GainAt,
}

/// A gain at one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GainAt {
    /// The rate.
    pub rate: PerSecond,
    /// What is compared with.
    pub against: Combination,
    /// The gain; its half-width holds the uncertainty of the simulation and of the costs.
    pub gain: Estimate<f64>,
}

/// Which combination carries the highest rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CapacityAdvice {
    /// The combination.
    pub best: Combination,
    /// Its capacity; the half-width holds the uncertainty of the simulation and of the costs.
    pub capacity: Estimate<PerSecond>,
    /// Its capacity as a multiple of the common default's.
    pub over_default: Estimate<f64>,
    /// Its capacity as a multiple of the lowest.
    pub over_worst: Estimate<f64>,
}

/// The uncertainty that the costs bring into every prediction, as a fraction: the median of the
/// relative half-widths of the profile's receive times. A published profile counts with the 1%
/// that its source promises.
#[must_use]
pub fn cost_uncertainty(profile: &Profile) -> f64 {
    let approaches = Approach::ALL.map(|approach| profile.times.of(approach));
    let receives = approaches.iter().flat_map(|times| times.cached.values().chain(times.migrates.values()));
    let times = receives.flat_map(|receive| [&receive.hot].into_iter().chain(&receive.cold));
    let mut relative: Vec<f64> =
        times.map(|time| time.estimate().relative_half_width().unwrap_or(0.01)).collect();
    relative.sort_by(f64::total_cmp);
    relative.get(relative.len() / 2).copied().unwrap_or(0.0)
}

/// What to use on `host`, whose costs are known to a fraction of `cost_uncertainty`. `None` if
/// nothing was simulated.
#[must_use]
pub fn decide(host: &Host, cost_uncertainty: f64) -> Option<Advice> {
    let mut regions: Vec<Region> = Vec::new();
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
        let mut region = region(host, from..=to, &good, cost_uncertainty)?;
        if let Some(last) = regions.last_mut() {
            let border = overtaking(host, from - 1, last.best, region.best);
            (last.to, region.from) = (border, border);
        }
        regions.push(region);
        from = to + 1;
    }
    Some(Advice { processors: host.processors, regions, capacity: capacity(host, cost_uncertainty)? })
}

/// The curves whose delay at the `rate`-th rate cannot be told from the lowest.
fn as_good_as_best(host: &Host, rate: usize) -> Vec<usize> {
    let delays = host
        .curves
        .iter()
        .map(|curve| curve.points[rate].map(|outcome| (outcome.delay.mean.0, noise(&outcome))));
    let lowest = delays.clone().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((lowest, lowest_noise)) = lowest else { return Vec::new() };
    let is_good =
        |(delay, noise): (f64, f64)| delay - lowest <= noise.hypot(lowest_noise).max(INDIFFERENT * lowest);
    delays.enumerate().filter_map(|(curve, delay)| delay.is_some_and(is_good).then_some(curve)).collect()
}

/// How far the mean delay of `outcome` may be off, in nanoseconds.
fn noise(outcome: &Outcome) -> f64 {
    let half_width = outcome.delay.half_width.map_or(0.0, |half| half.0);
    if outcome.is_precise() { half_width } else { half_width.max(IMPRECISE * outcome.delay.mean.0) }
}

fn region(
    host: &Host,
    rates: std::ops::RangeInclusive<usize>,
    good: &[usize],
    cost_uncertainty: f64,
) -> Option<Region> {
    // Pools of each processor's own are never worse and need no thought; then the lowest delays.
    let total = |curve: &Curve| -> f64 {
        rates.clone().filter_map(|rate| curve.points[rate]).map(|outcome| outcome.delay.mean.0.ln()).sum()
    };
    let best = good.iter().map(|&index| &host.curves[index]).min_by(|a, b| {
        let pools = |curve: &Curve| !curve.combination.has_own_pools();
        pools(a).cmp(&pools(b)).then(total(a).total_cmp(&total(b)))
    })?;
    let default = host.curves.iter().find(|curve| curve.combination == Combination::COMMON_DEFAULT)?;
    let keeps_up_easily = |other: &Curve, rate: usize| {
        other.points[rate].is_some() && host.rates[rate].0 < other.capacity.rate.mean.0 * NEAR_SATURATION
    };
    let gain_over = |other: &Curve, rate: usize| {
        let (ours, theirs) = (best.points[rate]?.delay, other.points[rate]?.delay);
        if !keeps_up_easily(other, rate) {
            return None;
        }
        let costs = if other.combination == best.combination { 0.0 } else { cost_uncertainty };
        let ratio = ratio(ours, theirs, costs);
        let gain = Estimate { mean: 1.0 - ratio.mean, half_width: ratio.half_width };
        Some(GainAt { rate: host.rates[rate], against: other.combination, gain })
    };
    let worst_at = |rate: usize| {
        let gains = host.curves.iter().filter_map(|other| gain_over(other, rate));
        gains.max_by(|a, b| a.gain.mean.total_cmp(&b.gain.mean))
    };
    let (from, to) = (*rates.start(), *rates.end());
    Some(Region {
        from: host.rates[from],
        to: host.rates[to],
        best: best.combination,
        as_good: good
            .iter()
            .map(|&index| host.curves[index].combination)
            .filter(|&combination| combination != best.combination)
            .collect(),
        over_default: range(rates.clone().filter_map(|rate| gain_over(default, rate))),
        default_saturates: rates.clone().any(|rate| !keeps_up_easily(default, rate)),
        over_worst: range(rates.clone().filter_map(worst_at)),
        saturated: host.curves.iter().filter(|curve| curve.points[to].is_none()).count(),
    })
}

/// The rate between the `rate`-th and the next at which `after` overtakes `before`: where the
/// straight lines between their delays cross on logarithmic axes; halfway if they do not.
fn overtaking(host: &Host, rate: usize, before: Combination, after: Combination) -> PerSecond {
    let (low, high) = (host.rates[rate].0.ln(), host.rates[rate + 1].0.ln());
    let delay = |combination: Combination, rate: usize| {
        let curve = host.curves.iter().find(|curve| curve.combination == combination)?;
        curve.points[rate].map(|outcome| outcome.delay.mean.0.ln())
    };
    let lead = |rate: usize| Some(delay(before, rate)? - delay(after, rate)?);
    let crossing = match (lead(rate), lead(rate + 1)) {
        (Some(at_low), Some(at_high)) if at_low < 0.0 && at_high > 0.0 => at_low / (at_low - at_high),
        _ => 0.5,
    };
    PerSecond((low + (high - low) * crossing).exp())
}

/// The smallest and the largest of `gains`.
fn range(gains: impl Iterator<Item = GainAt> + Clone) -> Option<Gain> {
    let order = |a: &GainAt, b: &GainAt| a.gain.mean.total_cmp(&b.gain.mean);
    Some(Gain { least: gains.clone().min_by(order)?, most: gains.max_by(order)? })
}

fn capacity(host: &Host, cost_uncertainty: f64) -> Option<CapacityAdvice> {
    let order = |a: &&Curve, b: &&Curve| a.capacity.rate.mean.0.total_cmp(&b.capacity.rate.mean.0);
    let pools_first = |curve: &&Curve| curve.combination.has_own_pools();
    let best = host.curves.iter().filter(pools_first).max_by(order)?;
    let worst = host.curves.iter().min_by(order)?;
    let default = host.curves.iter().find(|curve| curve.combination == Combination::COMMON_DEFAULT)?;
    let over = |other: &Curve| ratio(best.capacity.rate, other.capacity.rate, cost_uncertainty);
    let rate = best.capacity.rate;
    let relative = rate.relative_half_width().unwrap_or(0.0).hypot(cost_uncertainty);
    Some(CapacityAdvice {
        best: best.combination,
        capacity: Estimate::new(rate.mean, rate.mean * relative),
        over_default: over(default),
        over_worst: over(worst),
    })
}

/// `a / b`, with the two half-widths and the `costs`' uncertainty of each taken as independent.
/// Where both saw the same arrivals this is more than the true uncertainty.
pub(crate) fn ratio<Q: Copy + Into<f64>>(a: Estimate<Q>, b: Estimate<Q>, costs: f64) -> Estimate<f64> {
    let relative = |of: Estimate<Q>| of.relative_half_width().unwrap_or(0.0).hypot(costs);
    let ratio = a.mean.into() / b.mean.into();
    Estimate::new(ratio, ratio * relative(a).hypot(relative(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_sim::packet::Capacity;
    use warmcore_sim::packet::outcome::{DelayQuantiles, Ended, Fairness};
    use warmcore_units::Nanos;

    /// A host on which every combination has `delay(combination, rate)`, known to 0.1%.
    fn host(rates: &[f64], delay: impl Fn(Combination, f64) -> Option<f64>) -> Host {
        let outcome = |micros: f64| {
            let delay = Estimate::new(Nanos::from_micros(micros), Nanos::from_micros(micros * 0.001));
            Outcome {
                delay,
                service: Estimate::new(Nanos::from_micros(micros), Nanos::ZERO),
                quantiles: DelayQuantiles { p50: delay, p99: delay, p999: delay },
                fairness: Fairness { jain: 1.0, least: delay.mean, greatest: delay.mean },
                utilisation: Estimate::new(0.5, 0.0),
                throughput: PerSecond(1.0),
                situations: [0; 12],
                warmup: 0,
                packets: 1,
                ended: Ended::Precise,
            }
        };
        let capacity = Capacity {
            rate: Estimate::new(PerSecond(100.0), PerSecond(0.1)),
            service: Estimate::new(Nanos::from_secs(0.08), Nanos::ZERO),
        };
        let curves = Combination::all().map(|combination| Curve {
            combination,
            capacity,
            points: rates.iter().map(|&rate| delay(combination, rate).map(outcome)).collect(),
        });
        Host {
            processors: 8,
            rates: rates.iter().copied().map(PerSecond).collect(),
            curves: curves.collect(),
        }
    }

    fn is_ips_mru(c: Combination) -> bool {
        c.to_string() == "IPS, MRU"
    }

    #[test]
    fn one_winner_throughout_is_one_region() {
        let host = host(&[1.0, 2.0, 3.0], |c, _| Some(if is_ips_mru(c) { 50.0 } else { 100.0 }));
        let advice = decide(&host, 0.0).unwrap();
        let [region] = &advice.regions[..] else { panic!("{advice:?}") };
        assert!(is_ips_mru(region.best) && region.as_good.is_empty());
        assert_eq!((region.from, region.to), (PerSecond(1.0), PerSecond(3.0)));
        let gain = region.over_default.unwrap().least.gain;
        assert!((gain.mean - 0.5).abs() < 1e-12 && gain.half_width.unwrap() < 0.001);
    }

    #[test]
    fn the_advice_changes_where_the_figures_force_it_and_not_before() {
        // A tie at rate 2 belongs to the first region.
        let host = host(&[1.0, 2.0, 3.0], |c, rate| {
            let low = if is_ips_mru(c) { 50.0 } else { 60.0 };
            let high = if c == Combination::COMMON_DEFAULT { 50.0 } else { 60.0 };
            Some(if rate < 1.5 {
                low
            } else if rate < 2.5 {
                55.0
            } else {
                high
            })
        });
        let advice = decide(&host, 0.0).unwrap();
        let ends: Vec<(f64, f64)> = advice.regions.iter().map(|r| (r.from.0, r.to.0)).collect();
        // The border is where log-log lines cross: from 55 and 55 at rate 2 to 60 and 50 at 3.
        assert_eq!((ends.len(), ends[0].0, ends[1].1), (2, 1.0, 3.0));
        assert!(ends[0].1 == ends[1].0 && (2.0..3.0).contains(&ends[0].1), "{ends:?}");
        assert_eq!(advice.regions[1].best, Combination::COMMON_DEFAULT);
        assert_eq!(advice.regions[1].over_default.unwrap().most.gain.mean, 0.0);
    }

    #[test]
    fn saturated_rivals_are_counted_and_not_compared_with() {
        let host = host(&[1.0], |c, _| (c.approach == Approach::IndependentStacks).then_some(10.0));
        let region = &decide(&host, 0.0).unwrap().regions[0];
        assert!(region.default_saturates && region.over_default.is_none());
        assert_eq!(region.saturated, 12);
        assert!(region.best.has_own_pools());
    }

    #[test]
    fn uncertain_costs_widen_every_gain() {
        let host = host(&[1.0], |c, _| Some(if is_ips_mru(c) { 50.0 } else { 100.0 }));
        let half_width = |costs| decide(&host, costs).unwrap().regions[0].over_default.unwrap().most.gain;
        let (sure, unsure) = (half_width(0.0).half_width.unwrap(), half_width(0.05).half_width.unwrap());
        assert!(sure < 0.001 && (unsure - 0.5 * 0.05 * 2_f64.sqrt()).abs() < 0.001, "{sure} {unsure}");
    }
}
