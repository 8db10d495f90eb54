//! IP: validates the header and keeps one session for each pair of hosts.

use crate::active_map::{ActiveMap, SessionId};
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::Message;
use crate::session::Sessions;
use crate::wire::ipv4::{self, Datagram};
use core::cell::Cell;

/// Key of the active map: addresses and protocol of the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct IpKey {
    source: [u8; 4],
    destination: [u8; 4],
    protocol: u8,
}

/// The one element of IP state that every packet of the stream writes (Salehi 1994, §2.3).
#[derive(Default)]
pub(crate) struct IpState {
    /// Identification of the last datagram received.
    last_identification: Cell<u16>,
}

pub(crate) struct IpLayer<D: Discipline> {
    /// The protocol above.
    protocol: u8,
    map: D::Guarded<ActiveMap<IpKey>>,
    pub(super) sessions: Sessions<D, IpState>,
}

impl<D: Discipline> IpLayer<D> {
    /// A layer below `protocol`.
    pub(super) fn new(protocol: u8) -> Self {
        Self { protocol, map: D::Guarded::new(ActiveMap::new()), sessions: Sessions::new() }
    }

    const fn key(&self, flow: &Flow) -> IpKey {
        let Flow { source, destination, .. } = flow;
        IpKey { source: source.octets(), destination: destination.octets(), protocol: self.protocol }
    }

    /// Validates and strips the header, finds the session, and calls `up`.
    #[inline]
    pub(super) fn receive<'s, 'f, R>(
        &self,
        message: &mut Message<'s, 'f>,
        up: impl FnOnce(&mut Message<'s, 'f>, &Datagram<'f>, SessionId) -> Result<R, DropReason>,
    ) -> Result<R, DropReason> {
        let datagram = ipv4::parse_carrying(self.protocol, message.rest)?;
        let header = datagram.header;
        let key = IpKey { source: header.source, destination: header.destination, protocol: header.protocol };
        let headers = message.headers();
        headers.udp = headers.ip + datagram.header_length as u16;
        message.rest = datagram.data;
        let session = self.map.with(|map| map.lookup(key)).ok_or(DropReason::IpNoSession)?;
        let identification = header.identification.get();
        let (_visit, ()) = self
            .sessions
            .enter(session, |state| state.last_identification.set(identification))
            .ok_or(DropReason::IpNoSession)?;
        up(message, &datagram, session)
    }

    /// The session between the flow's hosts.
    pub(super) fn session(&self, flow: &Flow) -> Option<SessionId> {
        self.map.with(|map| map.peek(self.key(flow)))
    }

    /// Identification of the last datagram received between the flow's hosts.
    pub(super) fn last_identification(&self, flow: &Flow) -> Option<u16> {
        self.sessions.read(self.session(flow)?, |state| state.last_identification.get())
    }

    pub(super) fn open(&mut self, flow: &Flow) -> SessionId {
        let key = self.key(flow);
        let map = self.map.exclusive();
        if let Some(session) = map.peek(key) {
            self.sessions.share(session);
            return session;
        }
        let session = self.sessions.open(IpState::default());
        map.bind(key, session);
        session
    }

    pub(super) fn close(&mut self, flow: &Flow) {
        let key = self.key(flow);
        let map = self.map.exclusive();
        if let Some(session) = map.peek(key)
            && self.sessions.close(session)
        {
            map.unbind(key);
        }
    }
}
