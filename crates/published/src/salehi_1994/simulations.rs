//! The results of the points: the evidence for the claims.
//!
//! Times are in microseconds and rates in packets per second, as in the text of Salehi 1994. The interval of
//! a ratio or a difference is computed for independent values. Points of one rate share their arrivals, so
//! the true interval is narrower, and whatever is decided by the computed one is decided.

use crate::salehi_1994::rates::NEAR_CAPACITY;
use crate::salehi_1994::{CurveSetting, ReproductionOptions, SimulationPlan};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use warmcore_sim::packet::{Ended, Outcome, PointResult};
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// All results, and the options they were simulated with.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulations {
    /// The options, with the machine's costs.
    pub options: ReproductionOptions,
    curves: BTreeMap<CurveSetting, Simulated>,
}

/// The results of one setting.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// The capacity in packets per second.
    pub capacity: Estimate<f64>,
    /// Mean service time at the capacity, µs.
    pub service: Estimate<f64>,
    /// The points, in ascending order of rate.
    pub points: Vec<PointResult>,
}

/// A value at a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AtRate {
    /// The rate in packets per second.
    pub rate: f64,
    /// The value at this rate.
    pub value: Estimate<f64>,
}

/// From this many points on, the spread of their capacities gives the interval of the mean.
const ENOUGH: usize = 8;

impl Simulations {
    /// Collects the `results` of `plan`'s points, which are in the order of the points.
    pub(crate) fn new(
        options: ReproductionOptions,
        plan: &SimulationPlan,
        results: Vec<PointResult>,
    ) -> Self {
        let mut points: BTreeMap<CurveSetting, Vec<PointResult>> = BTreeMap::new();
        for ((setting, _), result) in plan.points.iter().zip(results) {
            points.entry(*setting).or_default().push(result);
        }
        let simulated = |(&setting, overloaded): (&CurveSetting, &PointResult)| {
            (setting, Simulated::new(overloaded, points.remove(&setting).unwrap_or_default()))
        };
        let curves = plan.overloaded.iter().map(simulated).collect();
        Self { options, curves }
    }

    /// Whether the costs are those of the machine of Salehi 1994, which its claims are about.
    #[must_use]
    pub fn is_published_machine(&self) -> bool {
        self.options.is_published_machine()
    }

    /// All settings with their results.
    pub fn settings(&self) -> impl Iterator<Item = (&CurveSetting, &Simulated)> {
        self.curves.iter()
    }

    /// Points below [`NEAR_CAPACITY`] without a steady state, or less precise than asked for. There should be
    /// none.
    pub fn unsettled(&self) -> impl Iterator<Item = (&CurveSetting, &PointResult)> {
        let asked = self.options.precision;
        let below =
            |curve: &Simulated, point: &PointResult| point.rate.0 <= NEAR_CAPACITY * curve.capacity.mean;
        let is_settled = move |point: &PointResult| {
            let relative = steady(point).and_then(|outcome| outcome.delay.relative_half_width());
            relative.is_some_and(|relative| relative <= asked)
        };
        self.settings().flat_map(move |(setting, curve)| {
            let points = curve.points.iter().filter(move |point| below(curve, point) && !is_settled(point));
            points.map(move |point| (setting, point))
        })
    }

    /// The results of `setting`, if it was simulated.
    #[must_use]
    pub fn get(&self, setting: CurveSetting) -> Option<&Simulated> {
        self.curves.get(&setting)
    }

    /// The capacity in packets per second.
    #[must_use]
    pub fn capacity(&self, setting: CurveSetting) -> Option<Estimate<f64>> {
        Some(self.get(setting)?.capacity)
    }

    /// Mean service time at the capacity, µs.
    #[must_use]
    pub fn service(&self, setting: CurveSetting) -> Option<Estimate<f64>> {
        Some(self.get(setting)?.service)
    }

    /// Mean delay in µs at the rates within `load`, which is a range of fractions of the capacity.
    #[must_use]
    pub fn delays(&self, setting: CurveSetting, load: RangeInclusive<f64>) -> Vec<AtRate> {
        self.get(setting).map_or_else(Vec::new, |curve| curve.against_rate(load, |outcome| outcome.delay))
    }

    /// By how many percent the mean delay under `setting` is below that under `other`, at each rate that both
    /// have within `load` of the smaller capacity.
    #[must_use]
    pub fn reduction(
        &self,
        setting: CurveSetting,
        other: CurveSetting,
        load: RangeInclusive<f64>,
    ) -> Vec<AtRate> {
        let (Some(ours), Some(others)) = (self.get(setting), self.get(other)) else { return Vec::new() };
        let capacity = ours.capacity.mean.min(others.capacity.mean);
        let delay = |outcome: &Outcome| outcome.delay;
        let theirs = others.against_rate(0.0..=f64::INFINITY, delay);
        let pairs = ours.against_rate(0.0..=f64::INFINITY, delay).into_iter().filter_map(|at| {
            let other = theirs.iter().find(|other| other.rate == at.rate)?;
            load.contains(&(at.rate / capacity))
                .then(|| AtRate { rate: at.rate, value: below(at.value, other.value) })
        });
        pairs.collect()
    }

