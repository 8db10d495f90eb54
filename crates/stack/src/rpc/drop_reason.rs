//! Why a layer dropped a message.

/// Why a layer of RPC dropped what arrived. The name begins with the layer's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, thiserror::Error)]
pub enum RpcDropReason {
    /// The frame is longer than any that this endpoint receives.
    #[error("the frame is longer than the longest message")]
    Oversized,
    /// The frame is shorter than a header of BLAST.
    #[error("the frame ends inside its BLAST header")]
    BlastTruncated,
    /// The version is not the one that is spoken here.
    #[error("the BLAST version is unknown")]
    BlastVersion,
    /// The frame is neither a fragment nor a request for missing ones.
    #[error("the kind of the BLAST frame is unknown")]
    BlastKind,
    /// Number, count, lengths and mask contradict each other.
    #[error("the numbers of the BLAST header contradict each other")]
    BlastFragment,
    /// The fragment is longer than the frame, or its message longer than any that is received.
    #[error("the BLAST length is beyond the frame or above the longest message")]
    BlastLength,
    /// The fragment was received already.
    #[error("the fragment was received already")]
    BlastDuplicate,
    /// The fragment contradicts those of its message that arrived before.
    #[error("the fragment contradicts others of its message")]
    BlastMismatch,
    /// As many messages are being reassembled as there is memory for.
    #[error("no memory is free to reassemble another message")]
    BlastNoneFree,
    /// Fragments of a message are missing that is not kept any more.
    #[error("fragments are asked for whose message is not kept any more")]
    BlastNotKept,
    /// The message is shorter than a header of BID.
    #[error("the message ends inside its BID header")]
    BidTruncated,
    /// The message is neither for the layer above nor a notice.
    #[error("the kind of the BID message is unknown")]
    BidKind,
    /// The sender has no boot id.
    #[error("the sender's boot id is zero")]
    BidBootId,
    /// The sender has booted again since it sent this.
    #[error("the message was sent before its sender's last boot")]
    BidStale,
    /// We sent the message ourselves.
    #[error("the message is one of the receiver's own")]
    BidReflected,
    /// The message is for another incarnation of the receiver, and is a notice, or there is no room to say
    /// so.
    #[error("the message is for another incarnation of the receiver")]
    BidOtherIncarnation,
    /// The message is shorter than a header of CHAN.
    #[error("the message ends inside its CHAN header")]
    ChanTruncated,
    /// The message is no request, reply or acknowledgement.
    #[error("the kind of the CHAN message is unknown")]
    ChanKind,
    /// There is no such channel.
    #[error("the channel does not exist")]
    ChanNoChannel,
    /// The message belongs to a call that is over.
    #[error("the message belongs to a call that is over")]
    ChanStale,
    /// The message belongs to a call that was not made yet.
    #[error("the message belongs to a call that was not made yet")]
    ChanFuture,
    /// An answer to a duplicate request does not fit the packet.
    #[error("the packet has no room for the answer")]
    ChanNoRoom,
}
