//! Independent stacks. A processor stays with its stack while packets wait there, so a packet that arrives for a stack in
//! service is settled at once: it follows the ones before it. A stack that has packets but no processor waits in a
//! queue, and takes all its packets with it when its turn comes. So an arrival is the only event.

use super::Recursion;
use super::service::{Service, packets_left};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use core::hint::black_box;
use core::mem::replace;
use std::collections::VecDeque;
use warmcore_costs::execution::PrivateTimes;
use warmcore_policy::dispatch::waiting::{AHEAD, Chains};
use warmcore_units::{CpuId, Nanos, StackId};
use warmcore_workload::Arrival;

/// The processors, as stacks wait for them.
pub(super) trait Queues {
    /// The queue that a stack waits in which is assigned to `home`.
    fn queue(home: CpuId) -> usize;

    /// The processor that serves `queue` next, and when it is free.
    fn next(&self, queue: usize) -> (CpuId, Nanos);

    /// The processor that a stack assigned to `home` takes at `now`, and when that is free. It is idle if any is that
    /// the stack may take.
    fn choose(&self, home: CpuId, now: Nanos) -> (CpuId, Nanos);

    /// When `cpu` is free.
    fn free(&self, cpu: CpuId) -> Nanos;

    /// `cpu` is now free from `free` on.
    fn set(&mut self, cpu: CpuId, free: Nanos);

    /// When each processor is free.
    fn all_free(&self) -> impl Iterator<Item = Nanos>;
}

/// The stacks, and processors `Q`.
pub(super) struct Stacks<'a, Q> {
    /// The stack of each stream.
    stack_of: Vec<u32>,
    stacks: Vec<Stack>,
    /// The stack that each processor serves, or served last.
    serving: Vec<u32>,
    /// The stacks that wait in each queue.
    queues: Vec<VecDeque<WaitingStack>>,
    /// The packets that wait for stacks, but for the first of each.
    backlogs: Chains<Packet>,
    waiting: u64,
    processors: Q,
    service: Service<'a>,
    /// Whether there are too many stacks to stay in the processor's cache.
    many: bool,
    /// How many stacks of the queue to serve until those after them are touched.
    untouched: usize,
}

/// A stack.
#[derive(Clone, Copy)]
struct Stack {
    home: u32,
    /// The processor that served it last, or that it waits.
    state: u32,
}

/// A stack that waits, and its first packet.
#[derive(Clone, Copy)]
struct WaitingStack {
    stack: u32,
    packet: Packet,
}

/// The state of a stack with one packet that waits, and with several.
const WAITS: u32 = u32::MAX - 1;
const HAS_BACKLOG: u32 = u32::MAX;

impl<'a, Q: Queues> Stacks<'a, Q> {
    pub(super) fn new(host: &SimulatedHost<'a>, times: PrivateTimes<'a>, processors: Q, queues: u32) -> Self {
        let layout = host.layout();
        let stack = |home| Stack { home, state: home };
        Self {
            stack_of: layout.stacks_of_streams(),
            stacks: layout.homes_of_stacks().into_iter().map(stack).collect(),
            serving: vec![u32::MAX; host.shape.processors as usize],
            queues: (0..queues).map(|_| VecDeque::new()).collect(),
            backlogs: Chains::new(layout.stacks),
            waiting: 0,
            processors,
            service: Service::new(host, times),
            many: host.shape.has_many_streams(),
            untouched: 0,
        }
    }

    /// `cpu`, which is free from `free` on, serves `packet` of `stack`. Returns when it is free then.
    #[inline(always)]
    fn serve(
        &mut self,
        packet: Packet,
        stack: u32,
        (cpu, free): (CpuId, Nanos),
        settled: &mut impl FnMut(Finished),
    ) -> Nanos {
        let finished = self.service.serve(packet, StackId(stack), cpu, free);
        settled(finished);
        finished.ended
    }

