//! The processors of Salehi 1994, §3, event by event.
//!
//! Of events at the same time, what a policy learns late comes first, then completions (lowest processor
//! number first), then arrivals.

use super::caches::{Log, Start};
use super::locks::Locks;
use super::policies::{self, Chooser, home_of, stack_of};
use warmcore_costs::Situation;
use warmcore_policy::Request;
use warmcore_scenario::{Organisation, Parallelism, ProcessorPolicy, QueueRule, ThreadOrder};
use warmcore_sim::packet::{Finished, Packet, SimulatedHost};
use warmcore_units::{CpuId, Nanos, StackId, StreamId, ThreadId};
use warmcore_workload::Arrival;

/// Processes `arrivals` on `host`; returns the packets in the order in which they finish.
pub(crate) fn process(host: &SimulatedHost, arrivals: &[Arrival]) -> Vec<Finished> {
    let mut machine = Machine::new(host);
    for arrival in arrivals {
        let &Arrival { at, stream, packets, bytes, direction } = arrival;
        while let Some(event) = machine.next_event().filter(|event| event.at() <= at) {
            machine.happens(event);
        }
        for _ in 0..packets {
            machine.arrive(Packet { arrived: at, stream, bytes, direction });
        }
    }
    while let Some(event) = machine.next_event() {
        machine.happens(event);
    }
    assert!(machine.waiting.is_empty(), "nobody waits for ever");
    machine.finished
}

/// A time rounded as the simulator's clock rounds completions: without its last three bits.
fn shown(time: Nanos) -> Nanos {
    Nanos(f64::from_bits(time.0.to_bits() >> 3 << 3))
}

struct Machine<'h> {
    host: &'h SimulatedHost<'h>,
    chooser: Chooser,
    log: Log,
    jobs: Vec<Option<Job>>,
    /// Packets that have arrived and are not in service, in order of arrival.
    waiting: Vec<Waiting>,
    /// Idle threads in the order in which they became idle, if all share one pool.
    threads: Vec<ThreadId>,
    locks: Locks,
    /// Completions that the policy does not know yet, in order.
    news: Vec<News>,
    finished: Vec<Finished>,
}

/// A packet in service.
#[derive(Clone, Copy, Debug)]
struct Job {
    start: Start,
    situation: Situation,
    started: Nanos,
    ends: Nanos,
    /// The packet is processed, and its memory is being released after it had to migrate.
    releasing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// The queue of this processor, or the common queue if the policy has one.
    Line(CpuId),
    /// The queue of its stack, which is busy with another packet.
    Stack(StackId),
}

/// A processor has finished a packet, and is idle or works on the next packet of its own queue.
#[derive(Clone, Copy, Debug)]
struct News {
    at: Nanos,
    cpu: CpuId,
    idle: bool,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Learn(News),
    End(Job),
}

impl Event {
    const fn at(&self) -> Nanos {
        match self {
            Self::Learn(news) => news.at,
            Self::End(job) => job.ends,
        }
    }
}

impl<'h> Machine<'h> {
    fn new(host: &'h SimulatedHost<'h>) -> Self {
        let processors = host.shape.processors;
        Self {
            host,
            chooser: Chooser::new(host),
            log: Log::default(),
            jobs: vec![None; processors as usize],
            waiting: Vec::new(),
            threads: (0..processors).map(ThreadId).collect(),
            locks: Locks::default(),
            news: Vec::new(),
            finished: Vec::new(),
        }
    }

