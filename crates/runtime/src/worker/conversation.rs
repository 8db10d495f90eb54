//! What a worker does for conversations beside receiving their packets: it sends their frames, says which
//! connections ended, and tells them the time.

use super::{Worker, protocol};
use crate::handler::{Context, Handler};
use crate::packet::Packet;
use crate::protocol::Protocol;
use core::time::Duration;
use std::sync::PoisonError;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::{DropReason, Exchange, Pool};
use warmcore_units::{CpuId, Nanos, StackId};

/// How often timers are looked at. Each worker looks at its share of the conversations.
const TICK: Nanos = Nanos(10e6);

/// A time of the run's clock, as the stack is told it.
#[inline]
pub(super) fn since_start(now: Nanos) -> Duration {
    Duration::from_nanos(now.0 as u64)
}

/// A packet of a conversation, and where it is received.
pub(super) struct Arrived<'a> {
    pub(super) now: Duration,
    pub(super) stack: StackId,
    pub(super) pool: &'a Pool,
    pub(super) frame: &'a [u8],
}

/// Takes a packet up the stack, and calls `handler` at the top, on a worker's processor. It is a function of its
/// own, whatever the policy: workers of every policy share its code.
#[inline(never)]
pub(super) fn receive(
    protocol: &Protocol,
    handler: &dyn Handler,
    packet: &Arrived<'_>,
    exchange: &mut Exchange,
    (cpu, worker): (CpuId, u32),
) -> Result<(), DropReason> {
    let Arrived { now, stack, pool, frame } = *packet;
    protocol.converse(now, stack, pool, frame, exchange, |delivery, reply| {
        let mut context = Context { cpu, worker, reply, replied: false };
        handler.deliver(&delivery, &mut context);
    })
}

impl<P: Policy, W: Waiting<Job = Packet>> Worker<'_, '_, P, W> {
    /// Sends the frames of the exchange, and notes the connections that ended.
    #[inline]
    pub(super) fn send_exchange(&mut self) {
        let shared = self.shared;
        let mut queue = shared.queue(self.id).lock();
        for frame in self.exchange.frames() {
            if queue.send(frame).is_err() {
                self.tally.unanswered();
            }
        }
        drop(queue);
        for _ in 0..self.exchange.unanswered() {
            self.tally.unanswered();
        }
        if !self.exchange.ended().is_empty() {
            let mut ended = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.extend_from_slice(self.exchange.ended());
        }
        self.exchange.clear();
    }

    /// Tells this worker's share of the conversations that time has come to `now`.
    #[cold]
    pub(super) fn tick(&mut self, now: Nanos) {
        self.next_tick = now + TICK;
        let shared = self.shared;
        let protocol = protocol(&mut self.protocol, shared);
        let (part, parts) = (self.id.index(), shared.mailboxes.len());
        protocol.time_passes(since_start(now), part, parts, &mut self.exchange);
        self.send_exchange();
        // What this took is no packet's time.
        self.last_reading = shared.clock.now();
        self.last_ended = None;
    }
}
