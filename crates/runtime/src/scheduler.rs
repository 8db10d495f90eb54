//! Decides which worker processes a packet: the simulator's dispatcher, with the same record of what
//! lies in whose cache.
//!
//! Each worker has its own scheduler where the policy needs no knowledge of other processors and nothing
//! is shared. Otherwise all workers share one, behind a lock.

#[cfg(all(test, not(loom)))]
mod conformance;

use crate::packet::Packet;
use warmcore_costs::residency::{PacketPlacement, Residency};
use warmcore_costs::{ExecutionModel, Situation};
use warmcore_policy::dispatch::{Change, Dispatcher, Layout, Next, Waiting};
use warmcore_policy::{Policy, ThreadPool};
use warmcore_scenario::Scheduling;
use warmcore_units::{CpuId, Nanos, StackId, ThreadId};
use warmcore_workload::random::Random;

/// A dispatcher and its cache residency.
pub(crate) struct Scheduler<P, W> {
    dispatcher: Dispatcher<P, W>,
    residency: Residency,
    threads: ThreadPool,
    random: Random,
    /// Packets admitted and not finished.
    held: u32,
}

/// A packet for a worker to process, with its stack and thread.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) packet: Packet,
    pub(crate) stack: StackId,
    pub(crate) thread: ThreadId,
    pub(crate) situation: Situation,
}

impl<P: Policy, W: Waiting<Job = Packet>> Scheduler<P, W> {
    pub(crate) fn new(
        policy: P,
        scheduling: &Scheduling,
        layout: &Layout,
        model: &ExecutionModel,
        random: Random,
    ) -> Self {
        Self {
            dispatcher: Dispatcher::new(policy, layout),
            residency: scheduling.residency(layout, model),
            threads: scheduling.thread_pool(layout.processors),
            random,
            held: 0,
        }
    }

    /// Packets admitted and not finished.
    pub(crate) fn held(&self) -> u32 {
        self.held
    }

    /// Admits `packet`. Returns the idle worker that starts now, if there is one, and its assignment.
    #[inline]
    pub(crate) fn arrive(&mut self, packet: Packet) -> Option<(CpuId, Assignment)> {
        self.held += 1;
        let last = self.residency.last_writer(packet.stream);
        let (cpu, first) = self.dispatcher.arrive(packet, last, &mut self.random)?;
        let thread = self.threads.take(cpu);
        self.residency.enter(cpu);
        Some((cpu, self.assign(cpu, thread, first)))
    }

    /// `cpu` finished `packet` at `now`. Returns its next assignment.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        cpu: CpuId,
        thread: ThreadId,
        packet: &Packet,
        now: Nanos,
    ) -> Option<Assignment> {
        self.held -= 1;
        match self.dispatcher.finish(cpu, packet, now) {
            Next::Continue(next, change) => {
                if let Some(change) = change {
                    self.dispatcher.observe(cpu, change);
                }
                Some(self.assign(cpu, thread, next))
            }
            Next::Stop => {
                self.dispatcher.observe(cpu, Change::Idle);
                self.threads.give_back(thread);
                self.residency.leave(cpu, now);
                None
            }
        }
    }

    /// A further packet that `cpu` may prefetch while it processes `running`.
    #[inline]
    pub(crate) fn prefetch(&mut self, cpu: CpuId, running: &Assignment) -> Option<Assignment> {
        let next = self.dispatcher.prefetch(cpu, &running.packet)?;
        Some(self.assign(cpu, running.thread, next))
    }

    /// A worker finished `packet` at `now` and continues with the packet it prefetched.
    #[inline]
    pub(crate) fn finish_and_continue(&mut self, packet: &Packet, now: Nanos) {
        self.held -= 1;
        self.dispatcher.finish_and_continue(packet, now);
    }

    /// Whether nothing is to be decided about `packet`, which arrives: `cpu` processes it after those it holds, the last
    /// of which is in `stack`.
    #[inline]
    pub(crate) fn passes(&self, cpu: CpuId, packet: &Packet, stack: StackId) -> bool {
        self.dispatcher.passes(cpu, packet, stack)
    }

    /// Admits a `packet` that [passes](Self::passes), for `cpu` to process in `stack` on `thread`.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        cpu: CpuId,
        packet: Packet,
        (stack, thread): (StackId, ThreadId),
    ) -> Assignment {
        self.held += 1;
        self.start(cpu, (stack, thread), packet)
    }

    /// Reports the packets of a batch that was processed, with their end times, except for the last.
    #[inline]
    pub(crate) fn report<'b>(&mut self, processed: impl ExactSizeIterator<Item = (&'b Assignment, Nanos)>) {
        let before_last = processed.len().saturating_sub(1);
        processed
            .take(before_last)
            .for_each(|(assignment, at)| self.finish_and_continue(&assignment.packet, at));
    }

    /// `cpu` finished the `last` packet of its batch at `now`. Fills up the next `batch` to `most` packets; it stays
    /// empty if the worker goes idle.
    #[inline]
    pub(crate) fn next_batch(
        &mut self,
        cpu: CpuId,
        last: &Assignment,
        now: Nanos,
        most: usize,
        batch: &mut Vec<Assignment>,
    ) {
        if batch.is_empty() {
            batch.extend(self.finish(cpu, last.thread, &last.packet, now));
        } else {
            self.finish_and_continue(&last.packet, now);
        }
        while batch.len() < most
            && let Some(running) = batch.last()
            && let Some(next) = self.prefetch(cpu, running)
        {
            debug_assert_eq!(
                (next.stack, next.thread),
                (running.stack, running.thread),
                "a batch has one stack"
            );
            batch.push(next);
        }
    }

    /// The idle worker that should poll for arrivals.
    #[inline]
    pub(crate) fn lookout(&self) -> Option<CpuId> {
        self.dispatcher.poller()
    }

    #[inline]
    fn assign(&mut self, cpu: CpuId, thread: ThreadId, packet: Packet) -> Assignment {
        let stack = self.dispatcher.stack(&packet, cpu);
        self.start(cpu, (stack, thread), packet)
    }

    #[inline]
    fn start(&mut self, cpu: CpuId, (stack, thread): (StackId, ThreadId), packet: Packet) -> Assignment {
        let placement = PacketPlacement { stream: packet.stream, stack, thread, cpu };
        Assignment { situation: self.residency.start(placement), packet, stack, thread }
    }
}
