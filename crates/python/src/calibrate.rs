//! Measuring this machine.

use crate::failure::{Class, Failure};
use crate::interruptible::interruptible;
use crate::profile::to_json;
use pyo3::prelude::*;
use std::sync::Mutex;
use warmcore_linux::Probe;
use warmcore_measure::{CalibrateError, CalibrationPlan};
use warmcore_scenario::Study;
use warmcore_study::costs;

/// Measures what packets cost on this machine; the JSON of its profile. `budget_s` seconds for the experiments of section 5, and
/// for t(x), replace those of the plan.
#[pyfunction]
#[pyo3(signature = (quick, seed = None, budget_s = None, progress = None))]
pub(crate) fn calibrate(
    py: Python<'_>,
    quick: bool,
    seed: Option<u64>,
    budget_s: Option<(f64, f64)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut study = if quick { Study::quick(vec![1]) } else { Study::standard(vec![1]) };
    if let Some((experiments, intervening)) = budget_s {
        study.calibration.budget_s = experiments;
        study.calibration.intervening_budget_s = intervening;
    }
    warmcore_units::Checked::check(&study).map_err(Failure::from)?;
    let seed = seed.unwrap_or(study.seed);
    let raised = Mutex::new(None);
    let profile = interruptible(py, |stop| {
        let machine = Probe::new().machine().map_err(|error| Failure::plain(Class::Profile, error))?.machine;
        let mut observer = |at: costs::Progress| {
            let Some(progress) = &progress else { return };
            let told = Python::attach(|py| progress.call1(py, (at.stage, at.done)).map(drop));
            if let (Err(error), Ok(mut raised)) = (told, raised.lock()) {
                *raised = Some(error);
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let packets = CalibrationPlan::standard().packets();
        let measured = costs::measure(&machine, &study.calibration, packets, seed, &mut observer, &stop);
        measured.map_err(|error| match error {
            CalibrateError::Interrupted => {
                Failure::Interrupted(raised.lock().ok().and_then(|mut raised| raised.take()))
            }
            error => Failure::plain(Class::Profile, error),
        })
    })?;
    Ok(to_json(&profile)?)
}
