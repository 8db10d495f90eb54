//! Decides which combination to use in which region of load, what it gains, and how uncertain that is. A pure
//! function of the predictions and their [`draws`](crate::resample).
//!
//! At each rate, all combinations whose delay cannot be distinguished from the lowest count as equally good:
//! the interval of the ratio reaches [`INDIFFERENT`]. A region continues while one combination is among the
//! good ones at each of its rates, so that the advice changes only where the figures require it. Of those
//! that are good throughout, the [simplest](simplicity) is named; the others are listed with it.

mod among_best;
mod border;
mod choices;
mod ordinary;

pub use border::Border;
pub use ordinary::Ordinary;

use crate::costs::draw::BETWEEN_STUDIES;
use crate::predictions::HostPredictions;
use among_best::{among_best, among_lowest};
use choices::{Choice, borders, choices};
use core::cmp::Ordering;
use std::ops::RangeInclusive;
use warmcore_scenario::{Combination, Organisation};
use warmcore_units::{Estimate, PerSecond};

/// Combinations this close to their capacity are not compared with: their delay grows without bound, and so
/// would any gain over them.
pub const NEAR_SATURATION: f64 = 0.9;

/// Delays that differ by less than this fraction do not justify a change of policy. With 1%, two of six
/// studies in a row advised eight processors to share a pool, and four did not.
pub const INDIFFERENT: f64 = 0.03;

/// The advice for one number of processors.
#[derive(Clone, PartialEq, Debug)]
pub struct Advice {
    /// How many processors.
    pub processors: u32,
    /// The regions of load, from near idle to saturation.
    pub regions: Vec<Region>,
    /// The gain at an ordinary load; `None` if every combination is saturated at every rate.
    pub ordinary: Option<Ordinary>,
    /// Which combination has the highest capacity.
    pub capacity: CapacityAdvice,
}

/// A region of load in which one combination is among the best throughout.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Where its choice becomes better than that of the region before; `None` for the first region.
    pub border: Option<Border>,
    /// Its lowest rate: the lowest rate simulated, or the border.
    pub from: PerSecond,
    /// Its highest rate: where the next region begins, or the highest rate simulated.
    pub to: PerSecond,
    /// The number of simulated rates in it.
    pub simulated: usize,
    /// The advised combination: the simplest of those that are good at every rate of the region.
    pub best: Combination,
    /// The other combinations that cannot be distinguished from it.
    pub as_good: Vec<Combination>,
    /// For each combination that is ever among the best over the region as a whole, the fraction of draws in
    /// which it is; the most frequent first.
    pub among_best: Vec<(Combination, f64)>,
    /// The gain over the common default at rates well below the default's capacity.
    pub over_default: Option<Gain>,
    /// Whether the common default is saturated or nearly so at some rate of the region.
    pub default_saturates: bool,
    /// The gain over the worst combination that is well below its capacity.
    pub over_worst: Option<Gain>,
    /// The largest fraction of its delay that the best of the others could save, if the true values lie at
    /// the ends of the intervals.
    pub at_most_lost: f64,
    /// How many combinations are saturated at the region's highest rate.
    pub saturated: usize,
}

/// A reduction of mean delay, as a fraction of the delay compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// The smallest gain, and where it is.
    pub least: GainAt,
    /// The largest gain, and where it is.
    pub most: GainAt,
}

/// A gain at one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GainAt {
    /// The rate.
    pub rate: PerSecond,
    /// The combination compared with.
    pub against: Combination,
    /// The gain. Its half-width includes the uncertainty of the simulation and of the costs, and the
    /// differences between studies.
    pub gain: Estimate<f64>,
}

/// Which combination carries the highest rate.
#[derive(Clone, PartialEq, Debug)]
pub struct CapacityAdvice {
    /// The simplest of those that cannot be distinguished from the best.
    pub best: Combination,
    /// The others.
    pub as_good: Vec<Combination>,
    /// The fraction of draws in which a combination is among the best, as for a [`Region`].
    pub among_best: Vec<(Combination, f64)>,
    /// The largest fraction of its capacity that the best of the others could add, if the true values lie at
    /// the ends of the intervals.
    pub at_most_lost: f64,
    /// Its capacity. The half-width includes the uncertainty of the simulation and of the costs as this study
    /// knows them.
    pub capacity: Estimate<PerSecond>,
    /// The rates between which 95% of other studies of the machine would find it.
    pub between: [PerSecond; 2],
    /// Its capacity as a multiple of the common default's.
    pub over_default: Estimate<f64>,
    /// Its capacity as a multiple of the lowest.
    pub over_worst: Estimate<f64>,
}

