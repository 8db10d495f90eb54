//! How packets reach a worker: from its queue, from its mailbox, and forwarded by others.

use super::{Worker, protocol};
use crate::control::Order;
use crate::driver::{Bytes, Incoming};
use crate::options::Overload;
use crate::packet::{Frame, Packet};
use crate::receive_queue::{LockedQueue, MAX_INTAKE};
use crate::scheduler::Scheduler;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_units::{CpuId, Nanos, StackId, ThreadId};

impl<P: Policy, W: Waiting<Job = Packet>> Worker<'_, '_, P, W> {
    /// Receives what has arrived by `now` and lets the policy assign it, unless another worker has the
    /// queue.
    #[inline]
    pub(super) fn receive_arrived(&mut self, scheduler: &mut Scheduler<P, W>, now: Nanos) {
        let queue = self.shared.queue(self.id);
        if queue.due() <= now
            && let Some(mut open) = queue.try_lock()
        {
            self.receive_from(&mut open, scheduler, now);
        }
    }

    /// Receives what has arrived by `now` from a locked queue.
    #[inline]
    pub(super) fn receive_from(
        &mut self,
        queue: &mut LockedQueue<'_>,
        scheduler: &mut Scheduler<P, W>,
        now: Nanos,
    ) {
        let shared = self.shared;
        // Forwarded packets may be of the same streams, and arrived earlier.
        self.admit_forwarded(scheduler);
        let room = shared.capacity.saturating_sub(scheduler.held()) as usize;
        let limit = match shared.overload {
            Overload::Drop => MAX_INTAKE,
            // Waits for room for many, rather than receiving one for each that leaves.
            Overload::HoldBack if room < MAX_INTAKE.min(shared.capacity as usize / 2) => 0,
            Overload::HoldBack if !shared.can_forward(self.id) => 0,
            Overload::HoldBack => MAX_INTAKE.min(room),
        };
        if limit > 0 && shared.control.order() == Order::Run {
            let place = |at, frames: &[u32]| self.place_prepared(scheduler, at, frames);
            if queue.receive_prepared(now, limit, place) == 0 {
                queue.receive(now, limit, |incoming| self.classify_and_admit(scheduler, incoming));
            }
        }
    }

    /// Classifies a frame and assigns it.
    #[inline]
    pub(super) fn classify_and_admit(&mut self, scheduler: &mut Scheduler<P, W>, incoming: Incoming<'_>) {
        let shared = self.shared;
        let (stream, frame) = match incoming.bytes {
            Bytes::Prepared(index) => (shared.prepared[index as usize].stream, Frame::Prepared(index)),
            Bytes::Borrowed(bytes) => {
                let protocol = protocol(&mut self.protocol, shared);
                let stream = match protocol.classify(bytes) {
                    Ok(key) => protocol.find(&key),
                    Err(reason) => return self.tally.refused(reason),
                };
                let Some(stream) = stream else { return self.tally.refused(protocol.no_session(bytes)) };
                let mut buffer = self.buffers.pop().unwrap_or_default();
                buffer.fill(bytes);
                (stream, Frame::Held(buffer))
            }
        };
        let packet = Packet { arrived: incoming.at, stream, frame };
        self.place(scheduler, packet);
    }

    /// Admits prepared frames that arrived `at` the same time, or forwards them.
    #[inline]
    fn place_prepared(&mut self, scheduler: &mut Scheduler<P, W>, at: Nanos, frames: &[u32]) {
        let shared = self.shared;
        let mut last = self.last();
        for &frame in frames {
            let stream = shared.prepared[frame as usize].stream;
            let packet = Packet { arrived: at, stream, frame: Frame::Prepared(frame) };
            match last {
                Some(last) if self.passes(scheduler, &packet, last) => {
                    let assignment = scheduler.pass(self.id, packet, last);
                    self.batch.assignments_mut().push(assignment);
                }
                _ => {
                    self.place(scheduler, packet);
                    last = self.last();
                }
            }
        }
    }

    /// Admits `packet`, or forwards it.
    fn place(&mut self, scheduler: &mut Scheduler<P, W>, packet: Packet) {
        match self.shared.owner(packet.stream) {
            Some(owner) if owner != self.id => self.forward(owner, packet),
            _ => self.admit(scheduler, packet),
        }
    }

    /// Admits `packet` to this worker's scheduler.
    pub(super) fn admit(&mut self, scheduler: &mut Scheduler<P, W>, packet: Packet) {
        match self.last() {
            Some(last) if self.passes(scheduler, &packet, last) => {
                let assignment = scheduler.pass(self.id, packet, last);
                self.batch.assignments_mut().push(assignment);
            }
            _ => self.decide(scheduler, packet),
        }
    }

    /// Stack and thread of the last packet that this worker holds.
    #[inline]
    fn last(&self) -> Option<(StackId, ThreadId)> {
        self.batch.last().or(self.over.last()).map(|last| (last.stack, last.thread))
    }

    /// Whether nothing is to be decided about `packet`, and this worker processes it after the `last` one that it holds.
    #[inline(always)]
    fn passes(&self, scheduler: &Scheduler<P, W>, packet: &Packet, (stack, _): (StackId, ThreadId)) -> bool {
        self.batch.len() < self.most
            && scheduler.held() < self.shared.capacity
            && scheduler.passes(self.id, packet, stack)
    }

    /// Lets the policy assign `packet`.
    #[inline(never)]
    fn decide(&mut self, scheduler: &mut Scheduler<P, W>, packet: Packet) {
        if scheduler.held() >= self.shared.capacity {
            self.tally.overflowed(1);
            return self.recycle(packet.frame);
        }
        match scheduler.arrive(packet) {
            Some((cpu, assignment)) if cpu == self.id => self.batch.assignments_mut().push(assignment),
            Some((cpu, assignment)) => {
                self.shared.mailboxes[cpu.index()].post(assignment);
                self.to_wake.push(cpu);
            }
            None => {}
        }
    }

    /// Forwards `packet` to `owner`, whose scheduler it belongs to.
    pub(super) fn forward(&mut self, owner: CpuId, packet: Packet) {
        match self.shared.mailboxes[owner.index()].forwarded.push(packet) {
            Ok(()) => {
                self.tally.forwarded();
                self.to_wake.push(owner);
            }
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
        let mailbox = &shared.mailboxes[self.id.index()];
        self.batch.assignments_mut().extend(mailbox.collect());
        if !mailbox.forwarded.is_empty() {
            let mut scheduler = shared.scheduler(self.id).lock();
            self.admit_forwarded(&mut scheduler);
        }
        !self.batch.is_empty()
    }

    /// Admits forwarded packets to this worker's scheduler.
    #[inline]
    pub(super) fn admit_forwarded(&mut self, scheduler: &mut Scheduler<P, W>) {
        let shared = self.shared;
        let forwarded = &shared.mailboxes[self.id.index()].forwarded;
        while !forwarded.is_empty()
            && (shared.overload == Overload::Drop || scheduler.held() < shared.capacity)
            && let Some(packet) = forwarded.pop()
        {
            self.admit(scheduler, packet);
        }
    }
}
