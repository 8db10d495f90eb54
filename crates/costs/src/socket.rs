//! The costs of a datagram on its way through the kernel to a program's socket, part by part.
//!
//! A datagram passes two processors, which may be one:
//!
//! ```text
//! sender's call ─► network ─► softirq (IP, UDP, the socket's queue) ─► reader: wake-up, receive, handler, reply
//! ```
//!
//! Each part costs more where the lines that it needs were last used elsewhere, or were displaced by other work. A
//! [`SocketProfile`] holds what each part took in each situation. It is a document of its own, as TOML with all times
//! in nanoseconds: a [`Profile`](crate::Profile) is about a path in user space, and neither needs the other.

pub(crate) mod check;
mod placed;

pub use placed::{DatagramCpu, IdleRange, PlacedError, PlacedTimes, ReaderState};

use crate::profile::{Measured, Provenance};
use crate::server::ServerCosts;
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_units::{Estimate, Nanos};

/// The costs of datagrams through the kernel's sockets on one machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketProfile {
    /// Version of the document, [`SocketProfile::SCHEMA`].
    pub schema: u32,
    /// What the figures are about.
    pub path: SocketPath,
    /// The machine's name in reports.
    pub name: String,
    /// Where the figures come from.
    pub provenance: Provenance,
    /// What carried the datagrams.
    pub network: Network,
    /// Bytes of payload of each datagram.
    pub payload_bytes: usize,
    /// The times of a datagram's parts, by situation; empty for TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<DatagramTimes>,
    /// The time of a reply, by what ran before; empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ReplyTimes>,
    /// The time in which a handler reads and writes its flow's state; empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<HandlerTime>,
    /// The time of a datagram that is received with others in one call; empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<BatchTime>,
    /// A non-blocking receive that finds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_poll: Option<Measured>,
    /// What a reader that sleeps costs; `None` with one processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asleep: Option<AsleepTimes>,
    /// What a request costs a server, one entry for each handler; empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerCosts>,
}

/// A path through the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketPath {
    /// Datagrams to a UDP socket.
    UdpSocket,
    /// Requests on TCP connections; the parts of a segment's way are not measured.
    TcpSocket,
}

/// What carries the datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A veth pair between two network namespaces.
    Veth,
    /// The loopback interface.
    Loopback,
}

/// Which processor runs the softirq, as seen from the reader's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SoftirqCpu {
    /// The reader's own.
    Reader,
    /// Another hardware thread of the reader's core.
    Sibling,
    /// Another core, of the same memory node.
    OtherCore,
    /// A core of another memory node.
    OtherNode,
}

impl fmt::Display for SoftirqCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reader => "reader's cpu",
            Self::Sibling => "its sibling",
            Self::OtherCore => "another core",
            Self::OtherNode => "another node",
        })
    }
}

/// What starts the softirq.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// The sender's system call runs it, on the sender's processor.
    InCall,
    /// An interrupt from the sender's processor (RPS), as from a network card.
    Interrupt,
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InCall => "sender's call",
            Self::Interrupt => "interrupt",
        })
    }
}

/// Where a socket, or a flow's state, was last used, as seen from the reader's processor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastUsed {
    /// By the same reader, which has it to itself.
    Here,
    /// By a reader on another core; both take turns.
    Elsewhere,
}

impl fmt::Display for LastUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "here",
            Self::Elsewhere => "elsewhere",
        })
    }
}

/// The times of one datagram in one situation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatagramTimes {
    /// Which processor ran the softirq.
    pub softirq_cpu: SoftirqCpu,
    /// What started it.
    pub delivery: Delivery,
    /// Where the socket was last used.
    pub socket: LastUsed,
    /// How long other work ran before, on the processors of the softirq and the reader.
    pub x: Nanos,
    /// The sender's system call. It contains the softirq if that runs in the call.
    pub call: Measured,
    /// Of the call: until the datagram is in the queue of the processor that runs the softirq.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Measured>,
    /// From that queue into the socket's. In the call, its return is included; by interrupt, it is what the softirq's
    /// processor lost, the interrupt included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq: Option<Measured>,
    /// The reader's system call, which copies a datagram that is there.
    pub receive: Measured,
    /// Call and receive, timed as one in runs of their own; only where one processor does both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Measured>,
}

