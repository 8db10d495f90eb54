//! BLAST: messages that are longer than a frame (O'Malley & Peterson 1992).
//!
//! A message is cut into up to 32 fragments, which are sent at once. A receiver that misses some asks for
//! just these, with a mask (a NACK), when none has arrived for a while. A sender keeps the message for
//! that. Nobody acknowledges a message: one that stays incomplete is given up, and the layer above must
//! send it again.
//!
//! A message that fits one frame passes straight through: it is neither kept nor remembered, so that its
//! duplicates are delivered. Those of longer messages are dropped, also after the message was given up.
//!
//! Message numbers must differ from those that the peer may still have from an earlier incarnation.

mod config;
mod incoming;
mod outgoing;

pub use config::BlastConfig;

use super::RpcDropReason;
use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::blast::{BlastFrame, Fragment, HEADER, parse};
use core::hint::cold_path;
use core::time::Duration;
use incoming::Incoming;
use outgoing::Outgoing;

/// The BLAST layer of one peer. The module's documentation says what it does.
#[derive(Debug)]
pub struct Blast {
    /// Most bytes of a message in a frame.
    fragment_size: usize,
    max_message: usize,
    next_message: u32,
    outgoing: Outgoing,
    incoming: Incoming,
    /// Whether [`transmit`](Self::transmit) may have something.
    is_due: bool,
}

/// What became of a message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlastSent {
    /// The packet is a frame now: send it to the layer below.
    Frame,
    /// It is kept, and its fragments come from [`Blast::transmit`].
    Fragments,
}

/// Why a message was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BlastError {
    /// The message is too long.
    #[error("the message has {length} bytes; {max} is the limit")]
    TooLong {
        /// Bytes of the message.
        length: usize,
        /// Most bytes of a message.
        max: usize,
    },
    /// As many messages as can be kept have fragments that were not sent yet.
    #[error("too many messages have fragments that were not sent yet")]
    NoneFree,
    /// The packet has no room for the header.
    #[error(transparent)]
    PacketFull(#[from] PacketFull),
}

/// What to do with what arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlastReceived {
    /// The packet is a message now: pass it to the layer above.
    Deliver,
    /// The fragment is kept until the others arrive.
    Kept,
    /// The peer misses fragments. They come from [`Blast::transmit`].
    Resend,
    /// Nothing.
    Drop(RpcDropReason),
}

impl Blast {
    /// A layer whose first message has the number `first_message`. All memory is allocated here. Limits
    /// of `config` are applied.
    #[must_use]
    pub fn new(config: BlastConfig, first_message: u32) -> Self {
        let config = config.bounded();
        Self {
            fragment_size: config.mtu - HEADER,
            max_message: config.max_message,
            next_message: first_message,
            outgoing: Outgoing::new(config.kept, config.max_message, config.keep),
            incoming: Incoming::new(&config),
            is_due: false,
        }
    }

    /// Most bytes of a message.
    #[must_use]
    pub const fn max_message(&self) -> usize {
        self.max_message
    }

    /// Sends a message: makes it a frame if it fits one, and keeps it to be sent in fragments otherwise.
    ///
    /// # Errors
    /// The message is too long, too many are unsent, or the packet has no room for the header.
    #[inline]
    pub fn send(&mut self, message: &mut Packet) -> Result<BlastSent, BlastError> {
        let length = message.len();
        let number = self.next_message;
        if length > self.fragment_size || length > self.max_message {
            cold_path();
            return self.keep(number, message.payload());
        }
        let (total, length) = (length as u16, length as u16);
        let fragment = Fragment { message: number, number: 0, count: 1, total, length };
        message.push_header(&fragment.header())?;
        self.next_message = number.wrapping_add(1);
        Ok(BlastSent::Frame)
    }

    fn keep(&mut self, number: u32, bytes: &[u8]) -> Result<BlastSent, BlastError> {
        let (length, max) = (bytes.len(), self.max_message);
        if length > max {
            return Err(BlastError::TooLong { length, max });
        }
        let count = length.div_ceil(self.fragment_size) as u8;
        if !self.outgoing.keep(number, self.fragment_size, count, bytes) {
            return Err(BlastError::NoneFree);
        }
        self.next_message = number.wrapping_add(1);
        self.is_due = true;
        Ok(BlastSent::Fragments)
    }

    /// Takes a frame, and says what to do with it. A packet to be delivered is a whole message, whose
    /// bytes are copied to it if there were several fragments.
    #[inline]
    pub fn receive(&mut self, now: Duration, frame: &mut Packet) -> BlastReceived {
        match parse(frame.payload()) {
            Ok(BlastFrame::Fragment(fragment)) => {
                frame.strip(HEADER);
                frame.truncate(fragment.length.into());
                if fragment.count == 1 {
                    return BlastReceived::Deliver;
                }
                cold_path();
                self.take(now, &fragment, frame)
            }
            Ok(BlastFrame::Nack(nack)) => {
                cold_path();
                if !self.outgoing.resend(&nack) {
                    return BlastReceived::Drop(RpcDropReason::BlastNotKept);
                }
                self.is_due = true;
                BlastReceived::Resend
            }
            Err(reason) => {
                cold_path();
                BlastReceived::Drop(reason)
            }
        }
    }

    fn take(&mut self, now: Duration, fragment: &Fragment, frame: &mut Packet) -> BlastReceived {
        match self.incoming.take(now, fragment, frame.payload()) {
            Ok(None) => BlastReceived::Kept,
            Ok(Some(message)) => match frame.replace(message) {
                Ok(()) => BlastReceived::Deliver,
                Err(PacketFull) => BlastReceived::Drop(RpcDropReason::BlastLength),
            },
            Err(reason) => BlastReceived::Drop(reason),
        }
    }

    /// Writes the next frame that is due to `frame`: a request for missing fragments, or a fragment.
    /// Returns `false` if there is none.
    ///
    /// The packet needs headroom for the header and capacity for the rest of a frame; a frame that does
    /// not fit is lost.
    #[inline]
    pub fn transmit(&mut self, now: Duration, frame: &mut Packet) -> bool {
        if !self.is_due {
            return false;
        }
        cold_path();
        self.write_next(now, frame)
    }

    fn write_next(&mut self, now: Duration, frame: &mut Packet) -> bool {
        if let Some(nack) = self.incoming.next_nack() {
            frame.clear();
            return frame.push_header(&nack.header()).is_ok();
        }
        self.is_due = self.outgoing.next(now, frame) == Ok(true);
        self.is_due
    }

    /// When [`time_passes`](Self::time_passes) must be called at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        [self.incoming.deadline(), self.outgoing.deadline()].into_iter().flatten().min()
    }

    /// Time has come to `now`. Requests for missing fragments may be due, which come from
    /// [`transmit`](Self::transmit).
    pub fn time_passes(&mut self, now: Duration) {
        self.outgoing.time_passes(now);
        self.is_due |= self.incoming.time_passes(now);
    }
}
