//! The processors of a host that receives packets: what happens when a packet arrives and when
//! one is finished (§3), and what each costs (§4).

use crate::completions::{Pending, on_clock};
use crate::packet::charges::Charges;
use crate::packet::extended::Beyond;
use crate::packet::features::{ModelFeatures, PerCpu};
use crate::packet::host::{Packet, SimulatedHost};
use core::hint::black_box;
use std::collections::VecDeque;
use warmcore_costs::residency::{PacketPlacement, Residency};
use warmcore_costs::{CostModel, Found, Situation};
use warmcore_policy::dispatch::waiting::AHEAD;
use warmcore_policy::dispatch::{Arrived, Change, Dispatcher, Next, Waiting};
use warmcore_policy::{Policy, ThreadPool};
use warmcore_scenario::Organisation;
use warmcore_units::{CpuId, Nanos, StackId, ThreadId};
use warmcore_workload::arrivals::Direction;
use warmcore_workload::random::Random;
use warmcore_workload::{Arrival, Purpose};

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
    /// From arrival to the end of service: the "packet delay" of Salehi 1994. Never below zero.
    #[must_use]
    #[inline]
    pub fn delay(&self) -> Nanos {
        between(self.packet.arrived, self.ended)
    }

    /// The time in service. Never below zero.
    #[must_use]
    #[inline]
    pub fn service(&self) -> Nanos {
        between(self.started, self.ended)
    }
}

/// The time from `from` to `to`. An end is rounded down to the [clock](on_clock) of completions, which for a packet that costs
/// nothing may lie before its arrival.
#[inline(always)]
const fn between(from: Nanos, to: Nanos) -> Nanos {
    if to.0 > from.0 { Nanos(to.0 - from.0) } else { Nanos::ZERO }
}

/// The state of a simulated host. `P` chooses processors, `W` holds the waiting packets, and `F` says which
/// features of the model are compiled in.
pub struct System<'a, P, W, F: ModelFeatures> {
    dispatcher: Dispatcher<P, W>,
    random: Random,
    threads: ThreadPool,
    memory: Organisation,
    model: &'a F::Costs,
    /// Whether no processors share a cache level.
    private: bool,
    charges: Charges,
    beyond: Beyond<F::Service>,
    residency: Residency,
    running: F::PerCpu<Running>,
    completions: F::Pending,
    present: u64,
    staleness: Nanos,
    /// Whether there are too many streams to stay in the processor's cache; and how many waiting packets have been touched
    /// ahead.
    many: bool,
    touched: usize,
    /// Completions that the policy does not know of yet, in order of time.
    unreported: VecDeque<UnreportedCompletion>,
}

/// What a processor is doing. Valid only while its completion is pending.
#[derive(Clone, Copy, Debug)]
struct Running {
    packet: Packet,
    thread: ThreadId,
    situation: Situation,
    started: Nanos,
    /// The packet is processed, and its memory is being released after it had to migrate.
    releasing: bool,
}

/// A completion that the policy does not know of yet.
#[derive(Clone, Copy, Debug)]
struct UnreportedCompletion {
    /// When the policy will know.
    at: Nanos,
    cpu: CpuId,
    change: Change,
}

impl<'a, P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures> System<'a, P, W, F> {
    /// A `host` that has processed nothing yet, with its own `waiting` packets and `service` times. It must have passed
    /// [`SimulatedHost::check`].
    pub fn new(policy: P, waiting: W, host: &SimulatedHost<'a, F::Costs>, service: F::Service) -> Self {
        let processors = host.shape.processors;
        let nothing = Running {
            packet: Packet::new(Nanos::ZERO, warmcore_units::StreamId(0)),
            thread: ThreadId(0),
            situation: Situation::default(),
            started: Nanos::ZERO,
            releasing: false,
        };
        Self {
            dispatcher: Dispatcher::with_waiting(policy, waiting, processors),
            random: host.key.stream(Purpose::Policy),
            threads: host.scheduling.thread_pool(processors),
            memory: host.scheduling.memory,
            model: host.model,
            private: host.model.is_private(),
            charges: Charges::new(host),
            beyond: Beyond::new(host, service),
            residency: host.scheduling.residency(&host.layout(), host.model),
            running: F::PerCpu::filled(processors, nothing),
            completions: F::Pending::new(processors),
            present: 0,
            staleness: host.effects.staleness(),
            many: host.shape.has_many_streams(),
            touched: 0,
            unreported: VecDeque::new(),
        }
    }

