//! How sure our values are.
//!
//! Microbenchmarks are repeated ([`draws`](super::draws)): the recipe of a value is evaluated for each repetition, and the value is
//! the mean with the 95 % interval of Student's t. Runs of a program have a [`scatter`](super::scatter): the recipe is evaluated again
//! with each run made longer and shorter by it, and the changes add up as independent ones do, by their squares. With scaled inputs
//! (`--quick`) values of programs have no interval, since nobody knows how far they are from those of the full input.

use super::plan;
use super::runs::{Found, Runs};
use super::setup::Setup;
use super::work::Work;
use crate::{Claim, Finding, Value, ValueAt};
use std::collections::BTreeSet;
use warmcore_stats::Interval;
use warmcore_units::Estimate;
use warmcore_workload::programs::Size;

/// Our values for `claim`.
pub(super) fn finding(runs: &Runs, claim: &Claim<Runs>) -> Option<Finding> {
    let first = (claim.derive)(runs)?;
    let recipe = |runs: &Runs| {
        let Finding { found, note } = (claim.derive)(runs).ok_or("It cannot be derived.")?;
        if found.len() == first.found.len() {
            Ok(found.iter().map(|at| at.value.mean).collect())
        } else {
            Err(note)
        }
    };
    if first.found.is_empty() {
        return Some(first);
    }
    Some(match values(runs, &plan::read_by(claim.needs), recipe) {
        Err(reason) => Finding::nothing(reason),
        Ok(values) => {
            let places = first.found.into_iter().zip(values);
            Finding { found: places.map(|(at, value)| ValueAt { value, ..at }).collect(), note: first.note }
        }
    })
}

impl Runs {
    /// The value of a `recipe` that reads `setups`.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn value(&self, setups: &[Setup], recipe: impl Fn(&Self) -> Found<f64>) -> Found<Value> {
        let setups = setups.iter().copied().collect();
        let mut values = values(self, &setups, |runs| Ok(vec![recipe(runs)?]))?;
        values.pop().ok_or_else(|| "There is no value.".to_owned())
    }

    /// The same for a chart or a table of columns, without a half-width if there is no interval.
    ///
    /// # Errors
    /// If one of them has no result.
    pub fn estimate(&self, setups: &[Setup], recipe: impl Fn(&Self) -> Found<f64>) -> Found<Estimate<f64>> {
        let Value { mean, low, high } = self.value(setups, recipe)?;
        let half_width = Some((high - mean).max(mean - low)).filter(|half| half.is_finite());
        Ok(Estimate { mean, half_width })
    }
}

/// The values of a `recipe` that reads `setups`.
fn values(
    runs: &Runs,
    setups: &BTreeSet<Setup>,
    recipe: impl Fn(&Runs) -> Found<Vec<f64>>,
) -> Found<Vec<Value>> {
    let draws = setups.iter().map(Setup::draws).max().unwrap_or(1);
    let is_scaled = |setup: &Setup| runs.size == Size::Quick && matches!(setup.work, Work::Program(_));
    if draws > 1 {
        over_draws(runs, draws, recipe)
    } else if setups.iter().any(|setup| is_scaled(setup) || runs.scatter.half_width(setup).is_infinite()) {
        let unknown = |mean| Value { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
        Ok(recipe(runs)?.into_iter().map(unknown).collect())
    } else {
        scattered(runs, setups, recipe)
    }
}

/// Means over `draws` repetitions.
fn over_draws(runs: &Runs, draws: usize, recipe: impl Fn(&Runs) -> Found<Vec<f64>>) -> Found<Vec<Value>> {
    let drawn = (0..draws).map(|number| recipe(&runs.drawn(number))).collect::<Found<Vec<_>>>()?;
    let places = drawn.first().map_or(0, Vec::len);
    let of_place = |place: usize| {
        let values: Vec<f64> = drawn.iter().filter_map(|values| values.get(place).copied()).collect();
        let Interval { mean, half_width, .. } = Interval::from_observations(&values);
        Value::from(Estimate::new(mean, half_width))
    };
    Ok((0..places).map(of_place).collect())
}

/// Values with what the scatter of each run changes.
fn scattered(
    runs: &Runs,
    setups: &BTreeSet<Setup>,
    recipe: impl Fn(&Runs) -> Found<Vec<f64>>,
) -> Found<Vec<Value>> {
    let middle = recipe(runs)?;
    let mut squares = vec![[0.0_f64; 2]; middle.len()];
    for setup in setups {
        let half = runs.scatter.half_width(setup);
        if half == 0.0 {
            continue;
        }
        let changed = [-half, half].map(|change| recipe(&runs.lengthened(*setup, 1.0 + change)));
        let [shorter, longer] = changed;
        for (((square, value), shorter), longer) in squares.iter_mut().zip(&middle).zip(shorter?).zip(longer?)
        {
            square[0] += (value - shorter.min(longer)).max(0.0).powi(2);
            square[1] += (shorter.max(longer) - value).max(0.0).powi(2);
        }
    }
    let value = |(mean, [below, above]): (f64, [f64; 2])| Value {
        mean,
        low: mean - below.sqrt(),
        high: mean + above.sqrt(),
    };
    Ok(middle.into_iter().zip(squares).map(value).collect())
}
