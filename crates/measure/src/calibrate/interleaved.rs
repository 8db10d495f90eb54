//! Shuffled rounds over many values, until every one is known well enough or the time is over.
//!
//! Interleaving is important. A machine drifts (frequency, temperature, neighbours of a virtual
//! machine) by more than the half-width of a value measured in one go. Spread over the whole
//! calibration, each value's runs see all of the drift, so its interval covers it.
//!
//! A value that has reached its target is left out of further rounds if its runs are expensive, which
//! leaves time to the others. Cheap ones continue.

use crate::calibrate::progress::ProgressReporter;
use crate::error::CalibrateError;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::{Duration, Instant};

/// A run shorter than this is cheap.
const CHEAP: Duration = Duration::from_millis(10);
/// Every value gets at least so many runs, however late it is: an interval needs two.
const LEAST_RUNS: usize = 2;

/// Values that are measured by runs, one of which belongs to one value or to a group of them.
pub(crate) trait Interleaved {
    /// How many there are.
    fn count(&self) -> usize;

    /// Is called before each round.
    fn begin_round(&mut self) {}

    /// Runs of the value so far.
    fn runs(&self, index: usize) -> usize;

    /// How long its last run took; zero before the first.
    fn cost(&self, index: usize) -> Duration;

    /// Whether its half-width has reached the target.
    fn is_known(&self, index: usize) -> bool;

    /// Makes one run of it. `late` says that the time is over.
    fn run(&mut self, index: usize, late: bool, rng: &mut Xoshiro256PlusPlus) -> Result<(), CalibrateError>;
}

/// Runs rounds until every value is known well enough or `deadline` has passed.
///
/// # Errors
/// If a run fails or the user stops.
pub(crate) fn complete(
    values: &mut impl Interleaved,
    deadline: Instant,
    rng: &mut Xoshiro256PlusPlus,
    report: &mut ProgressReporter<'_>,
) -> Result<(), CalibrateError> {
    let began = Instant::now();
    let budget = deadline.saturating_duration_since(began).as_secs_f64().max(1e-3);
    loop {
        values.begin_round();
        let mut order: Vec<usize> = (0..values.count())
            .filter(|&index| values.cost(index) < CHEAP || !values.is_known(index))
            .collect();
        order.shuffle(rng);
        let mut ran = false;
        for index in order {
            let late = Instant::now() + values.cost(index) > deadline;
            if late && values.runs(index) >= LEAST_RUNS {
                continue;
            }
            values.run(index, late, rng)?;
            ran = true;
            report.at(began.elapsed().as_secs_f64() / budget);
        }
        if !ran || (0..values.count()).all(|index| values.is_known(index)) {
            return Ok(());
        }
    }
}
