//! Predicts what each combination of policies does to the traffic: delay, service time and capacity, at
//! arrival rates from near idle to saturation.
//!
//! All combinations at one rate see the same arrivals. Points are independent and run in parallel; the result
//! does not depend on how many run at once.

use crate::costs::draw::RATIOS_BETWEEN_STUDIES;
use crate::predictions::{Curve, HostPredictions, ORDINARY_LOAD, PredictError};
use crate::resample::{self, DRAWS};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::Profile;
use warmcore_costs::profile::Kind;
use warmcore_scenario::packet::{RunLength, SETTLING_PACKETS};
use warmcore_scenario::{Combination, PacketScenario, Prediction, Traffic};
use warmcore_sim::packet::{Capacity, Outcome, Point, PointError, highest_rate};
use warmcore_units::{Estimate, PerSecond};

/// Reports progress: the number of finished steps and their total.
pub type OnProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Predicts what `asked` wants for machines like that of `profile`.
///
/// # Errors
/// If the profile is incomplete, a rate is above every capacity, or `stop` is set.
pub fn predict(
    profile: &Profile,
    asked: &Prediction,
    seed: u64,
    progress: OnProgress,
    stop: &AtomicBool,
) -> Result<Vec<HostPredictions>, PredictError> {
    let mut hosts = Vec::new();
    for (index, &processors) in asked.processors.iter().enumerate() {
        let tell = |done: usize, of: usize| progress(index * of + done, asked.processors.len() * of);
        hosts.push(predict_host(profile, asked, processors, seed, &tell, stop)?);
    }
    Ok(hosts)
}

fn predict_host(
    profile: &Profile,
    asked: &Prediction,
    processors: u32,
    seed: u64,
    progress: OnProgress,
    stop: &AtomicBool,
) -> Result<HostPredictions, PredictError> {
    let conditions = Conditions { profile, asked, processors, streams: processors, seed };
    let combinations: Vec<Combination> = Combination::all().collect();
    let capacities = combinations.par_iter().map(|&combination| conditions.capacity(combination));
    let capacities: Vec<Capacity> = capacities.collect::<Result<_, PointError>>()?;
    let rates = rates(asked, processors, &combinations, &capacities)?;

    let done = std::sync::atomic::AtomicUsize::new(0);
    // A draw consists of short runs at every rate and counts like a combination.
    let all = (combinations.len() + DRAWS) * rates.len();
    let advance = |steps: usize| progress(steps + done.fetch_add(steps, Ordering::Relaxed), all);
    let point = |combination: Combination, capacity: &Capacity, index: usize| {
        if stop.load(Ordering::Relaxed) {
            return Err(PredictError::Interrupted);
        }
        let outcome = conditions.outcome(combination, rates[index], *capacity)?;
        advance(1);
        Ok(outcome)
    };
    let curves = combinations
        .par_iter()
        .zip(&capacities)
        .map(|(&combination, capacity)| {
            let points = (0..rates.len()).into_par_iter().map(|index| point(combination, capacity, index));
            let points: Vec<Option<Outcome>> = points.collect::<Result<_, _>>()?;
            Ok(Curve { combination, capacity: bounded(*capacity, &rates, &points), points })
        })
        .collect::<Result<Vec<_>, PredictError>>()?;
    let drawn = || advance(rates.len());
    let between_studies = match profile.provenance.kind {
        Kind::Measured => RATIOS_BETWEEN_STUDIES,
        Kind::Published => 0.0,
    };
    let mut host =
        HostPredictions { processors, rates: rates.clone(), curves, draws: Vec::new(), between_studies };
    host.draws = resample::draws(profile, &host, seed, &drawn, stop)?;
    Ok(host)
}

/// What all points of a host have in common.
pub(crate) struct Conditions<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) asked: &'a Prediction,
    /// There are as many stacks under IPS.
    pub(crate) processors: u32,
    pub(crate) streams: u32,
    pub(crate) seed: u64,
}

impl Conditions<'_> {
    /// The highest rate that `combination` keeps up with.
    ///
    /// # Errors
    /// If the profile is incomplete.
    pub(crate) fn capacity(&self, combination: Combination) -> Result<Capacity, PointError> {
        let scenario = self.scenario(combination, None);
        highest_rate(&scenario, &scenario.traffic.generated()?, self.profile)
    }

    /// The outcome of packets at `rate` under `combination`, which has this `capacity`; `None` if it is
    /// saturated.
    ///
    /// # Errors
    /// If the profile is incomplete, or the rate is too low to be simulated.
    pub(crate) fn outcome(
        &self,
        combination: Combination,
        rate: PerSecond,
        capacity: Capacity,
    ) -> Result<Option<Outcome>, PointError> {
        let scenario = self.scenario(combination, Some(rate));
        Ok(Point::new(&scenario, &scenario.traffic.generated()?, self.profile)?.result(capacity)?.outcome)
    }

    /// Poisson packets of all streams.
    fn scenario(&self, combination: Combination, rate: Option<PerSecond>) -> PacketScenario {
        let Self { asked, processors, streams, seed, .. } = *self;
        // Twice the number that all streams need to be seen.
        let max_packets = asked.max_packets.max(2 * SETTLING_PACKETS * u64::from(streams));
        PacketScenario {
            seed,
            processors,
            rate_per_s: rate,
            scheduling: combination.into(),
            traffic: Traffic { streams, ..Traffic::default() },
            run: RunLength { precision: asked.precision, max_packets, ..RunLength::default() },
            ..PacketScenario::default()
        }
    }
}

