//! The one map from errors to Python's exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warmcore_scenario::TrafficError;
use warmcore_scenario::document::DocumentError;
use warmcore_sim::packet::PointError;
use warmcore_units::Fault;
use warmcore_workload::ImpossibleArrivals;

/// Why a call from Python failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the caller gave cannot be used: an exception of this class in `warmcore.errors`.
    Unusable(Class, Complaint),
    /// The user asked to stop: `KeyboardInterrupt`, or what a handler of signals raised.
    Interrupted(Option<PyErr>),
    /// Something that the caller cannot mend.
    Broken(String),
}

/// A class in `warmcore.errors`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A scenario.
    Scenario,
    /// A machine's profile.
    Profile,
    /// What arrives.
    Traffic,
    /// A sweep.
    Sweep,
    /// A data set.
    DataSet,
    /// A scheduler.
    Scheduler,
    /// Anything else.
    Other,
}

/// What is wrong where, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Complaint {
    /// All of it in a sentence.
    pub(crate) message: String,
    /// Dotted path of the field at fault.
    pub(crate) field: Option<String>,
    /// What was found there.
    pub(crate) found: Option<String>,
    /// What would have been right.
    pub(crate) expected: Option<String>,
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "ScenarioError",
            Self::Profile => "ProfileError",
            Self::Traffic => "TrafficError",
            Self::Sweep => "SweepError",
            Self::DataSet => "DataSetError",
            Self::Scheduler => "SchedulerError",
            Self::Other => "Error",
        }
    }
}

impl Failure {
    /// What is wrong with the thing of `class` as a whole.
    pub(crate) fn plain(class: Class, message: impl ToString) -> Self {
        Self::Unusable(class, Complaint { message: message.to_string(), ..Complaint::default() })
    }

    /// The same with another name of the field at fault, where `renamed` has one.
    pub(crate) fn with_field(self, renamed: impl Fn(&str) -> Option<&'static str>) -> Self {
        let Self::Unusable(class, complaint) = self else { return self };
        let Some((field, name)) = complaint.field.as_deref().and_then(|field| Some((field, renamed(field)?)))
        else {
            return Self::Unusable(class, complaint);
        };
        let message = complaint.message.replacen(field, name, 1);
        Self::Unusable(class, Complaint { message, field: Some(name.to_owned()), ..complaint })
    }
}

impl From<Fault> for Complaint {
    fn from(fault: Fault) -> Self {
        Self {
            message: fault.to_string(),
            field: Some(fault.field),
            found: Some(fault.found),
            expected: Some(fault.expected),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Unusable(Class::Scenario, fault.into())
    }
}

impl From<DocumentError> for Complaint {
    fn from(error: DocumentError) -> Self {
        let message = error.to_string();
        match error {
            DocumentError::Invalid { fault, .. } => Self { message, ..fault.into() },
            DocumentError::Malformed { .. } | DocumentError::Unreadable { .. } => {
                Self { message, ..Self::default() }
            }
        }
    }
}

impl From<TrafficError> for Failure {
    fn from(error: TrafficError) -> Self {
        match error {
            TrafficError::Field(fault) | TrafficError::Arrivals(ImpossibleArrivals::Parameter(fault)) => {
                fault.into()
            }
            error => {
                let field = Some("traffic".to_owned());
                let message = format!("the traffic cannot be made: {error}");
                Self::Unusable(Class::Traffic, Complaint { message, field, ..Complaint::default() })
            }
        }
    }
}

impl From<PointError> for Failure {
    fn from(error: PointError) -> Self {
        match error {
            PointError::Scenario(fault) => fault.into(),
            PointError::Traffic(error) => error.into(),
            PointError::Profile(error) => {
                let message = format!("`profile` does not fit: {error}");
                let field = Some("profile".to_owned());
                Self::Unusable(Class::Profile, Complaint { message, field, ..Complaint::default() })
            }
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Interrupted(Some(raised)) => raised,
            Failure::Interrupted(None) => PyKeyboardInterrupt::new_err(()),
            Failure::Broken(message) => PyRuntimeError::new_err(message),
            Failure::Unusable(class, complaint) => {
                Python::attach(|py| exception(py, class, &complaint).unwrap_or_else(|error| error))
            }
        }
    }
}

fn exception(py: Python<'_>, class: Class, complaint: &Complaint) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    details.set_item("field", &complaint.field)?;
    details.set_item("found", &complaint.found)?;
    details.set_item("expected", &complaint.expected)?;
    let class = py.import("warmcore.errors")?.getattr(class.name())?;
    Ok(PyErr::from_value(class.call((&complaint.message,), Some(&details))?))
}