    /// When the next event happens if no further packet arrives; [`NEVER`](crate::completions::NEVER) if all
    /// is idle.
    #[must_use]
    #[inline]
    pub fn next_event(&self) -> Nanos {
        let (_, completion) = self.completions.first();
        if F::EFFECTS {
            let unreported = self.unreported.front().map_or(Nanos::INFINITY, |unreported| unreported.at);
            return Nanos(completion.0.min(unreported.0).min(self.beyond.next_request().0));
        }
        completion
    }

    /// Packets that have arrived and are not finished.
    #[must_use]
    #[inline]
    pub const fn present(&self) -> u64 {
        self.present
    }

    /// The stack that `packet` visits on `cpu`.
    pub(super) fn stack(&self, packet: &Packet, cpu: CpuId) -> StackId {
        self.dispatcher.stack(packet, cpu)
    }

    /// Reads what is kept of the streams of `ahead`, so that it is in the processor's cache when they arrive. Returns
    /// something that depends on it.
    pub(super) fn touch(&self, ahead: &[Arrival]) -> u32 {
        let touch = |arrival: &Arrival| {
            let packet = Packet::new(arrival.at, arrival.stream);
            let stack = self.dispatcher.stack(&packet, CpuId(0));
            self.dispatcher.touch(arrival.stream) ^ self.residency.touch(arrival.stream, stack)
        };
        ahead.iter().fold(0, |sum, arrival| sum ^ touch(arrival))
    }

    /// Touches what the next packets need that `cpu` takes from its queue: after a long wait, it is in no cache.
    #[inline(always)]
    fn touch_waiting(&mut self, cpu: CpuId) {
        if self.touched > 0 {
            self.touched -= 1;
            return;
        }
        self.touched = AHEAD - 1;
        let touch = |packet: &Packet| self.residency.touch(packet.stream, self.dispatcher.stack(packet, cpu));
        black_box(self.dispatcher.touch_next(cpu, touch));
    }

    /// Handles the arrival of `packet`, at the time that the packet holds.
    #[inline(always)]
    pub fn arrive(&mut self, packet: Packet) {
        self.present += 1;
        let last = self.residency.last_writer(packet.stream);
        match self.dispatcher.arrive_or_refuse(packet, last, &mut self.random) {
            Arrived::Starts(cpu, first) => self.take_over(cpu, first, packet.arrived),
            Arrived::Waits => {}
            Arrived::Refused(_) => {
                self.present -= 1;
                self.beyond.lose();
            }
        }
    }

