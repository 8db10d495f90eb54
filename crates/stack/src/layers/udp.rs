//! UDP: one session for each stream, at the top of the stack.

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

/// Key of the active map: the session below and the ports of the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct UdpKey {
    below: SessionId,
    source_port: u16,
    destination_port: u16,
}

impl UdpKey {
    fn new(flow: &Flow, below: SessionId) -> Self {
        Self { below, source_port: flow.source_port, destination_port: flow.destination_port }
    }
}

/// State of a UDP session: its stream, and how many packets it received.
pub(crate) struct UdpState {
    stream: StreamId,
    delivered: Cell<u64>,
}

pub(crate) struct UdpLayer<D: Discipline> {
    verify_checksum: bool,
    map: D::Guarded<ActiveMap<UdpKey>>,
    pub(super) sessions: Sessions<D, UdpState>,
    /// Packets delivered to streams that have been closed.
    delivered_before: u64,
}

impl<D: Discipline> UdpLayer<D> {
    pub(super) fn new(verify_checksum: bool) -> Self {
        let map = D::Guarded::new(ActiveMap::new());
        Self { verify_checksum, map, sessions: Sessions::new(), delivered_before: 0 }
    }

    /// Checks and strips the header, finds the session, and calls the application.
    #[inline]
    pub(super) fn receive<R>(
        &self,
        message: &mut Message<'_, '_>,
        datagram: &Datagram<'_>,
        below: SessionId,
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        let user_datagram = udp::parse(message.rest)?;
        if self.verify_checksum {
            user_datagram.verify(datagram.header)?;
        }
        let (source_port, destination_port) =
            (user_datagram.header.source_port.get(), user_datagram.header.destination_port.get());
        let key = UdpKey { below, source_port, destination_port };
        let headers = message.headers();
        headers.payload = headers.udp + udp::HEADER as u16;
        let session = self.map.with(|map| map.lookup(key)).ok_or(DropReason::UdpNoSession)?;
        let count_in = |state: &UdpState| {
            state.delivered.set(state.delivered.get() + 1);
            state.stream
        };
        let (_visit, stream) = self.sessions.enter(session, count_in).ok_or(DropReason::UdpNoSession)?;
        let (payload, frame) = (user_datagram.payload, message.frame);
        Ok(deliver(Delivery { stream, payload, frame, headers: message.headers() }))
    }

    /// Packets delivered to the stream of `flow`.
    pub(super) fn delivered(&self, flow: &Flow, below: SessionId) -> Option<u64> {
        let session = self.map.with(|map| map.peek(UdpKey::new(flow, below)))?;
        self.sessions.read(session, |state| state.delivered.get())
    }

    /// Packets delivered to all streams.
    pub(super) fn total_delivered(&self) -> u64 {
        let open = self.sessions.iter_open().filter_map(|id| self.sessions.read(id, |s| s.delivered.get()));
        self.delivered_before + open.sum::<u64>()
    }

    pub(super) fn open(&mut self, flow: &Flow, below: SessionId, stream: StreamId) {
        let session = self.sessions.open(UdpState { stream, delivered: Cell::new(0) });
        self.map.exclusive().bind(UdpKey::new(flow, below), session);
    }

    pub(super) fn close(&mut self, flow: &Flow, below: SessionId) {
        let map = self.map.exclusive();
        let key = UdpKey::new(flow, below);
        let Some(session) = map.peek(key) else { return };
        self.delivered_before += self.sessions.read(session, |state| state.delivered.get()).unwrap_or(0);
        self.sessions.close(session);
        map.unbind(key);
    }
}