/// How hard it is to change from the common default to `combination`, as a key for ordering. Of equally good
/// combinations the one with the least is named. Per-processor pools come first, since they need no thought;
/// then fewer changes of approach and policy.
#[must_use]
pub fn simplicity(combination: Combination) -> (usize, usize) {
    let default = Combination::COMMON_DEFAULT;
    let shared = [combination.threads, combination.memory].map(|pool| pool == Organisation::Global);
    let changed = [combination.approach != default.approach, combination.policy != default.policy];
    let count = |of: [bool; 2]| of.into_iter().filter(|&is| is).count();
    (count(shared), count(changed))
}

/// The loss to assume if the choice is nowhere well below its capacity, so that nothing can be compared.
const UNKNOWN_LOSS: f64 = 1.0;

/// The advice for `host`. `None` if nothing was simulated.
#[must_use]
pub fn decide(host: &HostPredictions) -> Option<Advice> {
    let choices = choices(host)?;
    let borders = borders(host, &choices);
    let region = |(index, choice): (usize, &Choice)| {
        let before = index.checked_sub(1).map(|before| borders[before]);
        let from = before.map_or(host.rates[*choice.rates.start()], |border| border.at);
        let to = borders.get(index).map_or(host.rates[*choice.rates.end()], |border| border.at);
        let region = region(host, simulated_within(host, from, to).unwrap_or(choice.rates.clone()), choice)?;
        Some(Region { from, to, border: before, ..region })
    };
    let regions = choices.iter().enumerate().map(region).collect::<Option<Vec<_>>>()?;
    let ordinary = Ordinary::new(host, &regions);
    Some(Advice { processors: host.processors, regions, ordinary, capacity: capacity(host)? })
}

impl Advice {
    /// The fraction of simulated rates at which `combination` cannot be distinguished from the best.
    #[must_use]
    pub fn share(&self, combination: Combination) -> f64 {
        let holds = |region: &&Region| region.best == combination || region.as_good.contains(&combination);
        let count = |of: &mut dyn Iterator<Item = &Region>| of.map(|region| region.simulated).sum::<usize>();
        count(&mut self.regions.iter().filter(holds)) as f64 / count(&mut self.regions.iter()).max(1) as f64
    }
}

/// The simulated rates between two rates; `None` if there is none.
pub(crate) fn simulated_within(
    host: &HostPredictions,
    from: PerSecond,
    to: PerSecond,
) -> Option<RangeInclusive<usize>> {
    let start = host.rates.partition_point(|rate| rate.0 < from.0);
    let end = host.rates.partition_point(|rate| rate.0 <= to.0).checked_sub(1)?;
    (start <= end).then_some(start..=end)
}

/// The lower end of an interval.
fn least(of: Estimate<f64>) -> f64 {
    of.mean - of.half_width.unwrap_or(0.0)
}

/// The upper end of an interval.
fn greatest(of: Estimate<f64>) -> f64 {
    of.mean + of.half_width.unwrap_or(0.0)
}

/// The simplest of `curves`; of equally simple ones the one with the least `cost`.
fn simplest(host: &HostPredictions, curves: &[usize], cost: impl Fn(usize) -> f64) -> Option<usize> {
    let order = |a: &usize, b: &usize| -> Ordering {
        let [first, second] = [a, b].map(|&curve| simplicity(host.curves[curve].combination));
        first.cmp(&second).then(cost(*a).total_cmp(&cost(*b)))
    };
    curves.iter().copied().min_by(order)
}

fn position(host: &HostPredictions, combination: Combination) -> Option<usize> {
    host.curves.iter().position(|curve| curve.combination == combination)
}

/// Whether a combination is well below its capacity at a rate.
fn keeps_up_easily(host: &HostPredictions, curve: usize, rate: usize) -> bool {
    let capacity = host.curves[curve].capacity;
    host.steady(curve, rate).is_some() && host.rates[rate].0 < capacity.rate.mean.0 * NEAR_SATURATION
}

/// The gain of one curve over another, at a rate that is well below the other's capacity.
fn gain(host: &HostPredictions, best: usize, other: usize, rate: usize) -> Option<GainAt> {
    let ratio = host.delay_ratio(best, other, rate).filter(|_| keeps_up_easily(host, other, rate))?;
    let ratio = host.in_another_study(ratio);
    let gain = Estimate { mean: 1.0 - ratio.mean, half_width: ratio.half_width };
    Some(GainAt { rate: host.rates[rate], against: host.curves[other].combination, gain })
}