/// The time of a reader's reply.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyTimes {
    /// How long other work ran before the datagram.
    pub x: Nanos,
    /// The system call that sends it, with what the test network's softirq adds.
    pub call: Measured,
    /// Of the call: until the reply has left the network. A server with a network card pays this and its driver.
    pub send: Measured,
}

/// The time in which a handler reads and writes its flow's state.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlerTime {
    /// Bytes of state, each line of which is read and written.
    pub state_bytes: usize,
    /// Where the state was last written.
    pub state: LastUsed,
    /// How long other work ran before the datagram.
    pub x: Nanos,
    /// The time.
    pub time: Measured,
}

/// The time of a datagram that is received with others.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchTime {
    /// Datagrams in one system call (`recvmmsg`), all of which were there.
    pub datagrams: usize,
    /// The time of the call for each of them.
    pub each: Measured,
}

/// What a reader costs that sleeps in the kernel until a datagram comes, hot, with the softirq on another core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsleepTimes {
    /// The sender's system call, which wakes the reader.
    pub call: Measured,
    /// From the beginning of that call until the reader has the datagram.
    pub arrival: Measured,
    /// Processor time of the reader for each datagram: waking up, receiving, going to sleep.
    pub reader_cpu: Measured,
}

impl SocketProfile {
    /// The version of the document that this build reads and writes.
    pub const SCHEMA: u32 = 1;

    /// The times in one situation, if it was measured.
    #[must_use]
    pub fn datagram(
        &self,
        softirq_cpu: SoftirqCpu,
        delivery: Delivery,
        socket: LastUsed,
        x: Nanos,
    ) -> Option<&DatagramTimes> {
        let key = (softirq_cpu, delivery, socket, x);
        self.datagrams.iter().find(|row| (row.softirq_cpu, row.delivery, row.socket, row.x) == key)
    }

    /// How much longer a hot receive takes on another core than the softirq's; `None` if it was not measured.
    #[must_use]
    pub fn reader_elsewhere(&self) -> Option<Estimate<Nanos>> {
        let receive = |softirq| self.datagram(softirq, Delivery::InCall, LastUsed::Here, Nanos::ZERO);
        let (own, other) = (receive(SoftirqCpu::Reader)?, receive(SoftirqCpu::OtherCore)?);
        Some(difference(other.receive, &[own.receive]))
    }

    /// How much later a reader that sleeps has the datagram than one that looks for it, and how much longer the
    /// sender's call is that wakes it; `None` if it was not measured.
    #[must_use]
    pub fn wake_up(&self) -> Option<WakeUp> {
        let asleep = self.asleep?;
        let awake = self.datagram(SoftirqCpu::OtherCore, Delivery::InCall, LastUsed::Here, Nanos::ZERO)?;
        Some(WakeUp {
            delay: difference(asleep.arrival, &[awake.call, awake.receive]),
            sender_cpu: difference(asleep.call, &[awake.call]),
            reader_cpu: difference(asleep.reader_cpu, &[awake.receive]),
        })
    }
}

/// What sleeping adds to a datagram, each a difference of two means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WakeUp {
    /// To the time until the reader has it.
    pub delay: Estimate<Nanos>,
    /// To the processor time of the processor that wakes the reader.
    pub sender_cpu: Estimate<Nanos>,
    /// To the processor time of the reader.
    pub reader_cpu: Estimate<Nanos>,
}

/// `whole` without `parts`. They are from different runs, so their errors are independent.
fn difference(whole: Measured, parts: &[Measured]) -> Estimate<Nanos> {
    let mean = parts.iter().fold(whole.mean, |rest, part| rest - part.mean);
    let half = |time: &Measured| time.half_width.map_or(0.0, |half| half.0);
    let squares = half(&whole).powi(2) + parts.iter().map(|part| half(part).powi(2)).sum::<f64>();
    Estimate::new(mean, Nanos(squares.sqrt()))
}
