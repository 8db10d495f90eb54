//! BID: messages of one incarnation never reach another (O'Malley & Peterson 1992).
//!
//! Each message says which incarnation sent it, and which its sender believes to be the receiver's. A
//! message for another incarnation, or from a sender that does not know the receiver's yet, is refused,
//! and its sender told who is there by a notice. So a request that an earlier incarnation may have served is
//! never served again by a later one.
//!
//! A peer has rebooted when its boot id has grown. A smaller one is that of a message on the way since
//! before the reboot, which is dropped.
//!
//! A boot id is believed only from a message that names ours: its sender has had our answer.
//!
//! ```text
//!   peer, rebooted as 10                 host 1, which knows it as 9
//!     │ message from 10 to nobody known ─────► │ refused; the peer is still 9
//!     │ ◄───────────────── notice from 1 to 10 │
//!     │ message from 10 to 1 ────────────────► │ delivered; the peer has rebooted
//! ```

use super::RpcDropReason;
use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::bid::{BidHeader, MESSAGE, NOTICE};
use core::hint::cold_path;
use core::num::NonZeroU32;
use zerocopy::network_endian::U32;

/// Identifies an incarnation. It must be greater than that of every earlier incarnation of the same host:
/// the seconds of a clock, if no two boots share one, or a count of boots in stable storage. Different hosts
/// should have different ones, but need not.
///
/// Nobody can check this. An incarnation with the boot id of an earlier one is taken for it. Its calls have the
/// numbers of the earlier calls: it gets their replies, or is dropped until it times out. One with a smaller
/// boot id is stale: its messages are dropped, and its calls time out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BootId(pub NonZeroU32);

/// The BID layer between two hosts. The module's documentation says what it does.
///
/// # What a forger can do
///
/// * Without our boot id it can have us send a notice for each of its frames, and no more.
/// * With it, seen on the path or guessed (a count or a clock is easily guessed), it is believed: its messages
///   are delivered. A boot id above the peer's makes waiting calls fail, and the peer's messages stale until
///   it boots with a yet greater one: for ever if that was the greatest. Nobody is authenticated here; a layer
///   below must do so.
/// * A frame of ours that comes back changes nothing while the boot ids of both hosts differ, since it does
///   not name ours. If they are equal, it passes for the peer's. A link that returns every frame, the notices
///   too, can make a host its own peer. The layer below must drop frames of its own address.
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
    /// Its boot id is known now. Messages sent before are refused.
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
        message.push_header(&BidHeader {
            kind: U32::new(MESSAGE),
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
        if self.is_reflected(header) {
            return BidReceived::dropped(RpcDropReason::BidReflected);
        }
        if self.peer.is_some_and(|peer| source < peer) {
            return BidReceived::dropped(RpcDropReason::BidStale);
        }
        if header.destination.get() != self.own.0.get() {
            // Whoever it is has not had our answer: it is not believed.
            return BidReceived { peer: PeerChange::Same, decision: self.refuse(header, message) };
        }
        let peer = match self.peer.replace(source) {
            None => PeerChange::Learned,
            Some(known) if known < source => PeerChange::Rebooted,
            Some(_) => PeerChange::Same,
        };
        let is_notice = header.kind.get() == NOTICE;
        BidReceived { peer, decision: if is_notice { BidDecision::Done } else { BidDecision::Deliver } }
    }

    /// Whether we sent the message: it is from us to the peer. The peer may have our boot id.
    fn is_reflected(&self, header: &BidHeader) -> bool {
        self.peer.is_some_and(|peer| peer != self.own && header.destination.get() == peer.0.get())
            && header.source.get() == self.own.0.get()
    }

    /// Answers a message for another incarnation with a notice to its sender. A notice is not answered: two
    /// hosts would do so for ever.
    fn refuse(&self, header: &BidHeader, message: &mut Packet) -> BidDecision {
        message.clear();
        let notice = BidHeader {
            kind: U32::new(NOTICE),
            source: U32::new(self.own.0.get()),
            destination: header.source,
        };
        if header.kind.get() == MESSAGE && message.push_header(&notice).is_ok() {
            BidDecision::Answer
        } else {
            BidDecision::Drop(RpcDropReason::BidOtherIncarnation)
        }
    }
}

impl BidReceived {
    const fn dropped(reason: RpcDropReason) -> Self {
        Self { peer: PeerChange::Same, decision: BidDecision::Drop(reason) }
    }
}
