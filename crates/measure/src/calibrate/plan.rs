//! How much to measure, and where.

use crate::error::CalibrateError;
use crate::run::LINK;
use std::ffi::OsString;
use std::time::Duration;
use warmcore_costs::{FrameLines, Packets};
use warmcore_units::{CpuId, Transport};

/// How much to measure, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct CalibrationPlan {
    /// Time budget for the receive times and the free-memory overheads together.
    pub budget: Duration,
    /// Time budget for t(x).
    pub t_of_x_budget: Duration,
    /// Packets of a run if the budget allows; cold runs may have fewer.
    pub packets_per_run: u32,
    /// Least number of runs before the half-width of a value is trusted.
    pub least_runs: u32,
    /// The half-width to reach, as a fraction of the mean.
    pub target: f64,
    /// Seed of everything random: the order of runs, layouts, intervening work.
    pub seed: u64,
    /// What the measured packets carry above IP.
    pub transport: Transport,
    /// Whether UDP checksums are verified in software; those of TCP and under RPC always are.
    pub checksum: bool,
    /// Whether frames are written anew for each packet or stay in the caches. Those of conversations differ, so
    /// the receiving processor writes them itself if they are to stay in its caches.
    pub frames: FrameLines,
    /// Bytes of payload of a measured packet, at most [`MAX_PAYLOAD_BYTES`](Self::MAX_PAYLOAD_BYTES) or, in a
    /// conversation, [`MAX_MESSAGE_BYTES`](Self::MAX_MESSAGE_BYTES); of TCP at least 1. The payload of a datagram
    /// is read only if checksums are verified.
    pub payload_bytes: usize,
    /// Bytes of its stream's own memory that the handler of each measured packet reads and writes.
    pub handler_bytes: usize,
    /// Bytes of the handler's answer to each measured packet, at most
    /// [`MAX_MESSAGE_BYTES`](Self::MAX_MESSAGE_BYTES). Datagrams are not answered, so it must be 0 for them.
    pub reply_bytes: usize,
    /// The user's own program for the intervening work, with its arguments; `None` means the built-in
    /// workload.
    pub intervening: Option<Vec<OsString>>,
    /// The processors to measure on; t(x) uses the first. `None` means the first usable cores.
    pub cpus: Option<Vec<CpuId>>,
}

impl CalibrationPlan {
    /// The most payload of one frame of the measured link (FDDI, as in Salehi 1994).
    pub const MAX_PAYLOAD_BYTES: usize = LINK.max_payload();

    /// The most payload of a packet, and of an answer, that is part of a conversation.
    pub const MAX_MESSAGE_BYTES: usize = warmcore_stack::Conversations::MAX_MESSAGE;

    /// A plan for reliable results: runs of 1,000 packets and intervals of 1%, in some three minutes.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            budget: Duration::from_secs(130),
            t_of_x_budget: Duration::from_secs(45),
            packets_per_run: 1000,
            least_runs: 10,
            target: 0.01,
            seed: 1994,
            transport: Transport::Udp,
            checksum: false,
            frames: FrameLines::Written,
            payload_bytes: 256,
            handler_bytes: 0,
            reply_bytes: 0,
            intervening: None,
            cpus: None,
        }
    }

    /// A plan for a first look: the same values from fewer packets, in some 25 seconds.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            budget: Duration::from_secs(15),
            t_of_x_budget: Duration::from_secs(8),
            least_runs: 5,
            ..Self::standard()
        }
    }

    /// Checks that the measured packets and their answers exist and fit a frame each.
    ///
    /// # Errors
    /// The payload or the answer is too long, TCP has no payload, or datagrams have answers.
    pub const fn check_packets(&self) -> Result<(), CalibrateError> {
        let Self { transport, payload_bytes, reply_bytes, .. } = *self;
        let is_conversation = transport.is_conversation();
        let max = if is_conversation { Self::MAX_MESSAGE_BYTES } else { Self::MAX_PAYLOAD_BYTES };
        if payload_bytes > max {
            return Err(CalibrateError::PayloadTooLong { bytes: payload_bytes, max });
        }
        if matches!(transport, Transport::Tcp) && payload_bytes == 0 {
            return Err(CalibrateError::EmptySegments);
        }
        if !is_conversation && reply_bytes > 0 {
            return Err(CalibrateError::ReplyToDatagrams);
        }
        if reply_bytes > max {
            return Err(CalibrateError::ReplyTooLong { bytes: reply_bytes, max });
        }
        Ok(())
    }

    /// The kind of packets that are measured.
    #[must_use]
    pub const fn packets(&self) -> Packets {
        let Self { frames, transport, payload_bytes, handler_bytes, reply_bytes, .. } = *self;
        let checksum = self.checksum || transport.is_conversation();
        Packets { frames, transport, payload_bytes, checksum, handler_bytes, reply_bytes }
    }
}
