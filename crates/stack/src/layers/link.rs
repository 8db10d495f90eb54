//! FDDI or Ethernet: one session for each remote station.

use crate::active_map::{ActiveMap, SessionId};
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::identifiers::LinkAddress;
use crate::message::Message;
use crate::session::Sessions;
use crate::wire::LinkKind;

/// Key of the active map: the addresses of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LinkKey {
    destination: LinkAddress,
    source: LinkAddress,
}

impl From<&Flow> for LinkKey {
    fn from(flow: &Flow) -> Self {
        Self { destination: flow.destination_link, source: flow.source_link }
    }
}

/// State of a link session: the VNET session above it.
pub(crate) struct LinkState {
    up: SessionId,
}

pub(crate) struct LinkLayer<D: Discipline> {
    kind: LinkKind,
    map: D::Guarded<ActiveMap<LinkKey>>,
    pub(super) sessions: Sessions<D, LinkState>,
}

impl<D: Discipline> LinkLayer<D> {
    pub(super) fn new(kind: LinkKind) -> Self {
        Self { kind, map: D::Guarded::new(ActiveMap::new()), sessions: Sessions::new() }
    }

    /// Strips the link header, finds the session, and calls `up` with the VNET session above it.
    #[inline]
    pub(super) fn receive<'s, 'f, R>(
        &self,
        message: &mut Message<'s, 'f>,
        up: impl FnOnce(&mut Message<'s, 'f>, SessionId) -> Result<R, DropReason>,
    ) -> Result<R, DropReason> {
        let frame = self.kind.parse(message.rest)?;
        let key = LinkKey { destination: frame.destination, source: frame.source };
        message.headers().ip = frame.header_length as u16;
        message.rest = frame.data;
        let session = self.map.with(|map| map.lookup(key)).ok_or(DropReason::LinkNoSession)?;
        let (_visit, vnet) =
            self.sessions.enter(session, |state| state.up).ok_or(DropReason::LinkNoSession)?;
        up(message, vnet)
    }

    /// Opens the session of the flow's remote station, or shares it if it is open. A new session gets
    /// the VNET session that `open_up` opens.
    pub(super) fn open(&mut self, flow: &Flow, open_up: impl FnOnce() -> SessionId) {
        let map = self.map.exclusive();
        let key = LinkKey::from(flow);
        match map.peek(key) {
            Some(session) => self.sessions.share(session),
            None => map.bind(key, self.sessions.open(LinkState { up: open_up() })),
        }
    }

    /// Closes the flow's session if no other stream uses it, and then the session above it with
    /// `close_up`.
    pub(super) fn close(&mut self, flow: &Flow, close_up: impl FnOnce(SessionId)) {
        let map = self.map.exclusive();
        let key = LinkKey::from(flow);
        if let Some(session) = map.peek(key)
            && self.sessions.close(session)
        {
            map.unbind(key);
            if let Some(up) = self.sessions.read(session, |state| state.up) {
                close_up(up);
            }
        }
    }
}