fn region(host: &HostPredictions, rates: RangeInclusive<usize>, choice: &Choice) -> Option<Region> {
    let &Choice { best, ref good, .. } = choice;
    let default = position(host, Combination::COMMON_DEFAULT)?;
    let keeps_up_easily = |curve: usize, rate: usize| keeps_up_easily(host, curve, rate);
    let gain_over = |other: usize, rate: usize| gain(host, best, other, rate);
    let others = || (0..host.curves.len()).filter(|&other| other != best);
    let worst_at = |rate: usize| {
        others().filter_map(|other| gain_over(other, rate)).max_by(|a, b| a.gain.mean.total_cmp(&b.gain.mean))
    };
    let lost_at = |rate: usize| {
        let easy = others().filter(|&other| keeps_up_easily(other, rate));
        let longer =
            easy.filter_map(|other| Some(1.0 - 1.0 / greatest(host.delay_ratio(best, other, rate)?)));
        longer.fold(0.0, f64::max)
    };
    let (from, to) = (*rates.start(), *rates.end());
    Some(Region {
        border: None,
        from: host.rates[from],
        to: host.rates[to],
        simulated: rates.clone().count(),
        best: host.curves[best].combination,
        as_good: combinations(host, good, best),
        among_best: among_best(host, rates.clone()),
        over_default: range(rates.clone().filter_map(|rate| gain_over(default, rate))),
        default_saturates: rates.clone().any(|rate| !keeps_up_easily(default, rate)),
        over_worst: range(rates.clone().filter_map(worst_at)),
        at_most_lost: rates
            .filter(|&rate| keeps_up_easily(best, rate))
            .map(lost_at)
            .reduce(f64::max)
            .unwrap_or(UNKNOWN_LOSS),
        saturated: host.curves.iter().filter(|curve| curve.points[to].is_none()).count(),
    })
}

fn combinations(host: &HostPredictions, curves: &[usize], without: usize) -> Vec<Combination> {
    let others = curves.iter().filter(|&&curve| curve != without);
    others.map(|&curve| host.curves[curve].combination).collect()
}

/// The smallest and the largest of `gains`.
fn range(gains: impl Iterator<Item = GainAt> + Clone) -> Option<Gain> {
    let order = |a: &GainAt, b: &GainAt| a.gain.mean.total_cmp(&b.gain.mean);
    Some(Gain { least: gains.clone().min_by(order)?, most: gains.max_by(order)? })
}

fn capacity(host: &HostPredictions) -> Option<CapacityAdvice> {
    let rate = |curve: &usize| host.curves[*curve].capacity.rate.mean.0;
    let order = |a: &usize, b: &usize| rate(a).total_cmp(&rate(b));
    let curves = || 0..host.curves.len();
    let (highest, lowest) = (curves().max_by(order)?, curves().min_by(order)?);
    let good: Vec<usize> =
        curves().filter(|&curve| least(host.capacity_ratio(highest, curve)) <= 1.0 + INDIFFERENT).collect();
    let best = simplest(host, &good, |curve| -rate(&curve))?;
    let capacity = host.capacity(best);
    let at_most_lost = curves().map(|curve| greatest(host.capacity_ratio(curve, best)) - 1.0);
    let relative = capacity.relative_half_width().unwrap_or(0.0).hypot(BETWEEN_STUDIES);
    let over = |other: usize| match other == best {
        true => Estimate::new(1.0, 0.0),
        false => host.in_another_study(host.capacity_ratio(best, other)),
    };
    Some(CapacityAdvice {
        best: host.curves[best].combination,
        as_good: combinations(host, &good, best),
        among_best: among_lowest(host, |curve, draw| (0, -(rate(&curve) * draw.capacities[curve]).ln())),
        at_most_lost: at_most_lost.fold(0.0, f64::max),
        capacity,
        between: [-relative, relative].map(|by| capacity.mean * by.exp()),
        over_default: over(position(host, Combination::COMMON_DEFAULT)?),
        over_worst: over(lowest),
    })
}

#[cfg(test)]
impl Region {
    /// A region in which `best` is best, with `simulated` rates, and of which nothing else is known.
    pub(crate) const fn between(from: f64, to: f64, best: Combination, simulated: usize) -> Self {
        Self {
            border: None,
            from: PerSecond(from),
            to: PerSecond(to),
            simulated,
            best,
            as_good: Vec::new(),
            among_best: Vec::new(),
            over_default: None,
            default_saturates: false,
            over_worst: None,
            at_most_lost: 0.0,
            saturated: 0,
        }
    }
}

#[cfg(test)]
mod tests;
