//! What requests cost a server program as it is, measured from outside: it may be any program, and nothing is known of how it
//! waits or what it does.
//!
//! A source sends single requests and takes the place of a network card's interrupts, as for
//! [a server of ours](crate::server). Its processor is the one on which the softirq runs.

use crate::profile::{Measured, Provenance};
use crate::server::UserFile;
use crate::socket::check::check_time;
use crate::socket::{Network, SoftirqCpu};
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_units::{Checked, Fault, Nanos};

/// The costs of requests to a server program on one machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramProfile {
    /// Version of the document, [`ProgramProfile::SCHEMA`].
    pub schema: u32,
    /// The machine's name in reports.
    pub name: String,
    /// Where the figures come from.
    pub provenance: Provenance,
    /// What carried the requests.
    pub network: Network,
    /// The program and its arguments, as given.
    pub program: String,
    /// What it was asked.
    pub requests: ProgramRequests,
    /// The share of a processor that it uses when nobody asks it anything. It is taken off its time for requests.
    pub idle_share: f64,
    /// By the processor of the softirq, then by how long nothing was to do before.
    pub times: Vec<ProgramTimes>,
}

/// What a program is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProgramRequests {
    /// UDP datagrams of so many bytes, which may be answered by any datagram.
    Datagrams {
        /// Bytes of each.
        bytes: usize,
    },
    /// The UDP datagrams of a capture.
    Capture(UserFile),
    /// HTTP/1.1 on connections that stay open, GET of this path.
    Http {
        /// The path.
        path: String,
    },
}

/// The times of requests that come one at a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramTimes {
    /// The processor of the softirq, as seen from the program's.
    pub softirq_cpu: SoftirqCpu,
    /// How long there was nothing to do before: from one reply to the next request.
    pub idle: Nanos,
    /// From the beginning of the source's call until the reply is at its socket: the mean.
    pub delay: Measured,
    /// The median of the same.
    pub median: Measured,
    /// The source's call, softirq included, which wakes the program.
    pub call: Measured,
    /// Processor time of the program for a request.
    pub program_cpu: Measured,
    /// Requests without a reply, as a fraction.
    pub lost: f64,
}

impl ProgramProfile {
    /// The version of the document.
    pub const SCHEMA: u32 = 1;

    /// The times with the softirq on this processor.
    pub fn with(&self, softirq_cpu: SoftirqCpu) -> impl DoubleEndedIterator<Item = &ProgramTimes> {
        self.times.iter().filter(move |times| times.softirq_cpu == softirq_cpu)
    }
}

impl Checked for ProgramProfile {
    const WHAT: &'static str = "profile of a server program";
    const SCHEMA: u32 = Self::SCHEMA;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        if !(0.0..).contains(&self.idle_share) {
            return Err(Fault::new("idle_share", self.idle_share, "a share of a processor, not negative"));
        }
        for (index, times) in self.times.iter().enumerate() {
            let field = |name: &str| format!("times.{index}.{name}");
            if !(times.idle.0.is_finite() && times.idle >= Nanos::ZERO) {
                return Err(Fault::new(field("idle"), times.idle.0, "a finite duration, not negative"));
            }
            if !(0.0..=1.0).contains(&times.lost) {
                return Err(Fault::new(field("lost"), times.lost, "a fraction from 0 to 1"));
            }
            check_time(&field("delay"), &times.delay)?;
            check_time(&field("median"), &times.median)?;
            check_time(&field("call"), &times.call)?;
            check_time(&field("program_cpu"), &times.program_cpu)?;
        }
        Ok(())
    }
}

impl fmt::Display for ProgramRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagrams { bytes } => write!(f, "datagrams of {bytes} bytes"),
            Self::Capture(file) => write!(f, "the datagrams of {}", file.name),
            Self::Http { path } => write!(f, "GET {path} on open connections"),
        }
    }
}
