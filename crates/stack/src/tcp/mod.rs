//! TCP (RFC 9293) as a pure machine: a [`Connection`] is told what happens, and says what to send.
//!
//! It does no I/O, owns no thread and reads no clock. Time is an argument: a [`Duration`] since any
//! origin that the driver chooses, which never goes back. Initial sequence numbers are arguments too; a
//! driver draws them as RFC 6528 has it.
//!
//! # How a connection is driven
//!
//! ```text
//!            write, read, close, abort                event
//!   user  ────────────────────────────►┌────────────┐────────► user
//!                arrives               │            │  transmit
//!   peer  ────────────────────────────►│ Connection │────────► peer
//!              time_passes             │            │  deadline
//!   clock ────────────────────────────►└────────────┘────────► clock
//! ```
//!
//! After each call of the left side the driver calls [`transmit`](Connection::transmit) until there is
//! nothing left, and sends each [`Segment`](crate::wire::tcp::Segment) behind the headers of its flow.
//! It calls [`time_passes`](Connection::time_passes) at the [`deadline`](Connection::deadline).
//! It may hand over several segments that arrived together before it does so: in-order segments share one
//! acknowledgement; each one after a gap gets its own, since the peer counts them.
//!
//! A connection knows neither addresses nor ports: the driver finds the connection of a segment, and
//! verifies its checksum before that. A segment that is for no connection is answered by [`refuse`].
//!
//! # Inside
//!
//! | file | subject |
//! |---|---|
//! | `connection/` | what the user does, a segment's arrival by state, what is sent, what expires |
//! | `send`, `receive` | the windows of both directions, and their bytes |
//! | `ring`, `received_ranges` | buffers, and what arrived out of order; both of fixed size |
//! | `round_trip`, `congestion` | the retransmission timeout (RFC 6298); the congestion window (RFC 5681, RFC 6582, RFC 3042) |
//! | `time`, `timers`, `challenge` | time in one word; what is due when; how many unacceptable segments are answered (RFC 5961) |
//!
//! What a connection needs of memory is decided when it is made: two buffers and 16 ranges, whatever the
//! peer sends.
//!
//! # The changes of Mosberger 1996
//!
//! [`Changes`] has a switch for each that is there: no integer multiplication and division for the
//! congestion window and for window updates (§2.2.2), and header prediction (§2.3). Of Table 1's other
//! rows, three are not TCP's own: refreshing messages and copying descriptors are the driver's, the inlined
//! test of the hash table's cache is the active map's. Words in place of bytes and shorts (§2.2.4) would be
//! a type of the fields in `send` and `receive`; there is no switch for it, and none for inlining.
//!
//! # Not there
//!
//! Timestamps and selective acknowledgements are parsed, but not used. No keep-alive, no urgent data, no
//! path MTU discovery, no data taken from a SYN, and no reuse of a connection in TIME-WAIT by a new SYN.
//!
//! # Example
//!
//! ```
//! use core::time::Duration;
//! use warmcore_stack::tcp::{Config, Connection, Event, State};
//! use warmcore_stack::wire::SequenceNumber;
//!
//! let now = Duration::ZERO;
//! let mut client = Connection::connect(Config::default(), SequenceNumber(100));
//! let mut server = Connection::listen(Config::default(), SequenceNumber(500));
//! for _ in 0..2 {
//!     while let Some(segment) = client.transmit(now) {
//!         server.arrives(now, &segment);
//!     }
//!     while let Some(segment) = server.transmit(now) {
//!         client.arrives(now, &segment);
//!     }
//! }
//! assert_eq!((client.state(), server.state()), (State::Established, State::Established));
//! assert_eq!(client.event(), Some(Event::Connected));
//!
//! client.write(b"hello")?;
//! while let Some(segment) = client.transmit(now) {
//!     server.arrives(now, &segment);
//! }
//! let mut buffer = [0; 16];
//! assert_eq!(server.read(&mut buffer)?, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Duration`]: core::time::Duration

mod challenge;
mod config;
mod congestion;
mod connection;
mod event;
mod receive;
mod received_ranges;
mod reset;
mod ring;
mod round_trip;
mod send;
mod state;
mod time;
mod timers;

pub use config::{Changes, Config};
pub use connection::Connection;
pub use event::{End, Event, UserError};
pub use reset::refuse;
pub use state::State;
