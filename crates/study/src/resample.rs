//! What the uncertainty of the costs does to the predictions: costs are drawn anew within what is
//! known of them, and the same packets are played again (a parametric bootstrap: Efron & Tibshirani
//! 1993, *An Introduction to the Bootstrap*, §6.5).
//!
//! A draw says by what factor each predicted figure moves. That is what two short runs on the same
//! arrivals differ by, one with the drawn costs and one with the measured, so that chance in the
//! arrivals cancels; times the error of the simulation itself, drawn from its own half-width. So
//! the spread of the draws holds both.

use crate::costs::draw::draw;
use crate::predict::{Curve, HostPredictions, Models, PredictError};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::Profile;
use warmcore_scenario::Combination;
use warmcore_sim::packet::{Finished, Outcome, trace};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::random::Random;
use warmcore_workload::{Key, Poisson, Purpose};

/// How many times the costs are drawn: 95% of the draws are all but one at either end.
pub const DRAWS: usize = 40;

/// How far the delay of a run that ended before it was precise may be off, as a fraction: its
/// interval, made of too few independent pieces, says less than it should.
pub const IMPRECISE: f64 = 0.1;

/// Half the width of the interval that holds 95% of a normal distribution, in standard deviations.
pub const NORMAL_95: f64 = 1.96;

/// Packets of a short run that count, and at least, and for each processor, those before.
const COUNTED: u64 = 2_500;
const SETTLING: (u64, u64) = (500, 4);

/// How many times its capacity is offered to a host to see what it can do.
const OVERLOAD: f64 = 3.0;

/// How the predictions for a host move with costs as likely as the measured ones.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// What each curve's capacity is multiplied by.
    pub capacities: Vec<f64>,
    /// What the figures of each curve at each rate are multiplied by; `None` where the combination is
    /// saturated, with these costs or with the measured.
    pub factors: Vec<Vec<Option<[f64; PointMetric::ALL.len()]>>>,
}

impl Draw {
    /// What a curve's mean delay at a rate is multiplied by.
    pub(crate) fn delay(&self, curve: usize, rate: usize) -> Option<f64> {
        Some(self.factors[curve][rate]?[PointMetric::Delay as usize])
    }
}

/// A figure of the packets of one point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointMetric {
    /// Their mean delay.
    Delay,
    /// The delay that 99% of them do not exceed.
    P99,
    /// Their mean time in service.
    Service,
}

impl PointMetric {
    /// All of them, in the order of a [`Draw`]'s factors.
    pub const ALL: [Self; 3] = [Self::Delay, Self::P99, Self::Service];

    /// That of `outcome`; the half-width is that of the simulation alone.
    #[must_use]
    pub const fn simulated(self, outcome: &Outcome) -> Estimate<Nanos> {
        match self {
            Self::Delay => outcome.delay,
            Self::P99 => outcome.quantiles.p99,
            Self::Service => outcome.service,
        }
    }
}

/// The draws for `host`, which `profile` predicts; `drawn` is told of each.
///
/// # Errors
/// If `stop` is set.
pub(crate) fn draws(
    profile: &Profile,
    host: &HostPredictions,
    seed: u64,
    drawn: &(dyn Fn() + Sync),
    stop: &AtomicBool,
) -> Result<Vec<Draw>, PredictError> {
    let replay = Replay { host, seed, stop };
    let measured = replay.all(&Models::new(profile, host.processors)?)?;
    (0..DRAWS)
        .into_par_iter()
        .map(|index| {
            // All hosts of a study see the same drawn costs.
            let mut random = Key { seed, point: index as u64, replication: 0 }.stream(Purpose::Costs);
            let replayed = replay.all(&Models::new(&draw(profile, &mut random), host.processors)?)?;
            drawn();
            Ok(moved(host, &measured, &replayed, &mut random))
        })
        .collect()
}

/// What short runs give for one curve.
struct Replayed {
    /// Mean time between packets that leave an overloaded host.
    gap: f64,
    /// The figures at each rate, in nanoseconds; `None` where the prediction is saturated.
    figures: Vec<Option<[f64; PointMetric::ALL.len()]>>,
}

/// Short runs of everything that a host predicts.
struct Replay<'a> {
    host: &'a HostPredictions,
    seed: u64,
    stop: &'a AtomicBool,
}