    /// The simulated rates of `setting` that exceed the capacity of `other`.
    #[must_use]
    pub fn beyond(&self, setting: CurveSetting, other: CurveSetting) -> Vec<f64> {
        let Some(capacity) = self.capacity(other) else { return Vec::new() };
        let rates = self.delays(setting, 0.0..=1.0).into_iter().map(|at| at.rate);
        rates.filter(|rate| *rate > capacity.mean).collect()
    }
}

impl Simulated {
    fn new(overloaded: &PointResult, points: Vec<PointResult>) -> Self {
        let all = || points.iter().chain([overloaded]);
        let rates: Vec<f64> = all().map(|point| point.capacity.rate.mean.0).collect();
        let services: Vec<f64> = all().map(|point| point.capacity.service.mean.micros()).collect();
        let pooled = |values: &[f64], own: Estimate<f64>| {
            let interval = Interval::from_observations(values);
            if values.len() >= ENOUGH { Estimate::new(interval.mean, interval.half_width) } else { own }
        };
        Self {
            capacity: pooled(&rates, plain(overloaded.capacity.rate)),
            service: pooled(&services, micros(overloaded.capacity.service)),
            points,
        }
    }

    /// A value `of` each point within `load` that has a steady state.
    pub fn against_rate(
        &self,
        load: RangeInclusive<f64>,
        of: impl Fn(&Outcome) -> Estimate<Nanos>,
    ) -> Vec<AtRate> {
        let within = |point: &&PointResult| load.contains(&(point.rate.0 / self.capacity.mean));
        let at = |point: &PointResult| Some(AtRate { rate: point.rate.0, value: micros(of(steady(point)?)) });
        self.points.iter().filter(within).filter_map(at).collect()
    }
}

/// The outcome of a point that has a steady state; `None` if it has none, or if that is not known.
#[must_use]
pub fn steady(point: &PointResult) -> Option<&Outcome> {
    point.outcome.as_ref().filter(|outcome| outcome.ended != Ended::Unknown)
}

/// `time` in microseconds.
#[must_use]
pub fn micros(time: Estimate<Nanos>) -> Estimate<f64> {
    time.map(Nanos::micros)
}

/// `rate` as a plain number of packets per second.
#[must_use]
pub fn plain(rate: Estimate<PerSecond>) -> Estimate<f64> {
    rate.map(|rate| rate.0)
}

/// `a / b`.
#[must_use]
pub fn ratio(a: Estimate<f64>, b: Estimate<f64>) -> Estimate<f64> {
    let mean = a.mean / b.mean;
    let relative = [a, b].map(|of| of.relative_half_width().unwrap_or(0.0));
    let half_width = (a.half_width.is_some() || b.half_width.is_some())
        .then(|| mean.abs() * relative[0].hypot(relative[1]));
    Estimate { mean, half_width }
}

/// By how many percent `a` is above `b`.
#[must_use]
pub fn above(a: Estimate<f64>, b: Estimate<f64>) -> Estimate<f64> {
    percent(ratio(a, b), |ratio| ratio - 1.0)
}

/// By how many percent `a` is below `b`.
#[must_use]
pub fn below(a: Estimate<f64>, b: Estimate<f64>) -> Estimate<f64> {
    percent(ratio(a, b), |ratio| 1.0 - ratio)
}

/// `100 of(value)`, where `of` preserves distances.
fn percent(value: Estimate<f64>, of: impl Fn(f64) -> f64) -> Estimate<f64> {
    Estimate { mean: 100.0 * of(value.mean), half_width: value.half_width.map(|half| 100.0 * half) }
}

/// The least and the greatest of `values`.
#[must_use]
pub fn extremes(values: &[AtRate]) -> Option<(AtRate, AtRate)> {
    let by_mean = |a: &&AtRate, b: &&AtRate| a.value.mean.total_cmp(&b.value.mean);
    Some((*values.iter().min_by(by_mean)?, *values.iter().max_by(by_mean)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_uncertainty_of_both() {
        let (a, b) = (Estimate::new(60.0, 0.6), Estimate::new(120.0, 1.6));
        assert_eq!(ratio(a, b).mean, 0.5);
        assert!((ratio(a, b).relative_half_width().unwrap() - 0.01_f64.hypot(1.6 / 120.0)).abs() < 1e-12);
        assert_eq!(below(a, b).mean, 50.0);
        assert_eq!(above(b, Estimate::published(60.0)).mean, 100.0);
        assert_eq!(ratio(Estimate::published(1.0), Estimate::published(2.0)).half_width, None);
    }
}
