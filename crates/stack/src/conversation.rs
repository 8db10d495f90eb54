//! Conversations: streams that are answered, and whose state is more than counters.
//!
//! A [stack](crate::Stack) made with [`Conversations`] receives TCP, or RPC over UDP, through the same
//! layers as plain datagrams. At the top of each stream is a machine, a [connection](crate::tcp) or an RPC
//! [endpoint](crate::rpc), behind the lock of its session. What it delivers goes to the application, whose
//! answer it sends; the frames that are due then are in the [`Exchange`].
//!
//! A conversation is served by one thread at a time: its session is locked while the application has its
//! data, so its data is in order under every policy.

use crate::rpc::{self, BootId};
use crate::tcp;
use crate::wire::FrameBuilder;
use crate::wire::tcp::Segment;
use alloc::vec::Vec;
use core::time::Duration;
use warmcore_units::{StreamId, Transport};

/// Most bytes delivered at once.
const LARGEST_DELIVERY: usize = 16 << 10;

/// The procedure that calls of RPC are made to.
pub const PROCEDURE: u16 = 1;

/// What the conversations of a stack are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversations {
    /// Connections, each waiting for its peer to open it.
    Tcp(tcp::Config),
    /// Endpoints that serve [`PROCEDURE`], over UDP.
    Rpc {
        /// Of each endpoint.
        config: rpc::Config,
        /// The incarnation of this host.
        boot: BootId,
    },
}

impl Conversations {
    /// Longest message that fits one frame of every link, with the headers of every layer.
    pub const MAX_MESSAGE: usize = 1400;

    /// What a server of many streams wants, on this host's incarnation `boot`: small buffers, answers that do
    /// not wait for each other, and header prediction. `None` for datagrams, which are no conversations.
    #[must_use]
    pub fn serving(transport: Transport, boot: BootId) -> Option<Self> {
        match transport {
            Transport::Udp => None,
            Transport::Tcp => {
                let changes = tcp::Changes { header_prediction: true, ..tcp::Changes::default() };
                Some(Self::Tcp(tcp::Config {
                    send_buffer: BUFFER,
                    receive_buffer: BUFFER,
                    window_scaling: false,
                    nagle: false,
                    delayed_ack: Duration::from_millis(40),
                    initial_timeout: Duration::from_millis(300),
                    min_timeout: Duration::from_millis(200),
                    retries: RETRIES,
                    max_segment_lifetime: Duration::from_secs(1),
                    changes,
                    ..tcp::Config::default()
                }))
            }
            Transport::Rpc => {
                Some(Self::Rpc { config: rpc::Config::with_sizes(MTU, Self::MAX_MESSAGE), boot })
            }
        }
    }
}

/// How often something is sent again before a connection is given up: after some 20 s if it was never
/// established, so that its stream is free for another.
const RETRIES: u32 = 5;
/// Bytes of each buffer of a connection.
const BUFFER: usize = 16 << 10;
/// Payload of a datagram in a frame of Ethernet.
const MTU: usize = 1472;

/// A thread's memory for conversations: what is being delivered and answered, and the frames to send.
///
/// Keep one for each thread, and send its [frames](Self::frames) after each call that was given it.
#[derive(Debug)]
pub struct Exchange {
    pub(crate) received: Vec<u8>,
    pub(crate) reply: Vec<u8>,
    /// All frames to be sent, one after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pub(crate) ended: Vec<StreamId>,
    pub(crate) unanswered: u64,
}

impl Default for Exchange {
    fn default() -> Self {
        Self {
            received: alloc::vec![0; LARGEST_DELIVERY],
            reply: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            ended: Vec::new(),
            unanswered: 0,
        }
    }
}

impl Exchange {
    /// The frames to send, in order.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    /// The connections that ended: their streams may be closed, or opened again by their peers.
    #[must_use]
    pub fn ended(&self) -> &[StreamId] {
        &self.ended
    }

    /// Calls whose answer was longer than a message may be, so that it was not sent.
    #[must_use]
    pub const fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// Whether there is neither a frame to send nor a connection that ended.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.ended.is_empty()
    }

    /// Forgets the frames and the connections that ended.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.ended.clear();
        self.unanswered = 0;
    }

    /// Adds the frame of `segment`.
    pub(crate) fn push_segment(&mut self, builder: &FrameBuilder, segment: &Segment<'_>) {
        let start = self.bytes.len();
        self.bytes.resize(start + builder.segment_frame_length(segment), 0);
        let written = builder.write_segment(segment, &mut self.bytes[start..]).is_ok();
        self.end_frame(start, written);
    }

    /// Adds the frame of a datagram.
    pub(crate) fn push_datagram(&mut self, builder: &FrameBuilder, payload: &[u8]) {
        let start = self.bytes.len();
        self.bytes.resize(start + builder.frame_length(payload.len()), 0);
        let written = builder.write(payload, &mut self.bytes[start..]).is_ok();
        self.end_frame(start, written);
    }

    fn end_frame(&mut self, start: usize, written: bool) {
        if written {
            self.ends.push(self.bytes.len());
        } else {
            // Larger than a frame of the link: it is lost, as it would be on the link.
            self.bytes.truncate(start);
        }
    }
}
