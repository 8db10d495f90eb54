//! UDP, TCP and RPC over IP and FDDI or Ethernet, without I/O. It owns no thread and reads no clock or file. A driver
//! passes it frames.
//!
//! This is the protocol stack whose cost on cold and warm processors the rest of Warmcore
//! measures: Salehi, Kurose & Towsley 1994, §2 and figure 2.
//!
//! # A packet's way up, and the unwind
//!
//! ```text
//!                 application     deliver(Delivery { stream, payload, .. })
//!                                    ▲  │
//!   UDP    ports ─► active map ──────┤  │      session: count in ▲  │ count out
//!                                    │  ▼
//!   IP     validate header; hosts    │  │      session: count in ▲  │ count out
//!               ─► active map ───────┤  ▼               write the IP state
//!                                    │  │
//!   VNET   pass-through              │  ▼      session: count in ▲  │ count out
//!                                    │  │
//!   link   stations ─► active map ───┤  ▼      session: count in ▲  │ count out
//!   (FDDI or Ethernet)               │  │
//!   driver message around the frame ─┘  ▼
//!          acquire a segment of the free-memory pool       release it
//! ```
//!
//! A **driver** has a frame in a buffer. It builds a *message* around it: a view of the frame,
//! and a segment acquired from a free-memory [`Pool`], into which the layers write where their
//! headers begin. Nothing is copied and nothing is allocated.
//!
//! Each **layer** checks its header, strips it from the message, and finds the packet's *session*, the
//! layer's state for the stream. It looks the session up in its *active map*: a hash table over header
//! fields with a one-entry history. While packets of one stream follow each other the history answers;
//! it is written only when the stream changes. The session counts the packet in, and the message
//! continues to the layer above. VNET is a pass-through over all links, and has sessions but no map.
//!
//! At the top the payload is **delivered** to a function of the caller. When that returns, the
//! calls unwind: each session counts the packet out, and the segment goes back to its pool.
//!
//! A frame that is malformed, oversized or for nobody is dropped on its way up with a [`DropReason`],
//! which is counted ([`Counters`]). Sessions that had counted it in count it out again. No frame can
//! make the stack panic.
//!
//! # One set of layers, three forms
//!
//! The layers are generic over a [discipline], which says how shared state is protected. This gives
//! three forms:
//!
//! | form | protection | who may receive at once |
//! |---|---|---|
//! | [`SerialStack`] | none | one thread |
//! | [`LockingStack`] | a spin lock for each active map and each session object | all threads |
//! | [`IndependentStacks`] | N serial stacks, a spin lock for each stack | one thread in each stack |
//!
//! With independent stacks a stream has its sessions in one stack, or in all of them
//! ([`IndependentStacks::open_everywhere`]) so that it can be received in any.
//!
//! # Answering
//!
//! [`Flow::parse`] reads the flow of a frame whose stream is not open yet. [`Flow::reversed`] is the
//! flow of the answers, and a [`FrameBuilder`](wire::FrameBuilder) writes them. [`wire::arp`] answers
//! peers that ask for our station.
//!
//! # Conversations: TCP and RPC
//!
//! A stack made with [`Conversations`] has connections of TCP in place of UDP, or RPC above it. Both are pure
//! machines, each behind the lock of its session; time is an argument. [`Stack::converse`] takes a frame up to
//! them, gives the application what it brought, and sends the answer: an [`Exchange`] has the frames. What is
//! due without a frame, [`Stack::time_passes`] finds. A [`Peer`] is the far end for who has no network.
//!
//! [`tcp`] has the connections (RFC 9293), which can be used without the layers too.
//!
//! [`rpc`] has remote procedure calls in many small protocols, the other stack of the latency
//! experiments (Mosberger 1996, §2.1). There they stand on the link itself; here on UDP, so that they cross
//! every network and have its checksum. Each layer prepends its header to a [`Packet`] on the way down,
//! checks and strips it on the way up, and knows none of the others.
//!
//! ```text
//!   MSELECT   which procedure
//!   VCHAN     which channel is free
//!   CHAN      each call served at most once; requests sent again
//!   BID       no message from one incarnation to another
//!   BLAST     fragments, and only the missing ones again
//!     ▼ ▲
//!   frames
//! ```
//!
//! [`rpc::Endpoint`] carries packets between all of them.
//!
//! # Memory layout
//!
//! What a packet writes decides what it costs after a migration. So each of these has its own cache
//! lines:
//!
//! * for each session: its counter, its state and, under Locking, its lock (together);
//! * for each active map: the history; the lock under Locking; the table, which packets only read;
//! * under independent stacks: each stack's lock;
//! * for each pool: its lock and index (together); each segment.
//!
//! Drops have separate counters, so that good packets write no counter but those of their own session.
//! These are the four categories of overhead in Table 2 of Salehi 1994: locks, session lines, looking
//! up and writing a history in place, and migrating it.
//!
//! # Example
//!
//! ```
//! use warmcore_stack::wire::{FrameBuilder, LinkKind};
//! use warmcore_stack::{Config, DropReason, Flow, Pool, SerialStack};
//!
//! let mut stack = SerialStack::new(Config { link: LinkKind::Fddi, verify_udp_checksum: true });
//! let pool = Pool::new(8);
//! let flow = Flow::synthetic(1);
//! let stream = stack.open(&flow)?;
//!
//! let mut buffer = [0; 256];
//! let frame = FrameBuilder::new(LinkKind::Fddi, flow).write(b"hello", &mut buffer)?;
//! let received = stack.receive(&pool, frame, |delivery| {
//!     assert_eq!(delivery.stream, stream);
//!     delivery.payload.to_vec()
//! });
//! assert_eq!(received, Ok(b"hello".to_vec()));
//!
//! // The same frame with one byte of its payload changed:
//! frame[49] ^= 1;
//! assert_eq!(stack.receive(&pool, frame, |_| ()), Err(DropReason::UdpChecksum));
//! assert_eq!(stack.counters().dropped(DropReason::UdpChecksum), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod active_map;
mod conversation;
mod counters;
mod directory;
pub mod discipline;
mod drop_reason;
mod entered;
mod flow;
mod identifiers;
mod independent;
mod layers;
mod message;
mod packet;
mod peer;
mod pool;
pub mod rpc;
mod session;
mod stack;
pub mod tcp;
pub mod wire;

pub use conversation::{Conversations, Exchange, PROCEDURE};
pub use counters::Counters;
pub use directory::{CloseError, OpenError};
pub use drop_reason::{DropReason, Layer};
pub use entered::Entered;
pub use flow::{Flow, FlowKey};
pub use identifiers::LinkAddress;
pub use independent::{Home, IndependentStacks};
pub use layers::{References, StreamState};
pub use message::Delivery;
pub use packet::{Packet, PacketFull};
pub use peer::{OfferError, Peer};
pub use pool::{HeaderOffsets, Pool, Segment};
pub use stack::{LockingStack, SerialStack, Stack};

/// Configuration of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// The link type of the frames.
    pub link: wire::LinkKind,
    /// Whether UDP checksums are verified in software. Not needed if the interface does it, and not
    /// done in the measurements of Salehi 1994 (§5, "without software checksumming").
    pub verify_udp_checksum: bool,
}

impl Default for Config {
    /// Ethernet, with UDP checksums verified.
    fn default() -> Self {
        Self { link: wire::LinkKind::Ethernet, verify_udp_checksum: true }
    }
}
