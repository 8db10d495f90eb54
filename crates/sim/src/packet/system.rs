//! The processors of a host that receives packets: what happens when a packet arrives and when
//! one is finished (§3), and what each costs (§4).

use crate::completions::{Pending, on_clock};
use crate::packet::charges::Charges;
use crate::packet::extent::{Each, Extent};
use crate::packet::host::{Host, Packet};
use crate::packet::observed::Observed;
use crate::packet::waiting::Waiting;
use std::collections::VecDeque;
use warmcore_costs::residency::{Placement, Population, Residency, Sessions};
use warmcore_costs::{ExecutionModel, Situation};
use warmcore_policy::{Decision, Line, Order, Policy, Request, ThreadPool, View};
use warmcore_scenario::{Organisation, Parallelism, ProcessorPolicy, Scheduling, ThreadOrder};
use warmcore_units::{CpuId, Nanos, ThreadId};
use warmcore_workload::Purpose;
use warmcore_workload::arrivals::Direction;
use warmcore_workload::random::Random;

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

/// The state of the simulated host. `P` chooses processors, `W` keeps who waits, and `E`
/// says how much of the model there is.
#[derive(Clone, Debug)]
pub struct System<'a, P, W, E: Extent> {
    policy: P,
    random: Random,
    observed: Observed,
    waiting: W,
    threads: ThreadPool,
    memory: Organisation,
    model: &'a ExecutionModel,
    charges: Charges,
    residency: Residency,
    running: E::Each<Running>,
    completions: E::Pending,
    present: u64,
    staleness: Nanos,
    /// What has happened on processors but is not yet seen, in order of time.
    unseen: VecDeque<Unseen>,
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

/// A completion that the policy does not know of yet.
#[derive(Clone, Copy, Debug)]
struct Unseen {
    /// When it will.
    at: Nanos,
    cpu: CpuId,
    change: Change,
}

/// What a completion changes at its processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// It has gone on to a packet of its own line: one less is there.
    OneLess,
    /// It has gone idle.
    Idle,
}

impl<'a, P: Policy, W: Waiting, E: Extent> System<'a, P, W, E> {
    /// `host` before it has processed anything. Its shape must have passed its check.
    pub fn new(policy: P, host: &Host<'a>) -> Self {
        let processors = host.shape.processors;
        let nothing = Running {
            packet: Packet::new(Nanos::ZERO, warmcore_units::StreamId(0)),
            thread: ThreadId(0),
            situation: Situation::default(),
            started: Nanos::ZERO,
            releasing: false,
        };
        Self {
            policy,
            random: host.key.stream(Purpose::Policy),
            observed: Observed::idle(processors),
            waiting: W::none(host, P::LINE),
            threads: thread_pool(host.scheduling, processors),
            memory: host.scheduling.memory,
            model: host.model,
            charges: Charges::of(host),
            residency: residency(host),
            running: E::Each::filled(processors, nothing),
            completions: E::Pending::none(processors),
            present: 0,
            staleness: host.effects.staleness(),
            unseen: VecDeque::new(),
        }
    }

    /// When the next thing happens without a further arrival; [`NEVER`](crate::completions::NEVER) if all is idle.
    #[must_use]
    #[inline]
    pub fn next_event(&self) -> Nanos {
        let (_, completion) = self.completions.first();
        if E::EFFECTS
            && let Some(unseen) = self.unseen.front()
        {
            return Nanos(completion.0.min(unseen.at.0));
        }
        completion
    }

    /// Packets that have arrived and are not finished.
    #[must_use]
    #[inline]
    pub const fn present(&self) -> u64 {
        self.present
    }

    /// `packet` arrives, at the time it says.
    #[inline(always)]
    pub fn arrive(&mut self, packet: Packet) {
        self.present += 1;
        let request = self.request(&packet);
        if !self.waiting.admit(packet) {
            self.policy.joined(request);
            return;
        }
        match self.policy.place(request, &self.observed, &mut self.random) {
            Decision::Run(cpu) => {
                self.observed.more(cpu, &mut self.policy);
                let first = self.first_come(cpu, packet);
                self.take_over(cpu, first, packet.arrived);
            }
            Decision::Wait(at) => {
                self.waiting.line_up(packet, Self::line(at));
                self.observed.lined_up();
                if P::LINE == Line::PerProcessor {
                    self.observed.more(at, &mut self.policy);
                }
            }
        }
    }

