//! The processors of a host that receives packets: what happens when a packet arrives and when
//! one is finished (§3), and what each costs (§4).

use crate::completions::Completions;
use crate::packet::shape::{Packet, Shape};
use crate::packet::waiting::Waiting;
use warmcore_costs::residency::{Placement, Population, Residency};
use warmcore_costs::{ExecutionModel, Situation};
use warmcore_policy::{Decision, Order, Policy, Recency, ThreadPool};
use warmcore_scenario::{Combination, Organisation, ProcessorPolicy};
use warmcore_units::{CpuId, Nanos, StreamId, ThreadId};

/// A packet that has been processed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finished {
    /// The packet.
    pub packet: Packet,
    /// Where it was processed.
    pub cpu: CpuId,
    /// What it found in cache.
    pub situation: Situation,
    /// When its service started.
    pub started: Nanos,
    /// When it ended.
    pub ended: Nanos,
}

impl Finished {
    /// From arrival to the end of service: the source's "packet delay".
    #[must_use]
    pub fn delay(&self) -> Nanos {
        self.ended - self.packet.arrived
    }

    /// The time in service.
    #[must_use]
    pub fn service(&self) -> Nanos {
        self.ended - self.started
    }
}

/// The state of the simulated host. `P` chooses processors, `W` keeps who waits.
#[derive(Clone, Debug)]
pub struct System<'a, P, W> {
    policy: P,
    waiting: W,
    threads: ThreadPool,
    memory: Organisation,
    model: &'a ExecutionModel,
    residency: Residency,
    idle: Recency,
    running: Vec<Running>,
    completions: Completions,
}

/// What a processor is doing; meaningful while its completion is pending.
#[derive(Clone, Copy, Debug)]
struct Running {
    packet: Packet,
    thread: ThreadId,
    situation: Situation,
    started: Nanos,
    /// The packet is done but for the release of its memory, which had to migrate.
    releasing: bool,
}

impl<'a, P: Policy, W: Waiting> System<'a, P, W> {
    /// A host of `shape` that has not processed anything yet.
    pub fn new(policy: P, combination: Combination, shape: Shape, model: &'a ExecutionModel) -> Self {
        let Shape { processors, streams, stacks } = shape;
        let population = Population { processors, threads: processors, streams, stacks };
        let nothing = Running {
            packet: Packet { arrived: Nanos::ZERO, stream: StreamId(0) },
            thread: ThreadId(0),
            situation: Situation::default(),
            started: Nanos::ZERO,
            releasing: false,
        };
        Self {
            policy,
            waiting: W::none(shape, P::LINE),
            threads: thread_pool(combination, processors),
            memory: combination.memory,
            model,
            residency: Residency::new(combination.approach, population, model),
            idle: Recency::filled(processors),
            running: vec![nothing; processors as usize],
            completions: Completions::none(processors),
        }
    }

    /// When the next thing happens without a further arrival; infinite if all is idle.
    #[must_use]
    #[inline]
    pub fn next_completion(&self) -> Nanos {
        self.completions.first().1
    }

    /// `packet` arrives, at the time it says.
    #[inline]
    pub fn arrive(&mut self, packet: Packet) {
        if !self.waiting.admit(packet) {
            return;
        }
        match self.policy.place(self.waiting.home_of(&packet), &self.idle) {
            Decision::Run(cpu) => self.take_over(cpu, packet),
            Decision::Wait => self.waiting.line_up(packet),
        }
    }

    /// The [next completion](Self::next_completion) happens. `None` if it only turns out that
    /// the packet's memory must migrate to be released.
    #[inline]
    pub fn complete(&mut self) -> Option<Finished> {
        let (cpu, now) = self.completions.first();
        let running = self.running[cpu.index()];
        if self.memory == Organisation::Global && !running.releasing && self.residency.write_pool(cpu) {
            self.running[cpu.index()].releasing = true;
            self.completions.set(cpu, now + self.model.release_overhead());
            return None;
        }
        match self.waiting.next(cpu, &running.packet) {
            Some(packet) => self.start(cpu, running.thread, packet, now, |_, _| Nanos::ZERO),
            None => self.release(cpu, running.thread, now),
        }
        let Running { packet, situation, started, .. } = running;
        Some(Finished { packet, cpu, situation, started, ended: now })
    }

    /// `cpu` turns from other work to `packet`, which has just arrived.
    #[inline]
    fn take_over(&mut self, cpu: CpuId, packet: Packet) {
        let now = packet.arrived;
        self.idle.remove(cpu.0);
        let thread = self.threads.take(cpu);
        self.start(cpu, thread, packet, now, |residency, level| residency.idle(cpu, level, now));
        self.residency.enter(cpu);
    }

    /// `thread` starts to process `packet` on `cpu`, whose cache levels have seen no protocol code
    /// for `idle`.
    #[inline]
    fn start(
        &mut self,
        cpu: CpuId,
        thread: ThreadId,
        packet: Packet,
        now: Nanos,
        idle: impl Fn(&Residency, usize) -> Nanos,
    ) {
        let stack = self.waiting.stack_of(&packet);
        let situation = self.residency.start(Placement { stream: packet.stream, stack, thread, cpu });
        let mut service = self.model.receive(situation, |level| idle(&self.residency, level));
        if self.memory == Organisation::Global && self.residency.write_pool(cpu) {
            service += self.model.acquire_overhead();
        }
        self.running[cpu.index()] = Running { packet, thread, situation, started: now, releasing: false };
        self.completions.set(cpu, now + service);
    }

    /// `cpu` turns to other work.
    #[inline]
    fn release(&mut self, cpu: CpuId, thread: ThreadId, now: Nanos) {
        self.threads.give_back(thread);
        self.residency.leave(cpu, now);
        self.idle.push(cpu.0);
        self.completions.clear(cpu);
    }
}

/// The protocol threads of `combination`. A global pool is managed in the order opposite to the
/// processors', so that threads do migrate: in the same order each processor would find the
/// thread that ran there last, and the organisation would make no difference at all.
fn thread_pool(combination: Combination, processors: u32) -> ThreadPool {
    match (combination.threads, combination.policy) {
        (Organisation::PerProcessor, _) => ThreadPool::PerProcessor,
        (Organisation::Global, ProcessorPolicy::Lru) => ThreadPool::global(processors, Order::MostRecent),
        (Organisation::Global, _) => ThreadPool::global(processors, Order::LeastRecent),
    }
}
