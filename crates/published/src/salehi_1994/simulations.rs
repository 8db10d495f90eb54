//! What came of the points: the evidence for the claims.
//!
//! Times are in microseconds and rates in packets per second here, the units of the source's text.
//! The interval of a ratio or a difference is that of independent values. Points of one rate share
//! their arrivals, which makes the true interval narrower: what is called decided here is.

use crate::salehi_1994::rates::NEAR_CAPACITY;
use crate::salehi_1994::{Options, Plan, Setting};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use warmcore_sim::packet::{Ended, Outcome, PointResult};
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Everything that was simulated, and what was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulations {
    /// What was asked for, the machine's costs among it.
    pub options: Options,
    curves: BTreeMap<Setting, Simulated>,
}

/// What came of one setting.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// Packets per second that the host keeps up with.
    pub capacity: Estimate<f64>,
    /// Mean service time at the capacity, µs.
    pub service: Estimate<f64>,
    /// The points, by ascending rate.
    pub points: Vec<PointResult>,
}

/// A value at a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At {
    /// Packets per second.
    pub rate: f64,
    /// The value there.
    pub value: Estimate<f64>,
}

/// From so many points on, the spread of their capacities is the uncertainty of their mean.
const ENOUGH: usize = 8;

impl Simulations {
    /// From the `results` of `plan`'s points, in their order.
    pub(crate) fn new(options: Options, plan: &Plan, results: Vec<PointResult>) -> Self {
        let mut points: BTreeMap<Setting, Vec<PointResult>> = BTreeMap::new();
        for ((setting, _), result) in plan.points.iter().zip(results) {
            points.entry(*setting).or_default().push(result);
        }
        let simulated = |(&setting, flood): (&Setting, &PointResult)| {
            (setting, Simulated::new(flood, points.remove(&setting).unwrap_or_default()))
        };
        let curves = plan.floods.iter().map(simulated).collect();
        Self { options, curves }
    }

    /// Whether the costs are those of the source's machine, which its claims are about.
    #[must_use]
    pub fn is_published_machine(&self) -> bool {
        self.options.is_published_machine()
    }

    /// Every setting with what came of it.
    pub fn settings(&self) -> impl Iterator<Item = (&Setting, &Simulated)> {
        self.curves.iter()
    }

    /// Points below [`NEAR_CAPACITY`] of which no steady state was found, or none as precise as
    /// asked; there should be none.
    pub fn unsettled(&self) -> impl Iterator<Item = (&Setting, &PointResult)> {
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

    /// What came of `setting`, if it was simulated.
    #[must_use]
    pub fn get(&self, setting: Setting) -> Option<&Simulated> {
        self.curves.get(&setting)
    }

    /// Packets per second that the host keeps up with.
    #[must_use]
    pub fn capacity(&self, setting: Setting) -> Option<Estimate<f64>> {
        Some(self.get(setting)?.capacity)
    }

    /// Mean service time at the capacity, µs.
    #[must_use]
    pub fn service(&self, setting: Setting) -> Option<Estimate<f64>> {
        Some(self.get(setting)?.service)
    }

    /// Mean delay against rate, µs, at the rates within `load`: fractions of the capacity.
    #[must_use]
    pub fn delays(&self, setting: Setting, load: RangeInclusive<f64>) -> Vec<At> {
        self.get(setting).map_or_else(Vec::new, |curve| curve.against_rate(load, |outcome| outcome.delay))
    }

    /// By how many percent the mean delay under `setting` is below that under `other`, at each
    /// rate that both have and that is within `load` of the smaller capacity.
    #[must_use]
    pub fn reduction(&self, setting: Setting, other: Setting, load: RangeInclusive<f64>) -> Vec<At> {
        let (Some(ours), Some(others)) = (self.get(setting), self.get(other)) else { return Vec::new() };
        let capacity = ours.capacity.mean.min(others.capacity.mean);
        let delay = |outcome: &Outcome| outcome.delay;
        let theirs = others.against_rate(0.0..=f64::INFINITY, delay);
        let pairs = ours.against_rate(0.0..=f64::INFINITY, delay).into_iter().filter_map(|at| {
            let other = theirs.iter().find(|other| other.rate == at.rate)?;
            load.contains(&(at.rate / capacity))
                .then(|| At { rate: at.rate, value: below(at.value, other.value) })
        });
        pairs.collect()
    }

    /// The rates simulated under `setting` that are beyond the capacity of `other`.
    #[must_use]
    pub fn beyond(&self, setting: Setting, other: Setting) -> Vec<f64> {
        let Some(capacity) = self.capacity(other) else { return Vec::new() };
        let rates = self.delays(setting, 0.0..=1.0).into_iter().map(|at| at.rate);
        rates.filter(|rate| *rate > capacity.mean).collect()
    }
}

impl Simulated {
    fn new(flood: &PointResult, points: Vec<PointResult>) -> Self {
        let all = || points.iter().chain([flood]);
        let rates: Vec<f64> = all().map(|point| point.capacity.rate.mean.0).collect();
        let services: Vec<f64> = all().map(|point| point.capacity.service.mean.micros()).collect();
        let pooled = |values: &[f64], own: Estimate<f64>| {
            let interval = Interval::from_observations(values);
            if values.len() >= ENOUGH { Estimate::new(interval.mean, interval.half_width) } else { own }
        };
        Self {
            capacity: pooled(&rates, plain(flood.capacity.rate)),
            service: pooled(&services, micros(flood.capacity.service)),
            points,
        }
    }

    /// What `of` says of each point within `load` that has a steady state.
    pub fn against_rate(
        &self,
        load: RangeInclusive<f64>,
        of: impl Fn(&Outcome) -> Estimate<Nanos>,
    ) -> Vec<At> {
        let within = |point: &&PointResult| load.contains(&(point.rate.0 / self.capacity.mean));
        let at = |point: &PointResult| Some(At { rate: point.rate.0, value: micros(of(steady(point)?)) });
        self.points.iter().filter(within).filter_map(at).collect()
    }
}

/// What came of a point in steady state; `None` where there is none, or it is not known whether there is.
#[must_use]
pub fn steady(point: &PointResult) -> Option<&Outcome> {
    point.outcome.as_ref().filter(|outcome| outcome.ended != Ended::Unknown)
}

/// The same in microseconds.
#[must_use]
pub fn micros(time: Estimate<Nanos>) -> Estimate<f64> {
    Estimate { mean: time.mean.micros(), half_width: time.half_width.map(Nanos::micros) }
}

/// The same as a bare number of packets per second.
#[must_use]
pub fn plain(rate: Estimate<PerSecond>) -> Estimate<f64> {
    Estimate { mean: rate.mean.0, half_width: rate.half_width.map(|half| half.0) }
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

/// `100 of(value)`, where `of` keeps distances.
fn percent(value: Estimate<f64>, of: impl Fn(f64) -> f64) -> Estimate<f64> {
    Estimate { mean: 100.0 * of(value.mean), half_width: value.half_width.map(|half| 100.0 * half) }
}

/// The least and the greatest of `values`.
#[must_use]
pub fn extremes(values: &[At]) -> Option<(At, At)> {
    let by_mean = |a: &&At, b: &&At| a.value.mean.total_cmp(&b.value.mean);
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
