//! How packets reach a worker: from its queue, from its mailbox, and forwarded by others.

use super::{INTAKE, Worker, protocol};
use crate::control::Order;
use crate::driver::{Bytes, Incoming};
use crate::handler::Handler;
use crate::options::Overload;
use crate::packet::{Frame, Packet};
use crate::receive_queue::Open;
use crate::scheduler::Scheduler;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stack::DropReason;
use warmcore_units::{CpuId, Nanos};

impl<P: Policy, W: Waiting<Job = Packet>, H: Handler> Worker<'_, '_, P, W, H> {
    /// Receives what has arrived by `now` and lets the policy assign it.
    #[inline]
    pub(super) fn take_in(&mut self, scheduler: &mut Scheduler<P, W>, now: Nanos) {
        let queue = self.shared.queue(self.me);
        if queue.due() <= now
            && let Some(mut open) = queue.open()
        {
            self.take_from(&mut open, scheduler, now);
        }
    }

    /// Receives what has arrived by `now` from a locked queue.
    #[inline]
    pub(super) fn take_from(&mut self, open: &mut Open<'_>, scheduler: &mut Scheduler<P, W>, now: Nanos) {
        let shared = self.shared;
        // Forwarded packets may be of the same streams, and arrived earlier.
        self.let_in_passed(scheduler);
        let room = shared.capacity.saturating_sub(scheduler.held()) as usize;
        let limit = match shared.overload {
            Overload::Drop => INTAKE,
            // Many at once rather than one for each that leaves.
            Overload::HoldBack if room < INTAKE.min(shared.capacity as usize / 2) => 0,
            Overload::HoldBack if !shared.can_pass_on(self.me) => 0,
            Overload::HoldBack => INTAKE.min(room),
        };
        if limit > 0 && shared.control.order() == Order::Run {
            open.receive(now, limit, |incoming| self.admit(scheduler, incoming));
        }
    }

    /// Classifies a frame and assigns it.
    #[inline]
    pub(super) fn admit(&mut self, scheduler: &mut Scheduler<P, W>, incoming: Incoming<'_>) {
        let shared = self.shared;
        let (stream, frame) = match incoming.bytes {
            Bytes::Prepared(index) => (shared.prepared[index as usize].stream, Frame::Prepared(index)),
            Bytes::Borrowed(bytes) => {
                let protocol = protocol(&mut self.protocol, shared);
                let stream = match protocol.classify(bytes) {
                    Ok(key) => protocol.find(&key),
                    Err(reason) => return self.tally.refused(reason),
                };
                let Some(stream) = stream else { return self.tally.refused(DropReason::UdpNoSession) };
                let mut buffer = self.buffers.pop().unwrap_or_default();
                buffer.fill(bytes);
                (stream, Frame::Held(buffer))
            }
        };
        let packet = Packet { arrived: incoming.at, stream, frame };
        match shared.owner(stream) {
            Some(owner) if owner != self.me => self.pass_on(owner, packet),
            _ => self.let_in(scheduler, packet),
        }
    }

    /// Admits `packet` to this worker's scheduler.
    #[inline]
    pub(super) fn let_in(&mut self, scheduler: &mut Scheduler<P, W>, packet: Packet) {
        if scheduler.held() >= self.shared.capacity {
            self.tally.overflowed(1);
            return self.recycle(packet.frame);
        }
        match scheduler.arrive(packet) {
            Some((cpu, assignment)) if cpu == self.me => self.hand = Some(assignment),
            Some((cpu, assignment)) => {
                self.shared.mailboxes[cpu.index()].post(assignment);
                self.called.push(cpu);
            }
            None => {}
        }
    }

    /// Forwards `packet` to `owner`, whose scheduler it belongs to.
    pub(super) fn pass_on(&mut self, owner: CpuId, packet: Packet) {
        match self.shared.mailboxes[owner.index()].forwarded.push(packet) {
            Ok(()) => self.called.push(owner),
            Err(packet) => {
                self.tally.overflowed(1);
                self.recycle(packet.frame);
            }
        }
    }

    /// Takes assignments and forwarded packets; returns whether there is something to process.
    #[inline]
    pub(super) fn collect(&mut self) -> bool {
        let shared = self.shared;
        let mailbox = &shared.mailboxes[self.me.index()];
        self.hand = mailbox.collect();
        if !mailbox.forwarded.is_empty() {
            let mut scheduler = shared.scheduler(self.me).lock();
            self.let_in_passed(&mut scheduler);
        }
        self.hand.is_some()
    }

    /// Admits forwarded packets to this worker's scheduler.
    #[inline]
    pub(super) fn let_in_passed(&mut self, scheduler: &mut Scheduler<P, W>) {
        let shared = self.shared;
        let forwarded = &shared.mailboxes[self.me.index()].forwarded;
        while !forwarded.is_empty()
            && (shared.overload == Overload::Drop || scheduler.held() < shared.capacity)
            && let Some(packet) = forwarded.pop()
        {
            self.let_in(scheduler, packet);
        }
    }
}
