//! Which values the open parameters have: those under which the *standard* scheduler comes nearest to what the text says of it.
//!
//! Nothing else is seen: Tables II to IV, the standard columns of Table V, and three sentences about the standard scheduler
//! (§5.1: misses take about 20 % of the time of Matrix + Matrix and Matrix + Cholesky, and about 60 % of Oracle's; §3.2.1:
//! slices of several dispatch intervals are rare). The rule, which was written before it was first run:
//!
//! 1. Each figure counts by the square of its distance in units of its tolerance, at most 9: some figures of the text contradict
//!    others, and would drown the rest. The sum is the *misfit*.
//! 2. All parameters begin at their neutral values. One after the other, in the order of [`OpenParameter::ALL`], takes each of its
//!    other values, with the calibration made anew, [`REPLICAS`] times. The value with the least misfit is taken if it lowers that
//!    by more than 1 in each of these, which share no runs, nor with what they were fitted to: less is no reason to leave the
//!    neutral value, and what not all show is chance.

use super::calibrate::{Calibration, FitPrecision};
use super::open::{Open, OpenParameter, Origin};
use super::parts::{Part, PredictionError, Steps};
use super::predictions::{Policy, Predictions};
use super::replicas::Replicas;
use super::standard;
use super::tables::{App, Workload};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use warmcore_sim::runqueue::{ApplicationTally, Tally};

/// By how much the misfit must fall for another value to be taken.
const WORTH: f64 = 1.0;
/// What a figure counts at most, in squared tolerances.
const MOST: f64 = 9.0;

/// Calibrations of a setting.
pub const REPLICAS: usize = 3;
/// Runs of each, from which its misfit is taken.
const RUNS: u32 = 4;

/// How far the standard scheduler is from what the text says of it, in each calibration.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Misfit(pub [f64; REPLICAS]);

impl Misfit {
    /// The mean of the calibrations.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.0.iter().sum::<f64>() / REPLICAS as f64
    }

    /// Whether it is worth leaving `before` for, in each calibration.
    fn is_worth(self, before: Self) -> bool {
        self.0.iter().zip(before.0).all(|(now, before)| *now < before - WORTH)
    }
}

/// A value that an open parameter took in the search.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The parameter.
    pub parameter: OpenParameter,
    /// The value.
    pub value: f64,
    /// The misfit with it.
    pub misfit: Misfit,
    /// The misfit without it.
    pub before: Misfit,
    /// Whether it was taken.
    pub taken: bool,
}

/// What the search chose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The values.
    pub open: Open,
    /// The misfit with all neutral values, and with those chosen.
    pub misfit: [Misfit; 2],
    /// What was tried, in order.
    pub trials: Vec<Trial>,
}

/// The calibrated parameters that the search tries values of.
fn searched() -> impl Iterator<Item = OpenParameter> {
    OpenParameter::ALL.into_iter().filter(|parameter| parameter.origin == Origin::Calibration)
}

/// How many calibrations the search makes.
pub(super) fn calibrations() -> usize {
    REPLICAS * (1 + searched().map(|parameter| parameter.values.len() - 1).sum::<usize>())
}

/// Searches the values of all parameters that the standard scheduler's data can tell.
pub(super) fn choose(
    seed: u64,
    precision: FitPrecision,
    steps: &Steps<'_>,
) -> Result<Choice, PredictionError> {
    let mut open = Open::neutral();
    let mut replicas = Replicas::new((open, seed), REPLICAS as u32, None, precision, steps)?;
    let neutral = misfit_of(&replicas, steps)?;
    let mut best = neutral;
    let mut trials = Vec::new();
    for parameter in searched() {
        let tried: Result<Vec<_>, PredictionError> = parameter
            .others(&open)
            .collect::<Vec<f64>>()
            .into_par_iter()
            .map(|value| {
                let open = parameter.set(&open, value);
                let other = Replicas::new((open, seed), REPLICAS as u32, Some(&replicas), precision, steps)?;
                Ok((value, misfit_of(&other, steps)?, other))
            })
            .collect();
        let tried = tried?;
        let before = best;
        let least = tried
            .iter()
            .enumerate()
            .filter(|(_, (_, misfit, _))| misfit.is_worth(before))
            .min_by(|(_, one), (_, other)| one.1.mean().total_cmp(&other.1.mean()))
            .map(|(index, _)| index);
        for (index, (value, misfit, other)) in tried.into_iter().enumerate() {
            let taken = least == Some(index);
            trials.push(Trial { parameter, value, misfit, before, taken });
            if taken {
                (open, replicas, best) = (other.open, other, misfit);
            }
        }
    }
    Ok(Choice { open, misfit: [neutral, best], trials })
}

