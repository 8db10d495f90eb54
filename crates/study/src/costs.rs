//! The costs of this machine: the calibration that a scenario asks for, and the footprint
//! constants fitted to it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use warmcore_costs::{Profile, fit};
use warmcore_measure::{CalibrateError, Observer, Plan, calibrate};
use warmcore_scenario::Calibration;
use warmcore_topology::Machine;

pub use warmcore_measure::Progress;

/// Points of t(x) below which nothing is fitted: two constants need more than two.
const LEAST_POINTS: usize = 4;

/// Measures `machine` as `asked`.
///
/// # Errors
/// If something could not be measured, or `stop` is set.
pub fn measure(
    machine: &Machine,
    asked: &Calibration,
    seed: u64,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<Profile, CalibrateError> {
    let words = &asked.intervening;
    let plan = Plan {
        budget: Duration::from_secs_f64(asked.budget_s),
        t_of_x_budget: Duration::from_secs_f64(asked.intervening_budget_s),
        packets_per_run: asked.packets_per_run,
        target: asked.target,
        seed,
        intervening: (!words.is_empty()).then(|| words.iter().map(Into::into).collect()),
        ..Plan::standard()
    };
    let mut profile = calibrate(machine, &plan, observer, stop)?.profile;
    fit_intervening(&mut profile);
    Ok(profile)
}

/// Replaces the published footprint constants by those that explain the measured t(x), where
/// there are enough points to tell.
fn fit_intervening(profile: &mut Profile) {
    let Some(curve) = &profile.intervened else { return };
    if curve.points.len() < LEAST_POINTS {
        return;
    }
    let references_per_us = profile.intervening.references_per_us;
    let fit = fit::fit(profile, curve.approach, &curve.points, references_per_us);
    if let (Some(fit), Some(curve)) = (fit, profile.intervened.as_mut()) {
        profile.intervening = fit.intervening;
        curve.fitted = true;
    }
}
