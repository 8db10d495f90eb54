//! TCP: one session for each connection, at the top of the stack.

use super::ports::PortKey;
use crate::active_map::{ActiveMap, SessionId};
use crate::conversation::Exchange;
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::{Delivery, Message};
use crate::session::Sessions;
use crate::tcp::{Config, Connection, State};
use crate::wire::ipv4::Datagram;
use crate::wire::{FrameBuilder, LinkKind, SequenceNumber, tcp};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::hash::BuildHasher;
use core::hint::cold_path;
use core::time::Duration;
use hashbrown::DefaultHashBuilder;
use warmcore_units::StreamId;

/// After how long without a segment from its peer a connection is reset: there are no keep-alives.
const IDLE_LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct TcpLayer<D: Discipline> {
    link: LinkKind,
    map: D::Guarded<ActiveMap<PortKey>>,
    pub(super) sessions: Sessions<D, TcpState>,
    /// Makes first sequence numbers that a peer cannot guess from those of others.
    hasher: DefaultHashBuilder,
    /// Segments received by connections that have been closed.
    received_before: u64,
}

/// State of a TCP session: its stream, and its conversation.
pub(crate) struct TcpState {
    stream: StreamId,
    received: Cell<u64>,
    conversation: RefCell<Conversation>,
}

/// A connection that an application serves.
struct Conversation {
    connection: Connection,
    config: Config,
    /// Of the frames that answer.
    builder: FrameBuilder,
    /// Whether it was neither listening nor closed when something was sent last.
    is_open: bool,
    /// When its peer sent something last.
    last_arrival: Duration,
    /// What the application answered and the connection has no room for yet. As long as there is some,
    /// nothing more is delivered, and the window tells the peer.
    unsent: Vec<u8>,
}

impl<D: Discipline> TcpLayer<D> {
    pub(super) fn new(link: LinkKind) -> Self {
        Self {
            link,
            map: D::Guarded::new(ActiveMap::new()),
            sessions: Sessions::new(),
            hasher: DefaultHashBuilder::default(),
            received_before: 0,
        }
    }

    /// Checks the segment, finds its session, and lets its conversation take it: `deliver` gets what can be
    /// read, and what is due is sent.
    #[inline]
    pub(super) fn receive(
        &self,
        now: Duration,
        message: &mut Message<'_, '_>,
        datagram: &Datagram<'_>,
        below: SessionId,
        exchange: &mut Exchange,
        mut deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        let parsed = tcp::parse(message.rest)?;
        parsed.verify(datagram.header)?;
        let (source_port, destination_port) =
            (parsed.header.source_port.get(), parsed.header.destination_port.get());
        let key = PortKey { below, source_port, destination_port };
        let headers = message.headers();
        headers.payload = headers.udp + parsed.segment.header_length() as u16;
        let session = self.map.with(|map| map.lookup(key)).ok_or(DropReason::TcpNoSession)?;
        let (frame, headers) = (message.frame, message.headers());
        let converse = |state: &TcpState| {
            state.received.set(state.received.get() + 1);
            let mut conversation = state.conversation.borrow_mut();
            let conversation = &mut *conversation;
            conversation.renew(now, &self.hasher);
            conversation.builder.tags = self.link.tags(frame);
            conversation.last_arrival = now;
            conversation.connection.arrives(now, &parsed.segment);
            conversation.serve(exchange, |payload, reply| {
                deliver(Delivery { stream: state.stream, payload, frame, headers }, reply);
            });
            conversation.transmit(now, state.stream, exchange);
        };
        let (_visit, ()) = self.sessions.enter(session, converse).ok_or(DropReason::TcpNoSession)?;
        Ok(())
    }