    /// What the policy is told of `packet`.
    #[inline]
    fn request(&self, packet: &Packet) -> Request {
        let home = self.waiting.home(packet);
        Request {
            now: packet.arrived,
            stream: packet.stream,
            stack: self.waiting.stack(packet, home),
            home,
            last: self.residency.last_writer(packet.stream),
        }
    }

    /// The [next event](Self::next_event) happens. `None` if no packet is finished by it.
    #[inline(always)]
    pub fn step(&mut self) -> Option<Finished> {
        let (cpu, now) = self.completions.first();
        if E::EFFECTS && self.unseen.front().is_some_and(|unseen| unseen.at.0 <= now.0) {
            let seen = self.unseen.pop_front()?;
            self.see(seen);
            return None;
        }
        self.complete(cpu, now)
    }

    /// `cpu` completes what it does. `None` if it only turns out that the packet's memory must
    /// migrate to be released.
    #[inline(always)]
    fn complete(&mut self, cpu: CpuId, now: Nanos) -> Option<Finished> {
        let Running { packet, thread, situation, started, releasing } = *self.running.of(cpu);
        if E::SHARING && self.memory == Organisation::Global && !releasing && self.residency.write_pool(cpu) {
            self.running.of(cpu).releasing = true;
            self.completions.restart_first(cpu, on_clock(now + self.model.release_overhead()));
            return None;
        }
        let finished = Finished { packet, cpu, situation, started, ended: now };
        self.present -= 1;
        self.policy.finished(now, finished.delay());
        if let Some(next) = self.waiting.stay(&packet) {
            self.go_on(cpu, thread, next, now);
        } else if let Some(next) = self.take(cpu, Some(&packet)) {
            if P::LINE == Line::PerProcessor {
                self.report(cpu, Change::OneLess, now);
            }
            self.go_on(cpu, thread, next, now);
        } else if let Some(next) = self.steal(cpu) {
            self.go_on(cpu, thread, next, now);
        } else {
            if E::SHARING {
                self.threads.give_back(thread);
                self.residency.leave(cpu, now);
            } else {
                self.residency.leave_private(cpu, now);
            }
            self.completions.finish_first(cpu);
            self.report(cpu, Change::Idle, now);
        }
        Some(finished)
    }

    /// Whose turn it is when the arrival of `packet` starts `cpu`: where packets were made to wait
    /// beside idle processors, the one that has waited longest.
    #[inline]
    fn first_come(&mut self, cpu: CpuId, packet: Packet) -> Packet {
        if P::LINE == Line::PerProcessor || self.observed.waiting() == 0 {
            return packet;
        }
        let Some(first) = self.waiting.take(Self::line(cpu), None) else { return packet };
        self.waiting.line_up(packet, Self::line(cpu));
        first
    }

    /// The line that `cpu` takes packets from: one that is common to all is the first.
    #[inline]
    fn line(cpu: CpuId) -> CpuId {
        if P::LINE == Line::Common { CpuId(0) } else { cpu }
    }

    /// A packet from the line of `cpu`.
    #[inline]
    fn take(&mut self, cpu: CpuId, finished: Option<&Packet>) -> Option<Packet> {
        let next = self.waiting.take(Self::line(cpu), finished)?;
        self.observed.taken();
        Some(next)
    }

    /// A packet for `cpu` from another's line, if the policy says so.
    #[inline]
    fn steal(&mut self, cpu: CpuId) -> Option<Packet> {
        let victim = self.policy.steal(cpu, &self.observed)?;
        let next = self.take(victim, None)?;
        self.observed.less(victim, &mut self.policy);
        Some(next)
    }

    /// The policy is told of a `change` at `cpu`, now or when it will see it.
    #[inline]
    fn report(&mut self, cpu: CpuId, change: Change, now: Nanos) {
        if E::EFFECTS && self.staleness.0 > 0.0 {
            self.unseen.push_back(Unseen { at: now + self.staleness, cpu, change });
        } else {
            self.apply(cpu, change);
        }
    }

