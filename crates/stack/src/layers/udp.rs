//! UDP: one session for each stream, at the top of the stack.

use super::ports::PortKey;
use crate::active_map::{ActiveMap, SessionId};
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::{Delivery, Message};
use crate::session::Sessions;
use crate::wire::ipv4::Datagram;
use crate::wire::udp;
use core::cell::Cell;
use warmcore_units::StreamId;

/// State of a UDP session: its stream, the RPC session above it if there is one, and how many packets it
/// received.
pub(crate) struct UdpState {
    stream: StreamId,
    up: SessionId,
    delivered: Cell<u64>,
}

pub(crate) struct UdpLayer<D: Discipline> {
    verify_checksum: bool,
    map: D::Guarded<ActiveMap<PortKey>>,
    pub(super) sessions: Sessions<D, UdpState>,
    /// Packets delivered to streams that have been closed.
    delivered_before: u64,
}

impl<D: Discipline> UdpLayer<D> {
    pub(super) fn new(verify_checksum: bool) -> Self {
        let map = D::Guarded::new(ActiveMap::new());
        Self { verify_checksum, map, sessions: Sessions::new(), delivered_before: 0 }
    }

    /// Checks and strips the header, finds the session, and calls `deliver` with the session above it.
    #[inline]
    pub(super) fn receive<R>(
        &self,
        message: &mut Message<'_, '_>,
        datagram: &Datagram<'_>,
        below: SessionId,
        deliver: impl FnOnce(Delivery<'_>, SessionId) -> R,
    ) -> Result<R, DropReason> {
        let user_datagram = udp::parse(message.rest)?;
        if self.verify_checksum {
            user_datagram.verify(datagram.header)?;
        }
        let (source_port, destination_port) =
            (user_datagram.header.source_port.get(), user_datagram.header.destination_port.get());
        let key = PortKey { below, source_port, destination_port };
        let headers = message.headers();
        headers.payload = headers.udp + udp::HEADER as u16;
        let session = self.map.with(|map| map.lookup(key)).ok_or(DropReason::UdpNoSession)?;
        let count_in = |state: &UdpState| {
            state.delivered.set(state.delivered.get() + 1);
            (state.stream, state.up)
        };
        let (_visit, (stream, up)) =
            self.sessions.enter(session, count_in).ok_or(DropReason::UdpNoSession)?;
        let (payload, frame) = (user_datagram.payload, message.frame);
        Ok(deliver(Delivery { stream, payload, frame, headers: message.headers() }, up))
    }

    /// Packets delivered to the stream of `flow`.
    pub(super) fn delivered(&self, flow: &Flow, below: SessionId) -> Option<u64> {
        let session = self.map.with(|map| map.peek(PortKey::new(flow, below)))?;
        self.sessions.read(session, |state| state.delivered.get())
    }

    /// Packets delivered to all streams.
    pub(super) fn total_delivered(&self) -> u64 {
        let open = self.sessions.iter_open().filter_map(|id| self.sessions.read(id, |s| s.delivered.get()));
        self.delivered_before + open.sum::<u64>()
    }

    pub(super) fn open(&mut self, flow: &Flow, below: SessionId, stream: StreamId, up: SessionId) {
        let session = self.sessions.open(UdpState { stream, up, delivered: Cell::new(0) });
        self.map.exclusive().bind(PortKey::new(flow, below), session);
    }

    /// Closes the session, and returns the one above it.
    pub(super) fn close(&mut self, flow: &Flow, below: SessionId) -> Option<SessionId> {
        let map = self.map.exclusive();
        let key = PortKey::new(flow, below);
        let session = map.peek(key)?;
        let up = self.sessions.read(session, |state| state.up);
        self.delivered_before += self.sessions.read(session, |state| state.delivered.get()).unwrap_or(0);
        self.sessions.close(session);
        map.unbind(key);
        up
    }
}