fn misfit_of(replicas: &Replicas, steps: &Steps<'_>) -> Result<Misfit, PredictionError> {
    let misfits: Result<Vec<f64>, PredictionError> =
        replicas.all.par_iter().map(|calibration| misfit_of_one(calibration, steps)).collect();
    let misfits = misfits?;
    Ok(Misfit(std::array::from_fn(|replica| misfits[replica])))
}

fn misfit_of_one(calibration: &Calibration, steps: &Steps<'_>) -> Result<f64, PredictionError> {
    let key = format!("misfit by {RUNS} runs\n{calibration:?}");
    let get = |part| if let Part::Misfit(misfit) = part { Some(misfit) } else { None };
    steps.part(&key, get, Part::Misfit, || {
        let standard = |workload| {
            let scenario = calibration.scenario(workload, calibration.open.scheduler(), RUNS);
            Ok(((workload, Policy::Standard), steps.simulate(&scenario)?))
        };
        let outcomes: Result<_, PredictionError> = Workload::TABLE_V.into_par_iter().map(standard).collect();
        let replicas =
            Replicas { open: calibration.open, seed: calibration.seed, all: vec![calibration.clone()] };
        Ok(misfit(&Predictions::new(replicas, outcomes?)))
    })
}

/// How far the standard scheduler is from what the text says of it.
#[must_use]
pub fn misfit(predictions: &Predictions) -> f64 {
    distances(predictions).into_iter().map(|distance| (distance * distance).min(MOST)).sum()
}

/// The distances of all figures, in units of their tolerances.
fn distances(predictions: &Predictions) -> Vec<f64> {
    let mut all = Vec::new();
    for app in App::ALL {
        let published = app.characteristics();
        let of = |of: &dyn Fn(&ApplicationTally) -> f64| {
            standard::of_application(predictions, app, of).map(|ours| ours.mean)
        };
        let mut add = |ours: Option<f64>, published: f64, tolerance: f64| {
            all.push(ours.map_or(f64::INFINITY, |ours| (ours - published) / tolerance));
        };
        for (bin, &share) in published.intervals.iter().enumerate() {
            add(of(&|one| standard::share_of_bin(&one.dispatches, bin)), share, standard::SHARE);
        }
        for (cause, &share) in published.ends.iter().enumerate() {
            add(of(&|one| standard::share_of_end(one, cause)), share, standard::SHARE);
        }
        add(of(&|one| one.slices.median_ms(1.0)), published.slice_ms, standard::SLICE_MS);
        let intervening = of(&|one| standard::misses_as_intervening(app, one));
        add(intervening, published.intervening, standard::INTERVENING * published.intervening);
    }
    for workload in Workload::TABLE_V {
        let Some([time, misses, idle]) = workload.row().map(|row| row.standard) else { continue };
        let mean = |of: fn(&Tally) -> f64| {
            predictions.estimate(workload, Policy::Standard, of).map_or(f64::INFINITY, |ours| ours.mean)
        };
        all.push((mean(Tally::mean_completion_s) - time) / (standard::RELATIVE * time));
        all.push((mean(|run| run.misses() / 1e6) - misses) / (standard::RELATIVE * misses));
        all.push((mean(|run| 100.0 * run.idle) - idle) / standard::IDLE);
        all.push((mean(standard::long_slices) - 0.0).max(0.0) / standard::RARE);
    }
    for (workload, share) in standard::MISS_TIME {
        let ours = standard::miss_time(predictions, workload);
        all.push((ours - share) / (crate::reading::ABOUT * share));
    }
    all
}
