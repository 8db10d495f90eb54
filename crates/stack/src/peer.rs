//! The far end of a stream, for measurements and runs without a network: it makes the frames that a stack
//! receives, and takes the stack's answers.

use crate::Config;
use crate::conversation::{Conversations, PROCEDURE};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::rpc::{Endpoint, Event};
use crate::tcp::Connection;
use crate::wire::{BuildError, FrameBuilder, LinkKind, SequenceNumber, ipv4, tcp, udp};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

/// Where its sequence numbers begin: they wrap around after a megabyte.
const INITIAL: SequenceNumber = SequenceNumber(u32::MAX - 1_000_000);
/// Bytes read at once.
const READ: usize = 4096;

/// The far end of one stream.
///
/// ```
/// use core::num::NonZero;
/// use core::time::Duration;
/// use warmcore_stack::rpc::{self, BootId};
/// use warmcore_stack::{Config, Conversations, Exchange, Flow, Peer, Pool, SerialStack};
///
/// let boot = BootId(NonZero::new(1).ok_or("not zero")?);
/// let conversations = Conversations::Rpc { config: rpc::Config::with_sizes(1400, 1000), boot };
/// let (config, now, pool) = (Config::default(), Duration::ZERO, Pool::new(8));
/// let mut stack = SerialStack::conversing(config, conversations);
/// stack.open(&Flow::synthetic(1))?;
///
/// let mut peer = Peer::new(config, Some(conversations), Flow::synthetic(1));
/// let (mut exchange, mut called) = (Exchange::default(), Vec::new());
/// let mut frames = Vec::new();
/// peer.offer(now, b"ping", &mut |frame| frames.push(frame.to_vec()))?;
/// while let Some(frame) = frames.pop() {
///     let call = |delivery: warmcore_stack::Delivery<'_>, reply: &mut Vec<u8>| {
///         called.extend_from_slice(delivery.payload);
///         reply.extend_from_slice(b"pong");
///     };
///     stack.converse(now, &pool, &frame, &mut exchange, call)?;
///     for answer in exchange.frames() {
///         peer.arrives(now, answer, &mut |frame| frames.push(frame.to_vec()));
///     }
///     exchange.clear();
/// }
/// assert_eq!((called.as_slice(), peer.received()), (b"ping".as_slice(), 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Peer {
    builder: FrameBuilder,
    machine: Machine,
    /// Bytes of answers.
    received: u64,
    frame: Vec<u8>,
}

#[derive(Debug)]
enum Machine {
    /// It sends each message in a datagram.
    Datagrams,
    Tcp(Box<Connection>),
    Rpc(Box<Endpoint>),
}

/// There is no room for another message until answers arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OfferError {
    /// The window is full, or every channel has a call.
    #[error("no room for another message until answers arrive")]
    Busy,
    /// The message is longer than any could be.
    #[error(transparent)]
    TooLong(#[from] BuildError),
}

impl Peer {
    /// The far end of the stream with `flow`, for a stack of `config` with these conversations.
    #[must_use]
    pub fn new(config: Config, conversations: Option<Conversations>, flow: Flow) -> Self {
        let machine = match conversations {
            None => Machine::Datagrams,
            Some(Conversations::Tcp(tcp)) => {
                let tcp = crate::tcp::Config { nagle: false, ..tcp };
                Machine::Tcp(Box::new(Connection::connect(tcp, INITIAL)))
            }
            Some(Conversations::Rpc { config, boot }) => {
                Machine::Rpc(Box::new(Endpoint::new(config, boot, &[])))
            }
        };
        let builder = FrameBuilder::new(config.link, flow);
        Self { builder, machine, received: 0, frame: vec![0; config.link.max_frame()] }
    }

    /// Bytes of answers so far.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Sends `payload`: a datagram, bytes of the connection, or a call. Calls `send` for each frame, of which
    /// there may be none: a connection that is being opened keeps what it is given.
    ///
    /// # Errors
    /// There is no room for it, or it is too long. Frames may be sent nevertheless.
    pub fn offer(
        &mut self,
        now: Duration,
        payload: &[u8],
        send: &mut dyn FnMut(&[u8]),
    ) -> Result<(), OfferError> {
        let offered = match &mut self.machine {
            Machine::Datagrams => {
                send(self.builder.write(payload, &mut self.frame)?);
                return Ok(());
            }
            Machine::Tcp(connection) => {
                connection.time_passes(now);
                let has_room = connection.room() >= payload.len();
                has_room && connection.write(payload).is_ok_and(|taken| taken == payload.len())
            }
            Machine::Rpc(endpoint) => {
                endpoint.time_passes(now);
                endpoint.call(now, PROCEDURE, payload).is_ok()
            }
        };
        self.transmit(now, send);
        if offered { Ok(()) } else { Err(OfferError::Busy) }
    }

    /// Takes a frame that the stack sent. Calls `send` for each frame that is due then.
    pub fn arrives(&mut self, now: Duration, frame: &[u8], send: &mut dyn FnMut(&[u8])) {
        match &mut self.machine {
            Machine::Datagrams => {
                let payload = datagram(self.builder.link, frame);
                self.received += payload.map_or(0, |payload| payload.len() as u64);
            }
            Machine::Tcp(connection) => {
                let Ok((_, segment)) = tcp::parse_frame(self.builder.link, frame) else { return };
                connection.arrives(now, &segment);
                let mut buffer = [0; READ];
                while let Ok(length) = connection.read(&mut buffer)
                    && length > 0
                {
                    self.received += length as u64;
                }
            }
            Machine::Rpc(endpoint) => {
                let Ok(payload) = datagram(self.builder.link, frame) else { return };
                // What it drops was late, or came twice.
                let _ = endpoint.arrives(now, payload);
                while let Some(event) = endpoint.event() {
                    if let Event::Replied { results, .. } = event {
                        self.received += results.len() as u64;
                    }
                }
            }
        }
        self.transmit(now, send);
    }

    fn transmit(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) {
        let Self { builder, machine, frame, .. } = self;
        match machine {
            Machine::Datagrams => {}
            Machine::Tcp(connection) => {
                while let Some(segment) = connection.transmit(now) {
                    if let Ok(frame) = builder.write_segment(&segment, frame) {
                        send(frame);
                    }
                }
            }
            Machine::Rpc(endpoint) => {
                while let Some(payload) = endpoint.transmit(now) {
                    if let Ok(frame) = builder.write(payload, frame) {
                        send(frame);
                    }
                }
            }
        }
    }
}

/// The payload of a frame that carries UDP.
fn datagram(link: LinkKind, frame: &[u8]) -> Result<&[u8], DropReason> {
    let datagram = ipv4::parse(link.parse(frame)?.data)?;
    let parsed = udp::parse(datagram.data)?;
    parsed.verify(datagram.header)?;
    Ok(parsed.payload)
}
