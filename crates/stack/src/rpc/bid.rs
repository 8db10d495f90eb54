//! BID: messages of one incarnation never reach another (O'Malley & Peterson 1992).
//!
//! Each message says which incarnation sent it, and which its sender believes to be the receiver's. A
//! message for another incarnation, or from a sender that does not know the receiver's yet, is refused,
//! and its sender told who is there. So a request that an earlier incarnation may have served is never
//! served again by a later one.
//!
//! A peer has rebooted when its boot id has grown. A smaller one is that of a message on the way since
//! before the reboot, which is dropped.

use super::RpcDropReason;
use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::bid::{BidHeader, MESSAGE, NOTICE};
use core::hint::cold_path;
use core::num::NonZeroU32;
use zerocopy::network_endian::U32;

/// Identifies an incarnation. It must be greater than that of every earlier incarnation of the same host:
/// the seconds of a clock, or a count of boots in stable storage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BootId(pub NonZeroU32);

/// The BID layer between two hosts. The module's documentation says what it does.
#[derive(Debug)]
pub struct Bid {
    own: BootId,
    peer: Option<BootId>,
}

/// What to do with what arrived, and what the layers above must learn of the peer first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BidReceived {
    /// What is new about the peer.
    pub peer: PeerChange,
    /// What to do with the message.
    pub decision: BidDecision,
}

/// What a message tells about the peer's incarnation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PeerChange {
    /// Nothing new.
    Same,
    /// Its boot id is known now. Messages sent before were refused.
    Learned,
    /// It has rebooted: what it had promised, and what it was asked for, is gone.
    Rebooted,
}

/// What to do with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BidDecision {
    /// Pass it to the layer above.
    Deliver,
    /// The packet is a notice for the sender now: send it to the layer below.
    Answer,
    /// Nothing: it told who the peer is, and no more.
    Done,
    /// Nothing.
    Drop(RpcDropReason),
}

impl Bid {
    /// A layer of the incarnation `own`, which does not know the peer's.
    #[must_use]
    pub const fn new(own: BootId) -> Self {
        Self { own, peer: None }
    }

    /// The peer's incarnation, if it is known.
    #[must_use]
    pub const fn peer(&self) -> Option<BootId> {
        self.peer
    }

    /// Sends a message: prepends the header.
    ///
    /// # Errors
    /// The packet has no room for it.
    #[inline]
    pub fn send(&mut self, message: &mut Packet) -> Result<(), PacketFull> {
        self.push_header(message, MESSAGE)
    }

    #[inline]
    fn push_header(&self, message: &mut Packet, kind: u32) -> Result<(), PacketFull> {
        message.push_header(&BidHeader {
            kind: U32::new(kind),
            source: U32::new(self.own.0.get()),
            destination: U32::new(self.peer.map_or(0, |peer| peer.0.get())),
        })
    }

    /// Takes a message, strips its header, and says what to do with it.
    #[inline]
    pub fn receive(&mut self, message: &mut Packet) -> BidReceived {
        let Some(header) = message.strip_header::<BidHeader>() else {
            cold_path();
            return BidReceived::dropped(RpcDropReason::BidTruncated);
        };
        let is_current = self.peer.is_some_and(|peer| peer.0.get() == header.source.get())
            && header.destination.get() == self.own.0.get()
            && header.kind.get() == MESSAGE;
        if is_current {
            return BidReceived { peer: PeerChange::Same, decision: BidDecision::Deliver };
        }
        cold_path();
        self.receive_other(&header, message)
    }

    /// A message that is no message from the known peer to this incarnation.
    fn receive_other(&mut self, header: &BidHeader, message: &mut Packet) -> BidReceived {
        if !matches!(header.kind.get(), MESSAGE | NOTICE) {
            return BidReceived::dropped(RpcDropReason::BidKind);
        }
        let Some(source) = NonZeroU32::new(header.source.get()).map(BootId) else {
            return BidReceived::dropped(RpcDropReason::BidBootId);
        };
        if self.peer.is_some_and(|peer| source < peer) {
            return BidReceived::dropped(RpcDropReason::BidStale);
        }
        let peer = match self.peer.replace(source) {
            None => PeerChange::Learned,
            Some(known) if known < source => PeerChange::Rebooted,
            Some(_) => PeerChange::Same,
        };
        let decision = if header.kind.get() == NOTICE {
            BidDecision::Done
        } else if header.destination.get() == self.own.0.get() {
            BidDecision::Deliver
        } else {
            self.refuse(message)
        };
        BidReceived { peer, decision }
    }

    fn refuse(&self, message: &mut Packet) -> BidDecision {
        message.clear();
        match self.push_header(message, NOTICE) {
            Ok(()) => BidDecision::Answer,
            Err(PacketFull) => BidDecision::Drop(RpcDropReason::BidOtherIncarnation),
        }
    }
}

impl BidReceived {
    const fn dropped(reason: RpcDropReason) -> Self {
        Self { peer: PeerChange::Same, decision: BidDecision::Drop(reason) }
    }
}
