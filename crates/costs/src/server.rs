//! What a request costs a server on the kernel's sockets, from its interrupt to its reply: the second stage, where one
//! processor runs the softirq and the same or another one the server's worker.
//!
//! Requests are sent by *sources*, one on each processor, which take the place of a network card's interrupts: a source's
//! thread takes its processor from whatever runs there, sends what is due, and goes away.
//!
//! ```text
//! due ── late ──► source's call (softirq) ── wake-up ──► worker: receive, handler, reply ──► reply at the source
//!                 ├──── call ─────────────┤├──────────────── reply ───────────────────────┤
//! ```
//!
//! All of this is measured with single requests and short bursts, never under the loads that are predicted from it.

mod check;
mod varied;

use crate::profile::Measured;
use crate::socket::{LastUsed, SoftirqCpu};
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_units::{Nanos, Transport};

/// How a worker waits for requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// On a socket of its own. It takes all that is queued at once, and sends all replies together.
    Own,
    /// On the socket of all, behind the others. It takes one request at a time.
    Fifo,
    /// On the socket of all, before the others. It takes one request at a time.
    Lifo,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "own socket",
            Self::Fifo => "shared socket, first in first out",
            Self::Lifo => "shared socket, last in first out",
        })
    }
}

/// A file of the user's that costs are about. They hold for no other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserFile {
    /// Its name, without its folder.
    pub name: String,
    /// The checksum of its contents (CRC-32).
    pub crc32: u32,
}

/// The costs of requests to a server with one handler.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerCosts {
    /// Whether requests are datagrams, or come on TCP connections.
    #[serde(default, skip_serializing_if = "Transport::is_default")]
    pub transport: Transport,
    /// Bytes of its flow's state that the handler reads and writes; 0 is an echo.
    pub state_bytes: usize,
    /// Bytes of a request, header included; of captured ones the mean.
    pub payload_bytes: usize,
    /// The library that handles requests; then nothing is known of the state it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<UserFile>,
    /// The capture that the requests are from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<UserFile>,
    /// The flows that took turns.
    pub flows: usize,
    /// What the sources take.
    pub source: SourceTimes,
    /// Requests that found nothing under way.
    pub alone: Vec<AloneTimes>,
    /// Requests that came together.
    pub bursts: Vec<BurstTimes>,
}

/// What a source takes from its processor, where its datagrams go to a socket that nobody reads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceTimes {
    /// How late a source begins its call on a processor that runs a thread outside the kernel.
    pub late_busy: Measured,
    /// What one request takes from that thread: the interrupt, both switches, the call.
    pub stolen: Measured,
    /// What each further request takes that is due at the same time.
    pub stolen_more: Measured,
}

/// The times of requests that come one at a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AloneTimes {
    /// How the workers wait.
    pub waiting: Waiting,
    /// The processor of the source, and so of the softirq, as seen from the worker's.
    pub softirq_cpu: SoftirqCpu,
    /// Where the socket was last used.
    pub socket: LastUsed,
    /// Where the flow's state was last used.
    pub state: LastUsed,
    /// How long all processors had nothing to do before.
    pub idle: Nanos,
    /// From the time at which the request is due until the source's call begins.
    pub late: Measured,
    /// The source's call, which wakes the worker.
    pub call: Measured,
    /// From the end of that call until the reply is at the source's socket. On one processor the source first goes away.
    pub reply: Measured,
    /// Processor time of the worker for the request: waking up, everything it does, and falling asleep.
    pub worker_cpu: Measured,
}

/// The times of requests that are sent back to back to one worker that slept before.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstTimes {
    /// How the worker waits.
    pub waiting: Waiting,
    /// The processor of the source, as seen from the worker's.
    pub softirq_cpu: SoftirqCpu,
    /// Requests of a burst.
    pub requests: usize,
    /// The source's calls after the first, which wake nobody; the mean.
    pub call: Measured,
    /// From the end of the last call until the last reply is at the source's socket.
    pub last_reply: Measured,
    /// Processor time of the worker for the whole burst.
    pub worker_cpu: Measured,
}

impl ServerCosts {
    /// The times of single requests in one situation, in the order of `idle`.
    pub fn alone(
        &self,
        waiting: Waiting,
        softirq_cpu: SoftirqCpu,
        socket: LastUsed,
        state: LastUsed,
    ) -> impl Iterator<Item = &AloneTimes> {
        let key = (waiting, softirq_cpu, socket, state);
        self.alone.iter().filter(move |row| (row.waiting, row.softirq_cpu, row.socket, row.state) == key)
    }

    /// The times of a burst, if it was measured.
    #[must_use]
    pub fn burst(&self, waiting: Waiting, softirq_cpu: SoftirqCpu, requests: usize) -> Option<&BurstTimes> {
        let key = (waiting, softirq_cpu, requests);
        self.bursts.iter().find(|row| (row.waiting, row.softirq_cpu, row.requests) == key)
    }
}
