//! Checks whether the choice holds with more streams than processors.
//!
//! Salehi, Kurose & Towsley 1994 (§6) simulate as many streams as processors, and so do the predictions that
//! the choice is based on. Servers have more streams, and then a stream finds less of its own data in the
//! caches. So the advised combinations, and all others with per-processor pools, are simulated again with
//! [`PER_PROCESSOR`] streams per processor on the same number of stacks. Costs are not drawn again for this:
//! ratios are assumed to be as uncertain as with fewer streams.

use crate::decide::{Advice, INDIFFERENT, Region, simulated_within};
use crate::grade::LITTLE;
use crate::predict::Conditions;
use crate::predictions::{HostPredictions, PredictError};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_costs::Profile;
use warmcore_scenario::{Combination, Prediction};
use warmcore_sim::packet::Outcome;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Streams per processor.
pub const PER_PROCESSOR: u32 = 32;

/// How the advice changes with more streams.
#[derive(Clone, PartialEq, Debug)]
pub struct ManyStreams {
    /// The number of streams.
    pub streams: u32,
    /// How the choice changes in each region of the advice.
    pub choices: Vec<ChoiceWithMoreStreams>,
}

/// How a region's choice changes with more streams.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceWithMoreStreams {
    /// At no rate of the region is another combination better by more than [`LITTLE`].
    Holds,
    /// At some rates another combination is.
    Other(BetterCombination),
    /// No predicted combination keeps up at any rate of the region.
    Nothing,
}

/// A combination that is better than a region's choice with more streams.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct BetterCombination {
    /// The combination that is best at most of those rates.
    pub best: Combination,
    /// The lowest and the highest of those rates.
    pub rates_per_s: [PerSecond; 2],
    /// The largest fraction of the delay that it saves at any of them; `None` if the choice is saturated at
    /// one.
    pub at_most_saved: Option<Estimate<f64>>,
}

/// The mean delay of one curve at one rate, if it is known.
#[derive(Clone, Copy, Debug)]
enum Delay {
    Mean(Nanos),
    /// It is not known whether the curve keeps up.
    Unknown,
    Saturated,
}

impl From<Option<Outcome>> for Delay {
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
            None => Self::Saturated,
            Some(outcome) => outcome.steady().map_or(Self::Unknown, |outcome| Self::Mean(outcome.delay.mean)),
        }
    }
}

impl Delay {
    const fn mean(self) -> Option<Nanos> {
        if let Self::Mean(mean) = self { Some(mean) } else { None }
    }
}

/// Mean delays of some curves of a host with more streams.
struct Delays<'a> {
    host: &'a HostPredictions,
    /// The curves simulated.
    curves: Vec<usize>,
    /// For each curve, the mean delay at each of the host's rates.
    delays: Vec<Vec<Delay>>,
}

/// Checks `advice` for `host`, predicted from `profile`, with more streams. Calls `done` with the number of
/// finished points and their total.
///
/// # Errors
/// If the profile is incomplete, or `stop` is set.
pub(crate) fn with_many(
    profile: &Profile,
    asked: &Prediction,
    (host, advice): (&HostPredictions, &Advice),
    seed: u64,
    done: &(dyn Fn(usize, usize) + Sync),
    stop: &AtomicBool,
) -> Result<ManyStreams, PredictError> {
    let processors = host.processors;
    let streams = processors.saturating_mul(PER_PROCESSOR);
    let conditions = Conditions { profile, asked, processors, streams, seed };
    let advised = |of: Combination| advice.regions.iter().any(|region| region.best == of);
    let is_wanted = |&curve: &usize| {
        let of = host.curves[curve].combination;
        of.has_own_pools() || advised(of)
    };
    let curves: Vec<usize> = (0..host.curves.len()).filter(is_wanted).collect();
    let (finished, all) = (AtomicUsize::new(0), curves.len() * host.rates.len());
    let curve = |&curve: &usize| {
        let combination = host.curves[curve].combination;
        let capacity = conditions.capacity(combination)?;
        let point = |index: usize| {
            if stop.load(Ordering::Relaxed) {
                return Err(PredictError::Interrupted);
            }
            let outcome = conditions.outcome(combination, host.rates[index], capacity)?;
            done(1 + finished.fetch_add(1, Ordering::Relaxed), all);
            Ok(Delay::from(outcome))
        };
        (0..host.rates.len()).into_par_iter().map(point).collect::<Result<Vec<_>, PredictError>>()
    };
    let delays = curves.par_iter().map(curve).collect::<Result<Vec<_>, PredictError>>()?;
    let delays = Delays { host, curves, delays };
    Ok(ManyStreams { streams, choices: advice.regions.iter().map(|region| delays.choice(region)).collect() })
}

/// A curve that is better than a choice at one rate.
struct Better {
    rate: usize,
    curve: usize,
    /// The fraction of the delay that it saves; `None` if the choice is saturated.
    saved: Option<Estimate<f64>>,
}