    /// Tells connections that time has come to `now`: of every `parts` sessions, number `part`.
    pub(super) fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        let mut converse = |state: &TcpState| {
            let conversation = &mut *state.conversation.borrow_mut();
            let is_forgotten = !conversation.is_idle()
                && now.checked_sub(conversation.last_arrival).is_some_and(|since| since > IDLE_LIMIT);
            if is_forgotten {
                conversation.connection.abort();
            }
            let is_due = conversation.connection.deadline().is_some_and(|deadline| deadline <= now);
            if is_forgotten || is_due {
                conversation.connection.time_passes(now);
                conversation.transmit(now, state.stream, exchange);
            }
        };
        for session in self.sessions.iter_open().skip(part).step_by(parts) {
            self.sessions.read(session, &mut converse);
        }
    }

    /// Whether the connection of `flow` is over, or was never opened by its peer.
    pub(super) fn is_idle(&self, flow: &Flow, below: SessionId) -> bool {
        let session = self.map.with(|map| map.peek(PortKey::new(flow, below)));
        let is_idle = |state: &TcpState| state.conversation.borrow().is_idle();
        session.and_then(|session| self.sessions.read(session, is_idle)).unwrap_or(true)
    }

    /// Segments received on the connection of `flow`.
    pub(super) fn received(&self, flow: &Flow, below: SessionId) -> Option<u64> {
        let session = self.map.with(|map| map.peek(PortKey::new(flow, below)))?;
        self.sessions.read(session, |state| state.received.get())
    }

    /// Segments received on all connections.
    pub(super) fn total_received(&self) -> u64 {
        let open = self.sessions.iter_open().filter_map(|id| self.sessions.read(id, |s| s.received.get()));
        self.received_before + open.sum::<u64>()
    }

    pub(super) fn open(&mut self, flow: &Flow, below: SessionId, stream: StreamId, config: Config) {
        let builder = FrameBuilder::new(self.link, flow.reversed());
        let connection = Connection::listen(config, first_sequence(&self.hasher, Duration::ZERO, flow));
        let (last_arrival, unsent) = (Duration::ZERO, Vec::new());
        let is_open = false;
        let conversation = Conversation { connection, config, builder, is_open, last_arrival, unsent };
        let conversation = RefCell::new(conversation);
        let session = self.sessions.open(TcpState { stream, received: Cell::new(0), conversation });
        self.map.exclusive().bind(PortKey::new(flow, below), session);
    }

    pub(super) fn close(&mut self, flow: &Flow, below: SessionId) {
        let map = self.map.exclusive();
        let key = PortKey::new(flow, below);
        let Some(session) = map.peek(key) else { return };
        self.received_before += self.sessions.read(session, |state| state.received.get()).unwrap_or(0);
        self.sessions.close(session);
        map.unbind(key);
    }
}

impl Conversation {
    fn is_idle(&self) -> bool {
        matches!(self.connection.state(), State::Closed | State::Listen)
    }

    /// Waits for the peer again, if the connection is over.
    fn renew(&mut self, now: Duration, hasher: &DefaultHashBuilder) {
        if self.connection.state() == State::Closed {
            cold_path();
            let initial = first_sequence(hasher, now, &self.builder.flow);
            self.connection = Connection::listen(self.config, initial);
            self.unsent.clear();
        }
    }

    /// Gives what can be read to `handle`, and takes its answers, as far as there is room for them.
    #[inline]
    fn serve(&mut self, exchange: &mut Exchange, mut handle: impl FnMut(&[u8], &mut Vec<u8>)) {
        loop {
            if !self.unsent.is_empty() {
                cold_path();
                let taken = self.connection.write(&self.unsent).unwrap_or(self.unsent.len());
                self.unsent.drain(..taken);
                if !self.unsent.is_empty() {
                    return;
                }
            }
            let Exchange { received, reply, .. } = &mut *exchange;
            // A connection that was reset has nothing to read.
            let Some(data) = self.connection.read(received).ok().filter(|length| *length > 0) else { break };
            reply.clear();
            handle(&received[..data], reply);
            if !reply.is_empty() {
                let taken = self.connection.write(reply).unwrap_or(reply.len());
                self.unsent.extend_from_slice(&reply[taken..]);
            }
        }
        if self.connection.is_at_end() {
            cold_path();
            self.connection.close();
        }
    }

    /// Sends what is due.
    #[inline]
    fn transmit(&mut self, now: Duration, stream: StreamId, exchange: &mut Exchange) {
        while let Some(segment) = self.connection.transmit(now) {
            exchange.push_segment(&self.builder, &segment);
        }
        // A peer that went before the connection was established leaves it listening.
        let is_open = !self.is_idle();
        let was_open = core::mem::replace(&mut self.is_open, is_open);
        if was_open && !is_open {
            cold_path();
            exchange.ended.push(stream);
        }
    }
}

/// The first sequence number of a connection: a clock of 4 µs, and a number for each flow that others cannot
/// tell (RFC 6528, §3, with the hash of the active maps, which is no cryptographic one).
fn first_sequence(hasher: &DefaultHashBuilder, now: Duration, flow: &Flow) -> SequenceNumber {
    SequenceNumber(((now.as_micros() / 4) as u32).wrapping_add(hasher.hash_one(flow) as u32))
}