    fn next_event(&self) -> Option<Event> {
        let news = self.news.iter().map(|&news| Event::Learn(news));
        let ends = self.jobs.iter().flatten().map(|&job| Event::End(job));
        // Of equal times this takes the first.
        news.chain(ends).min_by(|a, b| a.at().total_cmp(&b.at()))
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Learn(news) => self.learn(news),
            Event::End(job) => self.end(job),
        }
        self.look();
    }

    fn arrive(&mut self, packet: Packet) {
        let request = self.request(&packet);
        if self.is_busy(request.stack) {
            self.chooser.joins(request);
            self.waiting.push(Waiting { packet, place: Place::Stack(request.stack) });
            return;
        }
        let in_lines = self.waiting.iter().filter(|other| matches!(other.place, Place::Line(_))).count();
        match self.chooser.place(request, in_lines) {
            policies::Place::Run(cpu) => {
                // Packets are served in order of arrival, even if it is this packet that makes a processor
                // start.
                self.waiting.push(Waiting { packet, place: Place::Line(cpu) });
                self.turn_to_next(cpu, packet.arrived);
            }
            policies::Place::Wait(at) => self.waiting.push(Waiting { packet, place: Place::Line(at) }),
        }
        self.look();
    }

    /// What the policy sees of `packet`.
    fn request(&self, packet: &Packet) -> Request {
        let home = home_of(self.host, packet);
        Request {
            now: packet.arrived,
            stream: packet.stream,
            stack: stack_of(self.host, packet).unwrap_or(StackId(home.0)),
            home,
            last: self.log.last_of_stream(packet),
        }
    }

    /// Whether `stack` works on a packet or waits for a processor. Only independent stacks work on one packet
    /// at a time.
    fn is_busy(&self, stack: StackId) -> bool {
        self.host.scheduling.approach == Parallelism::Ips
            && (self.jobs.iter().flatten().any(|job| job.start.stack == stack)
                || self.waiting.iter().any(|other| {
                    matches!(other.place, Place::Line(_)) && stack_of(self.host, &other.packet) == Some(stack)
                }))
    }

    /// The service of `job` ends, unless its memory must first migrate to be released.
    fn end(&mut self, job: Job) {
        let Job { start: Start { packet, cpu, thread, .. }, situation, started, ends, releasing } = job;
        let global_memory = self.host.scheduling.memory == Organisation::Global;
        if global_memory && !releasing && self.log.access_pool(self.host, cpu) {
            let ends = shown(ends + self.host.model.release_overhead());
            self.jobs[cpu.index()] = Some(Job { ends, releasing: true, ..job });
            return;
        }
        self.finished.push(Finished { packet, cpu, situation, started, ended: ends });
        self.jobs[cpu.index()] = None;
        if let Some(next) = self.take_of_stack(&job.start) {
            self.serve(cpu, next, thread, ends, true);
        } else if let Some(next) = self.take_of_line(cpu, Some(packet.stream)) {
            self.serve(cpu, next, thread, ends, true);
            if !self.has_common_queue() {
                self.tell(cpu, false, ends);
            }
        } else if let Some(next) = self.steal() {
            self.serve(cpu, next, thread, ends, true);
        } else {
            self.threads.push(thread);
            self.log.stop(cpu, ends);
            self.tell(cpu, true, ends);
        }
    }

    /// Tells the policy of a completion on `cpu`: now, or after the staleness if there is one.
    fn tell(&mut self, cpu: CpuId, idle: bool, now: Nanos) {
        let delay = self.host.effects.staleness();
        if delay > Nanos::ZERO {
            self.news.push(News { at: now + delay, cpu, idle });
        } else if idle {
            self.chooser.stops(cpu);
        }
    }

    /// The policy learns of a completion some time ago. A processor that now becomes idle to the policy may
    /// have been given work in the meantime, when it was believed busy.
    fn learn(&mut self, news: News) {
        self.news.remove(0);
        self.look();
        if news.idle {
            self.chooser.stops(news.cpu);
            self.turn_to_next(news.cpu, news.at);
        }
    }

    /// The idle `cpu` starts on the next packet, if there is one for it.
    fn turn_to_next(&mut self, cpu: CpuId, now: Nanos) {
        let Some(next) = self.take_of_line(cpu, None).or_else(|| self.steal()) else { return };
        self.chooser.starts(cpu);
        let thread = self.thread_for(cpu);
        self.serve(cpu, next, thread, now, false);
    }

    fn take_of_stack(&mut self, last: &Start) -> Option<Packet> {
        self.take(|other| other.place == Place::Stack(last.stack))
    }

    fn take_of_line(&mut self, cpu: CpuId, last: Option<StreamId>) -> Option<Packet> {
        let common = self.has_common_queue();
        let in_line = |other: &Waiting| match other.place {
            Place::Line(at) => common || at == cpu,
            Place::Stack(_) => false,
        };
        let same_first = self.host.scheduling.queue == QueueRule::SameStreamFirst;
        if let Some(last) = last.filter(|_| same_first)
            && let Some(packet) = self.take(|other| in_line(other) && other.packet.stream == last)
        {
            return Some(packet);
        }
        self.take(in_line)
    }

    fn steal(&mut self) -> Option<Packet> {
        let victim = self.chooser.victim()?;
        self.take(|other| other.place == Place::Line(victim))
    }

    /// Takes the first waiting packet, in order of arrival, that satisfies `like`.
    fn take(&mut self, like: impl Fn(&Waiting) -> bool) -> Option<Packet> {
        let position = self.waiting.iter().position(like)?;
        Some(self.waiting.remove(position).packet)
    }

    fn thread_for(&mut self, cpu: CpuId) -> ThreadId {
        let scheduling = self.host.scheduling;
        let own = self.threads.iter().position(|&thread| thread.0 == cpu.0);
        let place = match (scheduling.threads, scheduling.thread_order) {
            (Organisation::PerProcessor, _) => own.expect("an idle processor's thread is idle"),
            (Organisation::Global, ThreadOrder::Mru) => self.threads.len() - 1,
            (Organisation::Global, ThreadOrder::Lru) => 0,
            (Organisation::Global, ThreadOrder::Opposite) => match scheduling.policy {
                ProcessorPolicy::Lru => self.threads.len() - 1,
                _ => 0,
            },
        };
        self.threads.remove(place)
    }

    /// Starts the service of `packet` on `cpu`. It `continues` if it follows another packet directly.
    fn serve(&mut self, cpu: CpuId, packet: Packet, thread: ThreadId, now: Nanos, continues: bool) {
        let stack = stack_of(self.host, &packet).unwrap_or(StackId(cpu.0));
        let start = Start { packet, stack, thread, cpu };
        let situation = self.log.start(self.host, start);
        let path = if continues {
            self.host.model.receive_hot(situation)
        } else if self.host.model.is_private() {
            self.host.model.receive_after(situation, self.log.idle(&[cpu], now))
        } else {
            self.host.model.receive(situation, |level| self.idle(cpu, level, now))
        };
        let mut service = self.locks.service(self.host, &packet, path, continues, now);
        if self.host.scheduling.memory == Organisation::Global && self.log.access_pool(self.host, cpu) {
            service += self.host.model.acquire_overhead();
        }
        let job = Job { start, situation, started: now, ends: shown(now + service), releasing: false };
        self.jobs[cpu.index()] = Some(job);
    }

    /// How long cache level `level` of the idle `cpu` has seen no protocol code by `now`.
    fn idle(&self, cpu: CpuId, level: usize, now: Nanos) -> Nanos {
        let sharers = self.host.model.sharers().nth(level).expect("a level of the model");
        let domain = cpu.0 / sharers;
        let cpus = (0..self.host.shape.processors).filter(|other| other / sharers == domain);
        let cpus: Vec<CpuId> = cpus.map(CpuId).collect();
        let running = cpus.iter().any(|other| self.jobs[other.index()].is_some());
        if running { Nanos::ZERO } else { self.log.idle(&cpus, now) }
    }

    fn has_common_queue(&self) -> bool {
        use ProcessorPolicy::{CentralQueue, Lru, Mru, Patient, WiredStreams};
        match self.host.scheduling.policy {
            Mru | Lru | CentralQueue | Patient => true,
            WiredStreams => self.host.scheduling.approach == Parallelism::Hybrid,
            _ => false,
        }
    }

    /// Updates the number of packets that the policy sees at each processor. Packets that have left count
    /// until the policy knows.
    fn look(&mut self) {
        let common = self.has_common_queue();
        let load = |cpu: CpuId| {
            let in_service = usize::from(self.jobs[cpu.index()].is_some());
            let in_line =
                self.waiting.iter().filter(|other| !common && other.place == Place::Line(cpu)).count();
            in_service + in_line + self.news.iter().filter(|news| news.cpu == cpu).count()
        };
        let loads: Vec<usize> = (0..self.jobs.len()).map(|cpu| load(CpuId::from(cpu))).collect();
        self.chooser.see(&loads);
    }
}
