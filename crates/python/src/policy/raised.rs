//! What models in Python have in common: exceptions end the run, and each run begins with a copy of the model.

use crate::failure::{Class, Complaint, Failure};
use pyo3::prelude::*;
use rand_core::Rng;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Calls between two looks for signals: code that runs in C looks for none itself.
const CALLS: u32 = 256;

/// The first exception of a run. Once there is one, no more packets arrive.
#[derive(Clone, Default)]
pub(crate) struct Raised {
    first: Arc<OnceLock<Mutex<Option<PyErr>>>>,
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU32>,
}

impl Raised {
    /// The flag that is set when the run shall end.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the run shall end.
    pub(super) fn is_set(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// # Errors
    /// The exception, if there was one.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let first = self.first.get().and_then(|first| first.lock().ok()?.take());
        first.map_or(Ok(()), |raised| Err(Failure::Interrupted(Some(raised))))
    }

    /// Looks for signals, every so many calls.
    pub(super) fn glance(&self, py: Python<'_>) -> PyResult<()> {
        match self.calls.fetch_add(1, Ordering::Relaxed) % CALLS {
            0 => py.check_signals(),
            _ => Ok(()),
        }
    }

    #[cold]
    pub(super) fn note(&self, error: PyErr) {
        // Later ones may follow from the first.
        let _ = self.first.set(Mutex::new(Some(error)));
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What a model in Python says is impossible.
pub(super) fn refused(field: &str, found: &str, expected: &str) -> PyErr {
    let complaint = Complaint {
        message: format!("`{field}` is {found}, expected {expected}"),
        field: Some(field.to_owned()),
        found: Some(found.to_owned()),
        expected: Some(expected.to_owned()),
    };
    Failure::Unusable(Class::Scenario, complaint).into()
}

/// A deep copy of a model, so that each run begins with it as it was given.
pub(super) fn copied(py: Python<'_>, model: &Py<PyAny>, raised: &Raised) -> Py<PyAny> {
    let copy = || Ok(py.import("copy")?.call_method1("deepcopy", (model,))?.unbind());
    copy().unwrap_or_else(|error| {
        raised.note(error);
        model.clone_ref(py)
    })
}

/// A number from 0 to 1.
pub(super) fn fraction(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