impl Delays<'_> {
    /// How the choice of `region` changes.
    fn choice(&self, region: &Region) -> ChoiceWithMoreStreams {
        let combination = |of: usize| self.host.curves[self.curves[of]].combination;
        let best = (0..self.curves.len()).find(|&of| combination(of) == region.best);
        let rates = simulated_within(self.host, region.from, region.to);
        let Some((best, rates)) = best.zip(rates) else { return ChoiceWithMoreStreams::Nothing };
        if !rates.clone().any(|rate| self.delays.iter().any(|delays| delays[rate].mean().is_some())) {
            return ChoiceWithMoreStreams::Nothing;
        }
        let better: Vec<Better> = rates.filter_map(|rate| self.better(best, rate)).collect();
        let times = |curve: usize| better.iter().filter(|better| better.curve == curve).count();
        let first = (0..self.curves.len()).rev().max_by_key(|&curve| times(curve));
        let (Some(first), Some(lowest), Some(highest)) = (first, better.first(), better.last()) else {
            return ChoiceWithMoreStreams::Holds;
        };
        let saved = better.iter().filter(|better| better.curve == first).filter_map(|better| better.saved);
        ChoiceWithMoreStreams::Other(BetterCombination {
            best: combination(first),
            rates_per_s: [lowest, highest].map(|better| self.host.rates[better.rate]),
            at_most_saved: saved.max_by(|a, b| a.mean.total_cmp(&b.mean)),
        })
    }

    /// The curve that is better than the curve `best` at one rate, by enough to matter.
    fn better(&self, best: usize, rate: usize) -> Option<Better> {
        let known = (0..self.curves.len()).filter_map(|of| Some((of, self.delays[of][rate].mean()?)));
        let (curve, shortest) = known.min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let own = match self.delays[best][rate] {
            Delay::Mean(own) => own,
            Delay::Unknown => return None,
            Delay::Saturated => return Some(Better { rate, curve, saved: None }),
        };
        let mean = 1.0 - shortest / own;
        let ratio = self.host.delay_ratio(self.curves[best], self.curves[curve], rate);
        let uncertain = ratio.and_then(|ratio| ratio.relative_half_width()).unwrap_or(0.0);
        let saved = Estimate::new(mean, (1.0 - mean) * uncertain);
        let is_shown = mean > LITTLE && mean - INDIFFERENT > (1.0 - mean) * uncertain;
        is_shown.then_some(Better { rate, curve, saved: Some(saved) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::decide;
    use crate::predict::predict;

    /// Advice for two processors of the machine of Salehi 1994, at two rates.
    fn advised() -> (Prediction, HostPredictions, Advice) {
        let rates_per_s = [1_000.0, 10_000.0].map(PerSecond).to_vec();
        let asked = Prediction { processors: vec![2], rates_per_s, precision: 0.05, max_packets: 20_000 };
        let profile = Profile::sgi_challenge_xl();
        let host = predict(&profile, &asked, 1, &|_, _| (), &AtomicBool::new(false)).unwrap().remove(0);
        let advice = decide(&host).unwrap();
        (asked, host, advice)
    }

    #[test]
    fn every_region_is_held_against_more_streams_and_the_same_again() {
        let (asked, host, advice) = advised();
        let profile = Profile::sgi_challenge_xl();
        let points = AtomicUsize::new(0);
        let count = |_: usize, _: usize| {
            points.fetch_add(1, Ordering::Relaxed);
        };
        let hold =
            || with_many(&profile, &asked, (&host, &advice), 1, &count, &AtomicBool::new(false)).unwrap();
        let many = hold();
        assert_eq!((many.streams, many.choices.len()), (64, advice.regions.len()));
        assert_eq!(many, hold());
        // Far fewer points than the choice itself needed, so they cost little in comparison.
        assert!(points.into_inner() <= 2 * host.rates.len() * Combination::COUNT / 3);
    }

    #[test]
    fn a_choice_holds_unless_another_is_shown_to_be_better() {
        let (_, host, advice) = advised();
        let curves: Vec<usize> = (0..host.curves.len()).collect();
        let region = &advice.regions[0];
        let best = curves.iter().position(|&curve| host.curves[curve].combination == region.best).unwrap();
        let other = (best + 1) % curves.len();
        let mean = |delay: f64| Delay::Mean(Nanos(delay));
        let choice = |of_other: Delay, of_best: Delay| {
            let mut delays = vec![vec![mean(200.0); host.rates.len()]; curves.len()];
            delays[best].fill(of_best);
            delays[other].fill(of_other);
            Delays { host: &host, curves: curves.clone(), delays }.choice(region)
        };
        assert_eq!(choice(mean(99.0), mean(100.0)), ChoiceWithMoreStreams::Holds);
        let ChoiceWithMoreStreams::Other(BetterCombination { best: found, rates_per_s, at_most_saved }) =
            choice(mean(50.0), mean(100.0))
        else {
            panic!("it holds")
        };
        assert_eq!(found, host.curves[other].combination);
        assert!(rates_per_s[0].0 >= region.from.0 && rates_per_s[1].0 <= region.to.0);
        let saved = at_most_saved.unwrap();
        assert!((saved.mean - 0.5).abs() < 1e-9 && saved.half_width.unwrap() > 0.0);
        let ChoiceWithMoreStreams::Other(saturated) = choice(mean(90.0), Delay::Saturated) else {
            panic!("it holds")
        };
        assert_eq!((saturated.best, saturated.at_most_saved), (found, None));
        assert_eq!(
            choice(mean(90.0), Delay::Unknown),
            ChoiceWithMoreStreams::Holds,
            "what is not known is not worse"
        );
        let nobody = vec![vec![Delay::Saturated; host.rates.len()]; curves.len()];
        let delays = Delays { host: &host, curves: curves.clone(), delays: nobody };
        assert_eq!(
            delays.choice(region),
            ChoiceWithMoreStreams::Nothing,
            "what nothing keeps up with is no choice that holds"
        );
    }
}