/// `capacity`, if there is a steady state at all `rates` below it. Otherwise it lies between the last rate
/// with a steady state and the first without: processors that are always busy pass threads and memory on in a
/// fixed order, which may cost less than the order in which they do so at that rate.
fn bounded(capacity: Capacity, rates: &[PerSecond], points: &[Option<Outcome>]) -> Capacity {
    let Some(first) = points.iter().position(Option::is_none) else { return capacity };
    let above = rates[first].0;
    if above >= capacity.rate.mean.0 {
        return capacity;
    }
    let below = first.checked_sub(1).map_or(0.0, |last| rates[last].0);
    let rate = Estimate::new(PerSecond((below + above) / 2.0), PerSecond((above - below) / 2.0));
    Capacity { rate, ..capacity }
}

/// The rates asked for. Otherwise from near idle to saturation of the best combination: three per decade
/// below a tenth of its capacity, then every tenth, then its last few hundredths.
fn rates(
    asked: &Prediction,
    processors: u32,
    combinations: &[Combination],
    capacities: &[Capacity],
) -> Result<Vec<PerSecond>, PredictError> {
    let ranked = combinations.iter().zip(capacities);
    let highest = ranked.max_by(|a, b| a.1.rate.mean.0.total_cmp(&b.1.rate.mean.0));
    let Some((&combination, highest)) = highest else { return Ok(Vec::new()) };
    let best = highest.rate.mean;
    if asked.rates_per_s.is_empty() {
        let low = (0..12).map(|step| 1e-5 * 10_f64.powf(f64::from(step) / 3.0));
        let high = (1..10).map(|tenth| f64::from(tenth) / 10.0).chain([0.95, 0.98]);
        let mut fractions: Vec<f64> = low.chain(high).collect();
        // Also rates just below the saturation of the other combinations.
        fractions.extend(capacities.iter().map(|capacity| capacity.rate.mean.0 / best.0 * 0.95));
        let default = combinations.iter().position(|&combination| combination == Combination::COMMON_DEFAULT);
        fractions.extend(default.map(|default| capacities[default].rate.mean.0 / best.0 * ORDINARY_LOAD));
        fractions.sort_by(f64::total_cmp);
        fractions.dedup_by(|next, last| *next - *last < 0.02 * *last);
        return Ok(fractions.into_iter().map(|fraction| best * fraction).collect());
    }
    let mut rates = asked.rates_per_s.clone();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    match rates.last() {
        Some(&asked) if highest.is_exceeded_by(asked) => {
            Err(PredictError::AboveCapacity { asked, best, combination, processors })
        }
        _ => Ok(rates),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Approach;

    fn asked(rates: &[f64]) -> Prediction {
        Prediction {
            processors: vec![2, 8],
            rates_per_s: rates.iter().copied().map(PerSecond).collect(),
            precision: 0.05,
            max_packets: 20_000,
        }
    }

    fn published(asked: &Prediction, stop: &AtomicBool) -> Result<Vec<HostPredictions>, PredictError> {
        predict(&Profile::sgi_challenge_xl(), asked, 1, &|_, _| (), stop)
    }

    #[test]
    fn every_combination_is_predicted_and_the_same_again() {
        let hosts = published(&asked(&[1_000.0, 15_000.0]), &AtomicBool::new(false)).unwrap();
        assert_eq!(hosts.iter().map(|host| host.processors).collect::<Vec<_>>(), [2, 8]);
        for host in &hosts {
            assert_eq!(host.curves.len(), Combination::COUNT);
            assert!(host.curves.iter().all(|curve| curve.points.len() == 2 && curve.points[0].is_some()));
        }
        // 15,000/s is above what Locking keeps up with on two processors, and below on eight.
        let saturated = |host: &HostPredictions| {
            let locking = host.curves.iter().find(|curve| curve.combination.approach == Approach::Locking);
            locking.unwrap().points[1].is_none()
        };
        assert_eq!([&hosts[0], &hosts[1]].map(saturated), [false, false]);
        assert_eq!(hosts, published(&asked(&[1_000.0, 15_000.0]), &AtomicBool::new(false)).unwrap());
    }

    #[test]
    fn a_rate_above_every_capacity_is_refused() {
        let error = published(&asked(&[100.0, 50_000.0]), &AtomicBool::new(false)).unwrap_err();
        let PredictError::AboveCapacity { asked, processors, .. } = error else { panic!("{error}") };
        assert_eq!((asked, processors), (PerSecond(50_000.0), 2));
    }

    #[test]
    fn a_stop_is_obeyed() {
        let error = published(&asked(&[100.0]), &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(error, PredictError::Interrupted), "{error}");
    }

    #[test]
    fn the_chosen_rates_span_near_idle_to_saturation() {
        let hosts = published(&asked(&[]), &AtomicBool::new(false)).unwrap();
        for host in hosts {
            let best = host.curves.iter().map(|curve| curve.capacity.rate.mean.0).fold(0.0, f64::max);
            assert!(host.rates[0].0 < 1e-4 * best && host.rates.last().unwrap().0 > 0.97 * best);
            assert!(host.rates.is_sorted_by(|a, b| a.0 < b.0));
        }
    }
}
