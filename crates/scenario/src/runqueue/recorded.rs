//! What was recorded of a system, beside the demand that the scenario makes of it.

use super::{MILLISECONDS, within};
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Figures of a recording. A simulation under the scheduler of the recording should come near them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFigures {
    /// How long was recorded.
    pub seconds: f64,
    /// The share of the processors' time in which threads ran.
    pub utilisation: f64,
    /// How often a thread began to run.
    pub dispatches: u64,
    /// How often it had last run on another processor.
    pub migrations: u64,
}

impl RecordedFigures {
    pub(super) fn check(&self) -> Result<(), Fault> {
        within("recorded.seconds", self.seconds, 1e-6..=86_400.0, "seconds")?;
        within("recorded.utilisation", self.utilisation, 0.0..=1.0 + 1e-6, "")
    }
}

/// Scheduling delays of an application's threads in a recording: from being woken up, or being new, to running.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDelays {
    /// How many there were.
    pub count: u64,
    /// Their mean in milliseconds.
    pub mean_ms: f64,
    /// The longest in milliseconds.
    pub longest_ms: f64,
}

impl RecordedDelays {
    pub(super) fn check(&self, field: &str) -> Result<(), Fault> {
        within(format!("{field}.mean_ms"), self.mean_ms, MILLISECONDS, "milliseconds")?;
        within(format!("{field}.longest_ms"), self.longest_ms, MILLISECONDS, "milliseconds")
    }
}
