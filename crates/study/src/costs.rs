//! The costs of this machine: runs the calibration that a scenario asks for, and fits the footprint
//! constants.

pub mod draw;

use crate::compare::packets;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use warmcore_costs::{Packets, Profile, fit};
use warmcore_measure::{CalibrateError, CalibrationPlan, Observer, calibrate};
use warmcore_scenario::{Calibration, Live};
use warmcore_topology::Machine;

pub use warmcore_measure::Progress;

/// With fewer points of t(x) nothing is fitted: two constants need more than two points.
const LEAST_POINTS: usize = 4;

/// Measures `machine` as `asked`, with packets like `packets`.
///
/// # Errors
/// If there are no such packets, something could not be measured, or `stop` is set.
pub fn measure(
    machine: &Machine,
    asked: &Calibration,
    packets: Packets,
    seed: u64,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<Profile, CalibrateError> {
    let Packets { frames, transport, payload_bytes, checksum, handler_bytes, reply_bytes } = packets;
    let plan = CalibrationPlan {
        frames,
        transport,
        payload_bytes,
        checksum,
        handler_bytes,
        reply_bytes,
        ..plan(asked, seed)
    };
    calibrate_and_fit(machine, &plan, observer, stop)
}

/// The same with packets like those of a live run from memory: prepared before the run, and never written
/// again.
///
/// # Errors
/// As [`measure`].
pub fn measure_for_run(
    machine: &Machine,
    asked: &Calibration,
    live: &Live,
    seed: u64,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<Profile, CalibrateError> {
    measure(machine, asked, packets::of_run(live), seed, observer, stop)
}

fn plan(asked: &Calibration, seed: u64) -> CalibrationPlan {
    let words = &asked.intervening;
    CalibrationPlan {
        budget: Duration::from_secs_f64(asked.budget_s),
        t_of_x_budget: Duration::from_secs_f64(asked.intervening_budget_s),
        packets_per_run: asked.packets_per_run,
        target: asked.target,
        seed,
        intervening: (!words.is_empty()).then(|| words.iter().map(Into::into).collect()),
        ..CalibrationPlan::standard()
    }
}

fn calibrate_and_fit(
    machine: &Machine,
    plan: &CalibrationPlan,
    observer: &mut Observer<'_>,
    stop: &AtomicBool,
) -> Result<Profile, CalibrateError> {
    let calibration = calibrate(machine, plan, observer, stop)?;
    let mut profile = calibration.profile;
    // The references of a program cannot be counted. Any rate will do, since only its product with W matters.
    let references_per_us = calibration.references_per_us.unwrap_or(profile.intervening.references_per_us);
    fit_intervening(&mut profile, references_per_us);
    Ok(profile)
}

/// Replaces the published footprint constants by those fitted to the measured t(x), if there are enough
/// points.
fn fit_intervening(profile: &mut Profile, references_per_us: f64) {
    let Some(curve) = &profile.intervened else { return };
    if curve.points.len() < LEAST_POINTS {
        return;
    }
    let fit = fit::fit(profile, curve.approach, &curve.points, references_per_us);
    if let (Some(fit), Some(curve)) = (fit, profile.intervened.as_mut()) {
        profile.intervening = fit.intervening;
        curve.fitted = true;
    }
}
