//! Fits the footprint constants of a measured intervening workload: those for which the model's t(x) is
//! nearest to the measured one.
//!
//! If all levels have the same line size, as on today's machines, `u(R)` is a power of `R`, and t(x)
//! determines only its factor and its exponent. So `W` and `b` are fitted, while `a` and `log d`, which
//! separate the effect of the line size, keep their published values.

use crate::displacement::{Displacement, Intervening};
use crate::execution::interpolate;
use crate::profile::{CacheLevel, CurvePoint, Profile};
use crate::situation::{Approach, Situation};
use warmcore_units::Nanos;

/// Fitted constants, and how well they explain the measured points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// The constants.
    pub intervening: Intervening,
    /// Root mean square of the points' relative deviations from the model.
    pub deviation: f64,
}

/// Search ranges of `log10 W` and of the exponent of `R`: from a footprint that hardly grows to one that
/// touches a new line with every reference.
const LOG_W: (f64, f64) = (-4.0, 4.0);
const EXPONENT: (f64, f64) = (0.05, 1.5);
/// Steps on each axis of the grid.
const STEPS: u32 = 24;
/// How many times the search narrows the grid to the best cell.
const ROUNDS: u32 = 6;
/// The relative error that a model with two constants may have anywhere. It keeps a few very precise points
/// from deciding the fit.
const MODEL_ERROR: f64 = 0.05;

/// Fits the work that ran between the packets of `points`, at `references_per_us`, on one processor
/// while the others were idle (so that only one processor displaced a shared cache).
///
/// Deviations count relative to the measured time, so that all x matter alike, and less if the point
/// itself is uncertain. The search narrows a grid around its best point and is deterministic. Returns
/// `None` if the profile lacks the times of a packet that finds everything here (experiment A1).
#[must_use]
pub fn fit(
    profile: &Profile,
    approach: Approach,
    points: &[CurvePoint],
    references_per_us: f64,
) -> Option<Fit> {
    let alone = SingleProcessor::new(profile, approach)?;
    let mvs = Intervening::MVS;
    let line = profile.levels.first().map_or(64.0, |level| level.geometry.line.0 as f64);
    let candidate = |log_w: f64, exponent: f64| {
        let b = exponent - mvs.log_d * line.log10();
        Intervening { w: 10_f64.powf(log_w), b, references_per_us, ..mvs }
    };
    let (mut log_w, mut exponent) = (LOG_W, EXPONENT);
    let (mut best, mut least) = (mvs, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (mut at_log_w, mut at_exponent) = (log_w.0, exponent.0);
        for (i, j) in (0..=STEPS).flat_map(|i| (0..=STEPS).map(move |j| (i, j))) {
            let (try_log_w, try_exponent) = (between(log_w, i), between(exponent, j));
            let intervening = candidate(try_log_w, try_exponent);
            let misfit = alone.misfit(points, intervening);
            if misfit < least {
                (best, least) = (intervening, misfit);
                (at_log_w, at_exponent) = (try_log_w, try_exponent);
            }
        }
        log_w = narrowed(log_w, at_log_w);
        exponent = narrowed(exponent, at_exponent);
    }
    Some(Fit { intervening: best, deviation: alone.deviation(points, best) })
}

/// The `step`-th of [`STEPS`] points that divide `range`.
fn between((low, high): (f64, f64), step: u32) -> f64 {
    low + (high - low) * f64::from(step) / f64::from(STEPS)
}

/// A quarter of `range`, around `centre`.
fn narrowed((low, high): (f64, f64), centre: f64) -> (f64, f64) {
    let reach = (high - low) / 8.0;
    (centre - reach, centre + reach)
}

/// The exact model of one processor that receives packets of experiment A1 while all others are idle. t(x)
/// is measured in this setting; [`ExecutionModel`](crate::ExecutionModel) tabulates the same function.
#[derive(Clone, Debug)]
pub struct SingleProcessor<'a> {
    /// `t_0 … t_n`.
    times: Vec<f64>,
    levels: &'a [CacheLevel],
}

impl<'a> SingleProcessor<'a> {
    /// The model under `approach`; `None` if its times are missing.
    #[must_use]
    pub fn new(profile: &'a Profile, approach: Approach) -> Option<Self> {
        let times = profile.times.get(approach);
        let receive = times.get(Situation::default())?;
        let states = [&receive.hot].into_iter().chain(&receive.cold).chain([&times.fully_cold]);
        Some(Self { times: states.map(|state| state.mean.0).collect(), levels: &profile.levels })
    }

    /// t(x) with `intervening` work.
    #[must_use]
    pub fn receive_after(&self, x: Nanos, intervening: Intervening) -> Nanos {
        let flushed =
            self.levels.iter().map(|level| Displacement::new(intervening, level.geometry, 1).fraction(x));
        Nanos(interpolate(&self.times, flushed))
    }

    /// Root mean square of the relative deviations of `points` from the model.
    #[must_use]
    pub fn deviation(&self, points: &[CurvePoint], intervening: Intervening) -> f64 {
        let squares: f64 = points.iter().map(|point| self.relative(point, intervening).powi(2)).sum();
        (squares / points.len().max(1) as f64).sqrt()
    }

    /// The quantity that a fit minimises: the sum of squared relative deviations, each in units of the
    /// uncertainty of the point and the model.
    fn misfit(&self, points: &[CurvePoint], intervening: Intervening) -> f64 {
        let squared = |point: &CurvePoint| {
            let uncertainty = point.time.estimate().relative_half_width().unwrap_or(0.0).hypot(MODEL_ERROR);
            (self.relative(point, intervening) / uncertainty).powi(2)
        };
        points.iter().map(squared).sum()
    }

    /// The relative deviation of `point` from the model.
    fn relative(&self, point: &CurvePoint, intervening: Intervening) -> f64 {
        self.receive_after(point.x, intervening) / point.time.mean - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Measured;

    /// Points that the model itself generates, with constants unlike the defaults.
    #[test]
    fn the_constants_of_generated_points_are_found() {
        let mut profile = Profile::sgi_challenge_xl();
        profile.levels[1].geometry.line = profile.levels[0].geometry.line;
        for (w, b) in [(0.7, 0.9), (30.0, 0.6)] {
            let truth = Intervening { w, b, references_per_us: 300.0, ..Intervening::MVS };
            let alone = SingleProcessor::new(&profile, Approach::Locking).unwrap();
            let points: Vec<CurvePoint> = (0..13)
                .map(|step| Nanos(1e3 * 10_f64.powf(f64::from(step) / 2.0)))
                .map(|x| {
                    let time = alone.receive_after(x, truth);
                    CurvePoint { x, time: Measured::published(time) }
                })
                .collect();
            let fit = fit(&profile, Approach::Locking, &points, 300.0).unwrap();
            assert!(fit.deviation < 0.002, "{fit:?}");
            assert!((fit.intervening.b - b).abs() < 0.01, "{fit:?}");
        }
    }
}
