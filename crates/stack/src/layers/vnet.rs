//! VNET: the virtual protocol that hides which link a packet came over.
//!
//! On the receive side it is a pass-through (Salehi 1994, §2.1) without header or active map. It only
//! has a session over each link session, which counts its packets as every session does.

use crate::active_map::SessionId;
use crate::discipline::Discipline;
use crate::drop_reason::DropReason;
use crate::message::Message;
use crate::session::Sessions;

pub(crate) struct VnetLayer<D: Discipline> {
    pub(super) sessions: Sessions<D, ()>,
}

impl<D: Discipline> VnetLayer<D> {
    pub(super) fn new() -> Self {
        Self { sessions: Sessions::new() }
    }

    /// Passes the message through `session`.
    #[inline]
    pub(super) fn receive<'s, 'f, R>(
        &self,
        message: &mut Message<'s, 'f>,
        session: SessionId,
        up: impl FnOnce(&mut Message<'s, 'f>) -> Result<R, DropReason>,
    ) -> Result<R, DropReason> {
        let (_visit, ()) = self.sessions.enter(session, |()| ()).ok_or(DropReason::LinkNoSession)?;
        up(message)
    }

    pub(super) fn open(&mut self) -> SessionId {
        self.sessions.open(())
    }

    pub(super) fn close(&mut self, session: SessionId) {
        self.sessions.close(session);
    }
}