    /// Serves the stacks that wait in `queue` and whose processor is free at `now` or before.
    #[inline(always)]
    fn serve_until(&mut self, now: Nanos, queue: usize, settled: &mut impl FnMut(Finished)) {
        while let Some(&WaitingStack { stack, packet }) = self.queues[queue].front() {
            let (cpu, free) = self.processors.next(queue);
            if free > now {
                return;
            }
            self.queues[queue].pop_front();
            if self.many {
                self.touch_waiting(queue);
            }
            let has_backlog = replace(&mut self.stacks[stack as usize].state, cpu.0) == HAS_BACKLOG;
            self.serving[cpu.index()] = stack;
            let mut free = self.serve(packet, stack, (cpu, free), settled);
            self.waiting -= 1;
            while has_backlog && let Some(packet) = self.backlogs.pop(stack as usize) {
                free = self.serve(packet, stack, (cpu, free), settled);
                self.waiting -= 1;
            }
            self.processors.set(cpu, free);
        }
    }

    /// Touches what the next stacks in `queue` need, once for [`AHEAD`] of them: after a long wait, it is in no cache.
    #[inline(always)]
    fn touch_waiting(&mut self, queue: usize) {
        if self.untouched > 0 {
            self.untouched -= 1;
            return;
        }
        self.untouched = AHEAD - 1;
        let queue = &self.queues[queue];
        let touch = |waiting: &WaitingStack| {
            let stack = waiting.stack;
            self.stacks[stack as usize].state ^ self.service.touch(waiting.packet.stream, StackId(stack))
        };
        black_box(queue.range(..AHEAD.min(queue.len())).fold(0, |sum, waiting| sum ^ touch(waiting)));
    }

    /// The processor that serves `stack`, and when it is free, if it is in service at `now`.
    #[inline(always)]
    fn in_service(&self, stack: u32, state: u32, now: Nanos) -> Option<(CpuId, Nanos)> {
        let cpu = CpuId(state);
        let free = self.processors.free(cpu);
        (self.serving[cpu.index()] == stack && free > now).then_some((cpu, free))
    }
}

impl<Q: Queues> Recursion for Stacks<'_, Q> {
    #[inline(always)]
    fn arrive(&mut self, packet: Packet, settled: &mut impl FnMut(Finished)) {
        let stack = self.stack_of[packet.stream.index()];
        let home = CpuId(self.stacks[stack as usize].home);
        let (now, queue) = (packet.arrived, Q::queue(home));
        self.serve_until(now, queue, settled);
        let state = self.stacks[stack as usize].state;
        if state >= WAITS {
            self.stacks[stack as usize].state = HAS_BACKLOG;
            self.backlogs.push(stack as usize, packet);
            self.waiting += 1;
            return;
        }
        let (cpu, free) = match self.in_service(stack, state, now) {
            Some(serving) => serving,
            None => self.processors.choose(home, now),
        };
        if self.serving[cpu.index()] != stack && free > now {
            self.stacks[stack as usize].state = WAITS;
            self.queues[queue].push_back(WaitingStack { stack, packet });
            self.waiting += 1;
            return;
        }
        self.stacks[stack as usize].state = cpu.0;
        self.serving[cpu.index()] = stack;
        let ended = self.serve(packet, stack, (cpu, free), settled);
        self.processors.set(cpu, ended);
    }

    fn drain(&mut self, settled: &mut impl FnMut(Finished)) {
        (0..self.queues.len()).for_each(|queue| self.serve_until(Nanos::INFINITY, queue, settled));
    }

    fn present(&self, now: Nanos) -> u64 {
        packets_left(self.service.model, self.processors.all_free(), now) + self.waiting
    }

    fn touch(&self, ahead: &[Arrival]) -> u32 {
        let touch = |arrival: &Arrival| {
            let stack = self.stack_of[arrival.stream.index()];
            self.stacks[stack as usize].state ^ self.service.touch(arrival.stream, StackId(stack))
        };
        ahead.iter().fold(0, |sum, arrival| sum ^ touch(arrival))
    }
}
