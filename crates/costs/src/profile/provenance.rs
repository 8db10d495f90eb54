//! Where the figures of a profile come from, and which packets they are about.

use serde::{Deserialize, Serialize};
use warmcore_units::{Estimate, Nanos, Transport};

/// Where a profile's figures come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Whether they were measured here or taken from a publication.
    pub kind: Kind,
    /// The publication, or the program and version that measured.
    pub source: String,
    /// When it was measured or published, ISO 8601.
    pub date: String,
    /// How long a cache line took from one measured processor to the other; `None` with one processor.
    /// Hypervisors move processors: profiles with different values were measured at different distances,
    /// and their migration costs differ accordingly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Nanos>,
    /// The range of 95% of the hand-over times in runs that count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover_range: Option<[Nanos; 2]>,
    /// What an interrupt takes from a processor that computes; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<Estimate<Nanos>>,
    /// From waking up a sleeping thread on another processor until it runs; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<Estimate<Nanos>>,
    /// The runs that the receive times were taken from; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// Properties of the measured packets; `None` if the publication does not state them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Notes on how the figures were obtained, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How many runs of packets a calibration made, without those of t(x), and how many were disturbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// All runs that were started.
    pub made: u64,
    /// Runs in which a measuring thread was preempted, moved, or took a page fault.
    pub disturbed: u64,
    /// Runs in which the distance between the processors differed from that in the others: a hypervisor had
    /// moved a virtual processor.
    #[serde(rename = "displaced")]
    pub vcpu_moved: u64,
}

impl Runs {
    /// Runs that are not used unless there are too few others.
    #[must_use]
    pub const fn excluded(&self) -> u64 {
        self.disturbed + self.vcpu_moved
    }
}

/// Properties of packets that their receive times depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packets {
    /// What happens to the cache lines of their frames between two packets.
    pub frames: FrameLines,
    /// What they carry above IP.
    #[serde(default, skip_serializing_if = "Transport::is_default")]
    pub transport: Transport,
    /// Bytes of payload, which are read only if checksums are verified.
    pub payload_bytes: usize,
    /// Whether checksums over the payload are verified in software.
    pub checksum: bool,
    /// Bytes of the stream's own memory that the handler reads and writes for each packet.
    #[serde(default, skip_serializing_if = "is_no_memory")]
    pub handler_bytes: usize,
    /// Bytes of the handler's answer, whose sending is part of the packet's time. Datagrams are not answered.
    #[serde(default, skip_serializing_if = "is_no_memory")]
    pub reply_bytes: usize,
}

/// What happens to the cache lines of frames between two packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameLines {
    /// Every packet is newly written into the receiver's buffer, so that reading it misses, as after DMA.
    /// This is the setting of Salehi, Kurose & Towsley 1994, §5.
    #[default]
    Written,
    /// One buffer for each processor and stream is written once and then only read, as with a driver that
    /// hands out prepared frames. Reading it misses only if caches are cold.
    Resident,
}

/// Whether figures were measured or published.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Measured by this program.
    Measured,
    /// Published in the cited source.
    Published,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
const fn is_no_memory(bytes: &usize) -> bool {
    *bytes == 0
}
