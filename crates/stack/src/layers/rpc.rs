//! RPC: one endpoint for each peer, over a UDP session.

use crate::active_map::SessionId;
use crate::conversation::{Exchange, PROCEDURE};
use crate::discipline::Discipline;
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::Delivery;
use crate::rpc::{BootId, Config, Endpoint, Event, ReplyError};
use crate::session::Sessions;
use crate::wire::{FrameBuilder, LinkKind};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;

pub(crate) struct RpcLayer<D: Discipline> {
    link: LinkKind,
    pub(super) sessions: Sessions<D, RpcState>,
}

/// State of an RPC session: its conversation.
pub(crate) struct RpcState(RefCell<Conversation>);

/// An endpoint whose calls an application serves.
struct Conversation {
    endpoint: Endpoint,
    /// Of the frames that answer.
    builder: FrameBuilder,
}

impl<D: Discipline> RpcLayer<D> {
    pub(super) const fn new(link: LinkKind) -> Self {
        Self { link, sessions: Sessions::new() }
    }

    /// Lets the endpoint of `session` take a datagram: `deliver` gets the calls, and what is due is sent.
    #[inline]
    pub(super) fn receive(
        &self,
        now: Duration,
        delivery: Delivery<'_>,
        session: SessionId,
        exchange: &mut Exchange,
        mut deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        let converse = |state: &RpcState| {
            let conversation = &mut *state.0.borrow_mut();
            conversation.builder.tags = self.link.tags(delivery.frame);
            let taken = conversation.endpoint.arrives(now, delivery.payload);
            conversation.serve(exchange, |payload, reply| deliver(Delivery { payload, ..delivery }, reply));
            conversation.transmit(now, exchange);
            taken.map_err(|_| DropReason::RpcRefused)
        };
        self.sessions.enter(session, converse).ok_or(DropReason::UdpNoSession)?.1
    }

    /// Tells endpoints that time has come to `now`: of every `parts` sessions, number `part`.
    pub(super) fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        let mut converse = |state: &RpcState| {
            let conversation = &mut *state.0.borrow_mut();
            if conversation.endpoint.deadline().is_some_and(|deadline| deadline <= now) {
                conversation.endpoint.time_passes(now);
                conversation.transmit(now, exchange);
            }
        };
        for session in self.sessions.iter_open().skip(part).step_by(parts) {
            self.sessions.read(session, &mut converse);
        }
    }

    pub(super) fn open(&mut self, flow: &Flow, config: Config, boot: BootId) -> SessionId {
        let builder = FrameBuilder::new(self.link, flow.reversed());
        let endpoint = Endpoint::new(config, boot, &[PROCEDURE]);
        self.sessions.open(RpcState(RefCell::new(Conversation { endpoint, builder })))
    }

    pub(super) fn close(&mut self, session: SessionId) {
        self.sessions.close(session);
    }
}

impl Conversation {
    /// Gives each call to `handle`, and its answer to the endpoint.
    #[inline]
    fn serve(&mut self, exchange: &mut Exchange, mut handle: impl FnMut(&[u8], &mut Vec<u8>)) {
        while let Some(event) = self.endpoint.event() {
            let Event::Called { call, request, .. } = event else { continue };
            exchange.reply.clear();
            handle(request, &mut exchange.reply);
            if let Err(ReplyError::TooLong { .. }) = self.endpoint.reply(call, &exchange.reply) {
                exchange.unanswered += 1;
            }
        }
    }

    /// Sends what is due.
    #[inline]
    fn transmit(&mut self, now: Duration, exchange: &mut Exchange) {
        while let Some(payload) = self.endpoint.transmit(now) {
            exchange.push_datagram(&self.builder, payload);
        }
    }
}