    /// Packets that found a full queue.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.beyond.lost()
    }

    /// Handles the [next event](Self::next_event). `None` if that event finishes no packet.
    #[inline(always)]
    pub fn step(&mut self) -> Option<Finished> {
        if let Some(request) = self.take_request() {
            self.arrive(request);
            return None;
        }
        let (cpu, now) = self.completions.first();
        if F::EFFECTS && self.unreported.front().is_some_and(|unreported| unreported.at.0 <= now.0) {
            let seen = self.unreported.pop_front()?;
            self.see(seen);
            return None;
        }
        self.complete(cpu, now)
    }

    /// Takes the request of a closed loop, if that is the next event; it has yet to [arrive](Self::arrive). Of events at the
    /// same time a request comes last, as an arrival does.
    #[inline(always)]
    pub fn take_request(&mut self) -> Option<Packet> {
        if !F::EFFECTS {
            return None;
        }
        let request = self.beyond.next_request();
        let (_, completion) = self.completions.first();
        let others = self.unreported.front().map_or(completion, |it| Nanos(it.at.0.min(completion.0)));
        if request < others { self.beyond.request() } else { None }
    }

    /// `cpu` completes what it is doing. `None` if the packet's memory must first migrate to be released.
    #[inline(always)]
    fn complete(&mut self, cpu: CpuId, now: Nanos) -> Option<Finished> {
        let Running { packet, thread, situation, started, releasing } = *self.running.at(cpu);
        if F::SHARING && self.memory == Organisation::Global && !releasing && self.residency.write_pool(cpu) {
            self.running.at(cpu).releasing = true;
            let release = self.on(cpu, self.model.release_overhead());
            self.completions.restart_first(cpu, on_clock(now + release));
            return None;
        }
        let finished = Finished { packet, cpu, situation, started, ended: now };
        self.present -= 1;
        if F::EFFECTS {
            self.beyond.finished(&packet, now);
        }
        match self.dispatcher.finish(cpu, &packet, now) {
            Next::Continue(next, change) => {
                if let Some(change) = change {
                    self.report(cpu, change, now);
                }
                if self.many {
                    self.touch_waiting(cpu);
                }
                self.continue_with(cpu, thread, next, now);
            }
            Next::Stop => {
                if F::SHARING {
                    self.threads.give_back(thread);
                    self.residency.leave(cpu, now);
                } else {
                    self.residency.leave_private(cpu, now);
                }
                self.completions.finish_first(cpu);
                self.report(cpu, Change::Idle, now);
            }
        }
        Some(finished)
    }

    /// Tells the policy of a `change` at `cpu`: now, or after the staleness if there is one.
    #[inline]
    fn report(&mut self, cpu: CpuId, change: Change, now: Nanos) {
        if F::EFFECTS && self.staleness.0 > 0.0 {
            self.unreported.push_back(UnreportedCompletion { at: now + self.staleness, cpu, change });
        } else {
            self.dispatcher.observe(cpu, change);
        }
    }

    /// The policy learns what happened some time ago. A processor that turns out to be idle takes the next
    /// packet from its queue: the policy queued it there while it believed the processor to be busy.
    #[cold]
    fn see(&mut self, seen: UnreportedCompletion) {
        let UnreportedCompletion { at, cpu, change } = seen;
        self.dispatcher.observe(cpu, change);
        if change == Change::Idle
            && let Some(next) = self.dispatcher.take_over(cpu)
        {
            self.take_over(cpu, next, at);
        }
    }

    /// The idle `cpu` leaves its other work and starts on `packet`.
    #[inline(always)]
    fn take_over(&mut self, cpu: CpuId, packet: Packet, now: Nanos) {
        let thread = if F::SHARING { self.threads.take(cpu) } else { ThreadId(cpu.0) };
        let situation = self.situation(cpu, thread, &packet);
        let found = Found { situation, stream: packet.stream, cpu, bytes: packet.bytes };
        let bare = if !F::SHARING || self.private {
            self.model.receive_after(&found, self.residency.own_idle(cpu, now))
        } else {
            self.model.receive(&found, |level| self.residency.idle(cpu, level, now))
        };
        if F::SHARING {
            self.residency.enter(cpu);
        }
        let ends = self.serve(
            Running { packet, thread, situation, started: now, releasing: false },
            cpu,
            bare,
            true,
        );
        self.completions.start(cpu, ends);
    }

    /// `thread`, which has just finished a packet on `cpu`, continues with `packet`.
    #[inline(always)]
    fn continue_with(&mut self, cpu: CpuId, thread: ThreadId, packet: Packet, now: Nanos) {
        let situation = self.situation(cpu, thread, &packet);
        let found = Found { situation, stream: packet.stream, cpu, bytes: packet.bytes };
        let bare = self.model.receive_hot(&found);
        let ends = self.serve(
            Running { packet, thread, situation, started: now, releasing: false },
            cpu,
            bare,
            false,
        );
        self.completions.restart_first(cpu, ends);
    }

    #[inline(always)]
    fn situation(&mut self, cpu: CpuId, thread: ThreadId, packet: &Packet) -> Situation {
        let stack = self.dispatcher.stack(packet, cpu);
        let placement = PacketPlacement { stream: packet.stream, stack, thread, cpu };
        if packet.direction == Direction::Send {
            self.residency.start_sending(placement)
        } else {
            self.residency.start(placement)
        }
    }

    /// Starts the service of `running` on `cpu` and returns when it ends. The stack takes `bare`; pools and
    /// effects add to that. `idle` says whether the processor was idle before.
    #[inline(always)]
    fn serve(&mut self, running: Running, cpu: CpuId, bare: Nanos, idle: bool) -> Nanos {
        let now = running.started;
        let mut service = bare;
        if F::EFFECTS {
            let work = self.beyond.drawn(&running.packet, self.charges.work(&running.packet, bare));
            service = self.charges.service(&running.packet, work, idle, now, self.beyond.speed(cpu));
        }
        if F::SHARING && self.memory == Organisation::Global && self.residency.write_pool(cpu) {
            service += self.on(cpu, self.model.acquire_overhead());
        }
        *self.running.at(cpu) = running;
        on_clock(now + service)
    }

    /// The time that `cpu` takes for what takes `time` at speed 1.
    #[inline]
    fn on(&self, cpu: CpuId, time: Nanos) -> Nanos {
        if F::EFFECTS { time / self.beyond.speed(cpu) } else { time }
    }
}