    #[inline]
    fn apply(&mut self, cpu: CpuId, change: Change) {
        self.observed.less(cpu, &mut self.policy);
        if change == Change::Idle {
            self.observed.stop(cpu);
        }
    }

    /// The policy sees what has happened some time ago. A processor that is seen to be idle takes
    /// what waits for it: it was put there by a decision that did not know better.
    #[cold]
    fn see(&mut self, seen: Unseen) {
        let Unseen { at, cpu, change } = seen;
        self.apply(cpu, change);
        if change != Change::Idle {
            return;
        }
        if let Some(next) = self.take(cpu, None) {
            if P::LINE == Line::Common {
                self.observed.more(cpu, &mut self.policy);
            }
            self.take_over(cpu, next, at);
        } else if let Some(next) = self.steal(cpu) {
            self.observed.more(cpu, &mut self.policy);
            self.take_over(cpu, next, at);
        }
    }

    /// The idle `cpu` turns from other work to `packet`.
    #[inline(always)]
    fn take_over(&mut self, cpu: CpuId, packet: Packet, now: Nanos) {
        self.observed.start(cpu);
        let thread = if E::SHARING { self.threads.take(cpu) } else { ThreadId(cpu.0) };
        let situation = self.situation(cpu, thread, &packet);
        let bare = if !E::SHARING || self.model.is_private() {
            self.model.receive_after(situation, self.residency.own_idle(cpu, now))
        } else {
            self.model.receive(situation, |level| self.residency.idle(cpu, level, now))
        };
        if E::SHARING {
            self.residency.enter(cpu);
        }
        let ends =
            self.serve(Running { packet, thread, situation, started: now, releasing: false }, cpu, bare);
        self.completions.start(cpu, ends);
    }

    /// `thread`, which has just finished a packet on `cpu`, continues with `packet`.
    #[inline(always)]
    fn go_on(&mut self, cpu: CpuId, thread: ThreadId, packet: Packet, now: Nanos) {
        let situation = self.situation(cpu, thread, &packet);
        let bare = self.model.receive_hot(situation);
        let ends =
            self.serve(Running { packet, thread, situation, started: now, releasing: false }, cpu, bare);
        self.completions.restart_first(cpu, ends);
    }

    #[inline(always)]
    fn situation(&mut self, cpu: CpuId, thread: ThreadId, packet: &Packet) -> Situation {
        let stack = self.waiting.stack(packet, cpu);
        let placement = Placement { stream: packet.stream, stack, thread, cpu };
        if packet.direction == Direction::Send {
            self.residency.start_sending(placement)
        } else {
            self.residency.start(placement)
        }
    }

    /// Service of `running` starts on `cpu`; it takes `bare` and what comes on top. When it ends.
    #[inline(always)]
    fn serve(&mut self, running: Running, cpu: CpuId, bare: Nanos) -> Nanos {
        let now = running.started;
        let mut service = if E::EFFECTS { self.charges.service(&running.packet, bare, now) } else { bare };
        if E::SHARING && self.memory == Organisation::Global && self.residency.write_pool(cpu) {
            service += self.model.acquire_overhead();
        }
        *self.running.of(cpu) = running;
        on_clock(now + service)
    }
}

/// Who last wrote what, before anything was written.
fn residency(host: &Host) -> Residency {
    let (sessions, stacks) = match host.scheduling.approach {
        Parallelism::Locking => (Sessions::PerStream, 1),
        Parallelism::Ips => (Sessions::PerStream, host.shape.stacks),
        Parallelism::Hybrid => (Sessions::PerStack, host.shape.processors),
    };
    let processors = host.shape.processors;
    let population = Population { processors, threads: processors, streams: host.shape.streams, stacks };
    Residency::new(sessions, population, host.model)
}

/// The protocol threads.
fn thread_pool(scheduling: Scheduling, processors: u32) -> ThreadPool {
    if scheduling.threads == Organisation::PerProcessor {
        return ThreadPool::PerProcessor;
    }
    let order = match (scheduling.thread_order, scheduling.policy) {
        (ThreadOrder::Mru, _) | (ThreadOrder::Opposite, ProcessorPolicy::Lru) => Order::MostRecent,
        (ThreadOrder::Lru | ThreadOrder::Opposite, _) => Order::LeastRecent,
    };
    ThreadPool::global(processors, order)
}
