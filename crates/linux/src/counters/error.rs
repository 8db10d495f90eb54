//! Why an event was not counted, and how to mend it.

use rustix::io::Errno;
use std::io;
use warmcore_units::CpuId;

/// Why an event was not counted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CounterError {
    /// We know no code for this event on this processor.
    #[error("no event for this is known on {processor}")]
    Unknown {
        /// Vendor, family and model.
        processor: String,
    },
    /// The system refused to count it.
    #[error("the system answered `{answer}` to `{code}` on {cpu}{}", hint(*number))]
    Refused {
        /// The event that was requested.
        code: &'static str,
        /// The cpu it was requested on.
        cpu: CpuId,
        /// The error message of the system.
        answer: String,
        /// The error number, if it has one.
        number: Option<i32>,
    },
    /// It shared a hardware counter with other events and ran for too little of the time.
    #[error(
        "it shared a hardware counter with other events and ran for only {:.0}% of the time; below {:.0}% its count is not scaled up",
        running * 100.0, least * 100.0
    )]
    Shared {
        /// The share of the time in which it ran, from 0 to 1.
        running: f64,
        /// The least share that is accepted.
        least: f64,
    },
}

impl CounterError {
    pub(super) fn refused(code: &'static str, cpu: CpuId, answer: &io::Error) -> Self {
        Self::Refused { code, cpu, answer: answer.to_string(), number: answer.raw_os_error() }
    }
}

/// Explains an error of `perf_event_open`, after the "Errors" section of its manual.
fn hint(number: Option<i32>) -> &'static str {
    match number.map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV) => {
            ": this processor has no such counter, or its hypervisor hides it"
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            ": it needs CAP_PERFMON, or at most 0 in /proc/sys/kernel/perf_event_paranoid"
        }
        Some(Errno::NOSYS) => ": this kernel is built without counters",
        Some(Errno::BUSY) => ": another program uses the counter exclusively",
        Some(Errno::MFILE) => ": too many files are open, see `ulimit -n`",
        _ => "",
    }
}