impl Replay<'_> {
    fn all(&self, models: &Models) -> Result<Vec<Replayed>, PredictError> {
        self.host.curves.par_iter().map(|curve| self.curve(models, curve)).collect()
    }

    fn curve(&self, models: &Models, curve: &Curve) -> Result<Replayed, PredictError> {
        let overload = curve.capacity.rate.mean * OVERLOAD;
        let (mut first, mut last) = (Nanos::ZERO, Nanos::ZERO);
        self.play(models, curve.combination, overload, 0, |finished| {
            if first == Nanos::ZERO {
                first = finished.ended;
            }
            last = finished.ended;
        })?;
        let point = |(index, rate): (usize, &PerSecond)| -> Result<Option<_>, PredictError> {
            if curve.points[index].and_then(Outcome::steady).is_none() {
                return Ok(None);
            }
            let mut delays = Vec::with_capacity(COUNTED as usize);
            let mut service = Nanos::ZERO;
            self.play(models, curve.combination, *rate, 1 + index, |finished| {
                delays.push(finished.delay().0);
                service += finished.service();
            })?;
            delays.sort_unstable_by(f64::total_cmp);
            let count = delays.len();
            let Some(&p99) = delays.get(count * 99 / 100) else { return Ok(None) };
            Ok(Some([delays.iter().sum::<f64>() / count as f64, p99, service.0 / count as f64]))
        };
        let figures = self.host.rates.iter().enumerate().map(point).collect::<Result<_, _>>()?;
        Ok(Replayed { gap: (last - first).0, figures })
    }

    /// Shows `see` the packets of a short run after those that settle it.
    fn play(
        &self,
        models: &Models,
        combination: Combination,
        rate: PerSecond,
        point: usize,
        mut see: impl FnMut(Finished),
    ) -> Result<(), PredictError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(PredictError::Interrupted);
        }
        let processors = self.host.processors;
        let key = Key { seed: self.seed, point: point as u64, replication: u64::from(processors) };
        let mut arrivals = Poisson::new(rate, processors, key)?;
        let settling = SETTLING.0.max(SETTLING.1 * u64::from(processors));
        let mut packets = 0;
        trace(&models.host(combination, key), &mut arrivals, settling + COUNTED, &mut |finished| {
            packets += 1;
            if packets > settling {
                see(finished);
            }
        });
        Ok(())
    }
}

/// What `drawn` is of `measured`, with the simulation's own error.
fn moved(host: &HostPredictions, measured: &[Replayed], drawn: &[Replayed], random: &mut Random) -> Draw {
    let mut error = |relative: f64| -> f64 {
        let normal: f64 = StandardNormal.sample(random);
        (relative / NORMAL_95 * normal).exp()
    };
    let replayed = measured.iter().zip(drawn);
    let capacities: Vec<f64> = host
        .curves
        .iter()
        .zip(replayed.clone())
        .map(|(curve, (measured, drawn))| {
            let relative = curve.capacity.rate.relative_half_width().unwrap_or(0.0);
            measured.gap / drawn.gap * error(relative)
        })
        .collect();
    let mut factors = Vec::new();
    for ((curve, (measured, drawn)), capacity) in host.curves.iter().zip(replayed).zip(&capacities) {
        let keeps_up = |rate: PerSecond| rate.0 < curve.capacity.rate.mean.0 * capacity;
        let point = |index: usize| {
            let outcome = curve.points[index].as_ref()?;
            let (measured, drawn) = (measured.figures[index]?, drawn.figures[index]?);
            let factors = PointMetric::ALL.map(|figure| {
                let ratio = drawn[figure as usize] / measured[figure as usize];
                ratio * error(relative_error(outcome, figure))
            });
            keeps_up(host.rates[index]).then_some(factors)
        };
        factors.push((0..host.rates.len()).map(point).collect());
    }
    Draw { capacities, factors }
}

/// How far a simulated figure may be off, as a fraction. Of one that is not known, nothing is added:
/// [`HostPredictions::figure`] says that it is not.
fn relative_error(outcome: &Outcome, figure: PointMetric) -> f64 {
    let relative = figure.simulated(outcome).relative_half_width();
    let relative = relative.filter(|relative| relative.is_finite()).unwrap_or(0.0);
    if outcome.is_precise() { relative } else { relative.max(IMPRECISE) }
}

impl HostPredictions {
    /// A figure of one curve at one rate, with the half-width that the simulation and the costs give it; `None`
    /// where it is saturated.
    pub(crate) fn figure(&self, figure: PointMetric, of: usize, rate: usize) -> Option<Estimate<Nanos>> {
        let simulated = figure.simulated(self.curves[of].points[rate].as_ref()?);
        if simulated.half_width.is_some_and(|half| !half.0.is_finite()) {
            return Some(simulated);
        }
        let mean = simulated.mean.0;
        let factors = self.draws.iter().filter_map(|draw| Some(draw.factors[of][rate]?[figure as usize]));
        let Estimate { mean, half_width } = scattered(mean, factors);
        Some(Estimate { mean: Nanos(mean), half_width: half_width.map(Nanos) })
    }

    /// Whether one curve keeps up with one rate whatever costs are drawn.
    pub(crate) fn always_keeps_up(&self, of: usize, rate: usize) -> bool {
        self.draws.iter().all(|draw| draw.factors[of][rate].is_some())
    }

