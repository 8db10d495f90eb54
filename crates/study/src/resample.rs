//! How uncertain costs make the predictions uncertain: costs are drawn at random within their intervals and
//! the same packets are simulated again (a parametric bootstrap: Efron & Tibshirani 1993, *An Introduction to
//! the Bootstrap*, §6.5).
//!
//! A draw holds the factor by which each predicted figure changes. It is the ratio of two short runs on the
//! same arrivals, one with the drawn costs and one with the measured costs, so that chance in the arrivals
//! cancels; times the error of the simulation itself, drawn from its own half-width. The spread of the draws
//! therefore includes both.

use crate::costs::draw::draw;
use crate::predictions::{Curve, Draw, HostPredictions, NORMAL_95, PointMetric, PredictError};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::execution::IncompleteProfile;
use warmcore_costs::{Approach, ExecutionModel, Profile};
use warmcore_scenario::{Combination, Effects, Extensions};
use warmcore_sim::packet::host::SimulatedHost;
use warmcore_sim::packet::{Finished, Outcome, Shape, trace};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::random::Random;
use warmcore_workload::{Key, Poisson, Purpose};

/// The number of draws. An interval of 95% leaves out one at either end.
pub const DRAWS: usize = 40;

/// The relative error of the delay of a run that ended before it was precise. Its own interval comes from too
/// few independent batches and is too narrow.
pub const IMPRECISE: f64 = 0.1;

/// Packets of a short run that count. Before them: at least the first number of [`SETTLING`], and the second
/// for each processor.
const COUNTED: u64 = 2_500;
const SETTLING: (u64, u64) = (500, 4);

/// The load that is offered to measure a host's capacity, as a multiple of it.
const OVERLOAD: f64 = 3.0;

/// The draws for `host`, predicted from `profile`. Calls `drawn` after each.
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
            // All hosts of a study use the same drawn costs.
            let mut random = Key { seed, point: index as u64, replication: 0 }.stream(Purpose::Costs);
            let replayed = replay.all(&Models::new(&draw(profile, &mut random), host.processors)?)?;
            drawn();
            Ok(moved(host, &measured, &replayed, &mut random))
        })
        .collect()
}

/// The costs of packets on this number of processors, under either approach.
struct Models {
    locking: ExecutionModel,
    stacks: ExecutionModel,
    processors: u32,
}

impl Models {
    /// # Errors
    /// If the profile lacks what is needed.
    fn new(profile: &Profile, processors: u32) -> Result<Self, IncompleteProfile> {
        let [locking, stacks] =
            Approach::ALL.map(|approach| ExecutionModel::new(profile, approach, processors));
        Ok(Self { locking: locking?, stacks: stacks?, processors })
    }

    /// A host scheduled by `combination`, with as many streams and stacks as processors.
    fn host(&self, combination: Combination, key: Key) -> SimulatedHost<'_> {
        SimulatedHost {
            shape: Shape::square(self.processors),
            scheduling: combination.into(),
            model: match combination.approach {
                Approach::Locking => &self.locking,
                Approach::IndependentStacks => &self.stacks,
            },
            effects: Effects::NONE,
            extensions: Extensions::NONE,
            key,
        }
    }
}

/// The results of short runs for one curve.
struct Replayed {
    /// Mean time between packets leaving an overloaded host.
    gap: f64,
    /// The figures at each rate, in nanoseconds; `None` if the prediction is saturated.
    figures: Vec<Option<[f64; PointMetric::ALL.len()]>>,
}

/// Short runs of all predictions for a host.
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

    /// Calls `see` with the packets of a short run, after those in which it settles.
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

/// The draw given by `drawn` relative to `measured`, with the simulation's own error.
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

/// The relative error of a simulated figure; zero if it is unknown. [`HostPredictions::figure`] reports that.
fn relative_error(outcome: &Outcome, figure: PointMetric) -> f64 {
    let relative = figure.simulated(outcome).relative_half_width();
    let relative = relative.filter(|relative| relative.is_finite()).unwrap_or(0.0);
    if outcome.is_precise() { relative } else { relative.max(IMPRECISE) }
}

#[cfg(test)]
mod tests {
    use crate::predict::predict;
    use crate::predictions::{HostPredictions, PointMetric};
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
    fn predictions_are_as_uncertain_as_their_costs() {
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
    fn figures_include_the_uncertainty_of_the_costs() {
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
    fn certain_costs_do_not_change_predictions() {
        let host = host(0.0);
        let of = |index: usize| host.delay_ratio(index, 0, 0).unwrap();
        // Only the simulation's own error of 1% each is left.
        assert!((1..host.curves.len()).all(|index| of(index).relative_half_width().unwrap() < 0.03));
    }
}
