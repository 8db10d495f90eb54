//! Remote procedure calls as a stack of small protocols, without I/O.
//!
//! This is the RPC stack of the x-kernel (O'Malley & Peterson, "A Dynamic Network Architecture", ACM TOCS
//! 10(2), 1992), the second of the stacks whose latency Mosberger, Peterson, Bridges & O'Malley 1996
//! measure (§2.1 and figure 1). Together the layers have the semantics of Sprite RPC: each call is served
//! at most once.
//!
//! ```text
//!                call, reply                event
//!   user      ─────────────────┐     ┌────────────────► user
//!                              ▼     │
//!   MSELECT   [`Mselect`]    which procedure          4 bytes   no state
//!   VCHAN     [`Vchan`]      a free channel           no header
//!   CHAN      [`Chan`]       at most once             8 bytes   timers
//!   BID       [`Bid`]        which incarnation       12 bytes
//!   BLAST     [`Blast`]      fragments               16 bytes   timers
//!                              │     ▲
//!   peer      ◄────────────────┘     └───────────────── peer
//!                transmit                  arrives
//! ```
//!
//! # The layers
//!
//! Each layer is a struct that knows none of the others. On the way down its `send` (or `call`, `reply`)
//! prepends a header to a [`Packet`](crate::Packet). On the way up its `receive` checks and strips the
//! header, and returns a decision: deliver the packet to the layer above, send the packet to the layer
//! below as an answer, or drop it with an [`RpcDropReason`]. Whoever has the layers carries packets between
//! them.
//!
//! Time is an argument: a [`Duration`](core::time::Duration) since any origin that the driver chooses,
//! which never goes back. [`Blast`] and [`Chan`] have timers: at their `deadline` the driver calls
//! `time_passes`, and then `transmit` until there is nothing left.
//!
//! What a call and its reply do not need if nothing is lost is behind
//! [`cold_path`](core::hint::cold_path), so that it can be laid out elsewhere (outlining, in the words of
//! Mosberger 1996).
//!
//! # All of them
//!
//! [`Endpoint`] has one of each, and carries packets between them. It talks to one peer, which it may
//! call and be called by. Its packets need a layer below that drops what was corrupted; padding at the
//! end of a frame is ignored.
//!
//! What must always hold:
//!
//! * A handler never has the same call twice, whatever is lost, doubled, delayed, or rebooted, as long as
//!   each incarnation of a host has a greater [`BootId`].
//! * Each call ends once: with its reply or with a [`Failure`]. One that failed may have been served.
//! * All memory is allocated when a layer is made. What does not fit is dropped, and sent again.
//! * No sequence of bytes can make a function panic.
//!
//! # Not there
//!
//! No measurement of round trips: timeouts are configured. No flow control between fragments. A server's
//! handler that never replies makes its client wait for ever, since the server says that it works. No
//! authentication: the documentation of [`Bid`] says what a forger can do.
//!
//! # Example
//!
//! ```
//! use core::num::NonZero;
//! use core::time::Duration;
//! use warmcore_stack::rpc::{BootId, Config, Endpoint, Event};
//!
//! let now = Duration::ZERO;
//! let boot = |id| NonZero::new(id).map(BootId).ok_or("zero is no boot id");
//! let mut client = Endpoint::new(Config::default(), boot(1)?, &[]);
//! let mut server = Endpoint::new(Config::default(), boot(9)?, &[40]);
//!
//! let call = client.call(now, 40, b"ping")?;
//! // The peers learn each other's boot ids, then the call goes up.
//! for _ in 0..3 {
//!     while let Some(frame) = client.transmit(now) {
//!         server.arrives(now, frame).ok();
//!     }
//!     let called = match server.event() {
//!         Some(Event::Called { call, request, .. }) => Some((call, request.to_ascii_uppercase())),
//!         _ => None,
//!     };
//!     if let Some((call, results)) = called {
//!         server.reply(call, &results)?;
//!     }
//!     while let Some(frame) = server.transmit(now) {
//!         client.arrives(now, frame).ok();
//!     }
//! }
//! assert_eq!(client.event(), Some(Event::Replied { call, results: b"PING" }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bid;
mod blast;
mod chan;
mod drop_reason;
mod endpoint;
mod mselect;
mod vchan;

pub use bid::{Bid, BidDecision, BidReceived, BootId, PeerChange};
pub use blast::{Blast, BlastConfig, BlastError, BlastReceived, BlastSent};
pub use chan::{CallId, Chan, ChanConfig, ChanError, ChanReceived, MAX_CHANNELS, ServedCall};
pub use drop_reason::RpcDropReason;
pub use endpoint::{CallError, Config, Endpoint, Event, Failure, ReplyError};
pub use mselect::{Mselect, MselectCalled, MselectFailure};
pub use vchan::Vchan;