    /// The mean delay of one curve as a multiple of another's at one rate; `None` where one of them is
    /// saturated.
    pub(crate) fn delay_ratio(&self, of: usize, over: usize, rate: usize) -> Option<Estimate<f64>> {
        let delay = |curve: usize| Some(self.steady(curve, rate)?.delay.mean.0);
        let factors =
            self.draws.iter().filter_map(|draw| Some(draw.delay(of, rate)? / draw.delay(over, rate)?));
        Some(scattered(delay(of)? / delay(over)?, factors))
    }

    /// The capacity of one curve as a multiple of another's.
    pub(crate) fn capacity_ratio(&self, of: usize, over: usize) -> Estimate<f64> {
        let rate = |curve: usize| self.curves[curve].capacity.rate.mean.0;
        scattered(
            rate(of) / rate(over),
            self.draws.iter().map(|draw| draw.capacities[of] / draw.capacities[over]),
        )
    }

    /// `ratio`, with the half-width that holds what another study of the machine would find.
    pub(crate) fn in_another_study(&self, ratio: Estimate<f64>) -> Estimate<f64> {
        let relative = ratio.relative_half_width().unwrap_or(0.0).hypot(self.between_studies);
        Estimate::new(ratio.mean, ratio.mean * relative)
    }

    /// The capacity of one curve.
    pub(crate) fn capacity(&self, of: usize) -> Estimate<PerSecond> {
        let rate = scattered(
            self.curves[of].capacity.rate.mean.0,
            self.draws.iter().map(|draw| draw.capacities[of]),
        );
        Estimate { mean: PerSecond(rate.mean), half_width: rate.half_width.map(PerSecond) }
    }
}

/// `mean` with the half-width that the spread of `factors` gives it; infinite with fewer than two.
fn scattered(mean: f64, factors: impl Iterator<Item = f64>) -> Estimate<f64> {
    let logarithms: Vec<f64> = factors.map(f64::ln).collect();
    let count = logarithms.len() as f64;
    let centre = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|of| (of - centre).powi(2)).sum();
    let deviation = if count < 2.0 { f64::INFINITY } else { (squares / (count - 1.0)).sqrt() };
    Estimate::new(mean, mean * NORMAL_95 * deviation)
}

#[cfg(test)]
mod tests {
    use super::PointMetric;
    use crate::predict::{HostPredictions, predict};
    use std::sync::atomic::AtomicBool;
    use warmcore_costs::Profile;
    use warmcore_costs::profile::Measured;
    use warmcore_scenario::{Combination, Prediction};
    use warmcore_units::PerSecond;

    /// Predictions for two processors with costs known to `half_width`.
    fn host(half_width: f64) -> HostPredictions {
        let mut profile = Profile::sgi_challenge_xl();
        let known = |time: &mut Measured| time.half_width = Some(time.mean * half_width);
        for times in [&mut profile.times.locking, &mut profile.times.independent_stacks] {
            known(&mut times.fully_cold);
            for receive in times.cached.values_mut().chain(times.migrates.values_mut()) {
                known(&mut receive.hot);
                receive.cold.iter_mut().for_each(known);
            }
        }
        let rates_per_s = [100.0, 10_000.0].map(PerSecond).to_vec();
        let asked = Prediction { processors: vec![2], rates_per_s, precision: 0.01, max_packets: 100_000 };
        predict(&profile, &asked, 1, &|_, _| (), &AtomicBool::new(false)).unwrap().remove(0)
    }

    #[test]
    fn predictions_are_as_uncertain_as_the_costs_they_rest_on() {
        let default = Combination::COMMON_DEFAULT;
        let relative = |half_width| {
            let host = host(half_width);
            let curve = host.curves.iter().position(|curve| curve.combination == default).unwrap();
            host.capacity(curve).relative_half_width().unwrap()
        };
        let [sure, unsure] = [0.001, 0.1].map(relative);
        // Streams wired to processors find one or two situations, whose errors are independent.
        assert!(sure < 0.02 && (0.05..0.14).contains(&unsure), "{sure} {unsure}");
    }

    #[test]
    fn figures_are_as_uncertain_as_the_costs_and_not_only_as_the_simulation() {
        let host = host(0.1);
        for figure in PointMetric::ALL {
            let relative = host.figure(figure, 0, 0).unwrap().relative_half_width().unwrap();
            let simulated =
                figure.simulated(&host.curves[0].points[0].unwrap()).relative_half_width().unwrap();
            let is_unknown = relative.is_infinite() && simulated.is_infinite();
            assert!(
                is_unknown || relative > 0.03 && relative > 2.0 * simulated,
                "{figure:?}: {relative} and {simulated}"
            );
        }
    }

    #[test]
    fn what_is_certain_does_not_move() {
        let host = host(0.0);
        let of = |index: usize| host.delay_ratio(index, 0, 0).unwrap();
        // Only the simulation's own error of 1% each is left.
        assert!((1..host.curves.len()).all(|index| of(index).relative_half_width().unwrap() < 0.03));
    }
}
