//! Why an event was not counted, and what would be right.

use super::code::Code;
use rustix::io::Errno;
use std::io;
use warmcore_units::CpuId;

/// Why an event was not counted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CounterError {
    /// Which event of this processor it would be is not known here.
    #[error("no event for that is known of {processor}")]
    Unknown {
        /// Vendor, family and model.
        processor: String,
    },
    /// The system does not count it.
    #[error("the system answered `{answer}` to `{code}` on {cpu}{}", hint(*number))]
    Refused {
        /// What it was asked for.
        code: &'static str,
        /// And where.
        cpu: CpuId,
        /// Its answer.
        answer: String,
        /// The number of that, if it has one.
        number: Option<i32>,
    },
    /// It shared its counter with others, and had it for too little of the time.
    #[error(
        "it shared a counter with others and was counted in {:.0}% of the time: less than {:.0}% is not scaled to all of it",
        running * 100.0, least * 100.0
    )]
    Shared {
        /// The part of the time in which it was counted, from 0 to 1.
        running: f64,
        /// What would be enough.
        least: f64,
    },
}

impl CounterError {
    pub(super) fn refused(code: Code, cpu: CpuId, answer: &io::Error) -> Self {
        Self::Refused { code: code.name, cpu, answer: answer.to_string(), number: answer.raw_os_error() }
    }
}

/// What an answer of `perf_event_open` means, as its manual says under "Errors".
fn hint(number: Option<i32>) -> &'static str {
    match number.map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV) => {
            ": this processor has no such counter, or its hypervisor keeps it"
        }
        Some(Errno::ACCESS | Errno::PERM) => {
            ": it needs CAP_PERFMON, or at most 0 in /proc/sys/kernel/perf_event_paranoid"
        }
        Some(Errno::NOSYS) => ": this kernel is built without counters",
        Some(Errno::BUSY) => ": another program has the counter for itself",
        Some(Errno::MFILE) => ": too many files are open, see `ulimit -n`",
        _ => "",
    }
}
