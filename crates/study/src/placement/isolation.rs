//! Everything else moved away from the cpus of the target threads.
//!
//! Interrupts, the packets of other programs and other busy threads leave the cores of the target
//! threads, including their second hardware threads. They go to the nearest cores that are left.

use super::context::{Assignment, Context, Proposal};
use super::device_queues::{DeviceQueue, Steering};
use super::gain::Gain;
use super::layout::Crossing;
use super::line::{self, PlannedLine};
use super::prices::Prices;
use super::target_threads::{self, TargetThread};
use super::{Unplaceable, interrupts, queues, sending, spread, threads};
use std::collections::BTreeSet;
use warmcore_linux::inventory::Interrupt;
use warmcore_linux::tuning::Setting;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos};

/// Chooses where everything goes, with the lines that move it there.
pub(super) fn choose(context: &Context<'_>) -> Result<(Proposal, Vec<PlannedLine>), Unplaceable> {
    if context.threads.is_empty() {
        return Err(match context.request.interfaces {
            [] => Unplaceable::NobodyToIsolate,
            _ => Unplaceable::ReadersNotSought,
        });
    }
    let threads = masks(context, &cpus(context));
    let isolation = Isolation::new(context, &threads);
    if isolation.outside.is_empty() {
        return Err(Unplaceable::NothingLeft);
    }
    let assignment = Assignment {
        threads,
        queues: isolation.queues(),
        steering: context.queues.iter().map(|queue| isolation.steering(queue)).collect(),
        why: String::new(),
    };
    let lines = isolation.lines(&assignment);
    Ok((context.propose(assignment), lines))
}

/// The cpu of each thread: on the node that most packets arrive at, where they are readers and leave a core of it for
/// the packets.
fn cpus(context: &Context<'_>) -> Vec<CpuId> {
    let choose = |node: Option<u32>| {
        let choose = if context.request.pin { threads::choose } else { threads::share_cores };
        choose(&context.pool, context.request.goal, &context.threads, &context.queues, node)
    };
    let near = threads::busiest_node(&context.queues).filter(|_| are_readers(context));
    let chosen = choose(near);
    let private = context.pool.cores_of(&chosen.iter().copied().collect());
    let has_room =
        |node: u32| context.pool.available().any(|cpu| cpu.node == node && !private.contains(cpu.id));
    if near.is_none_or(has_room) { chosen } else { choose(None) }
}

/// Whether every process of the threads was seen to receive packets: others do not care where the cards are.
fn are_readers(context: &Context<'_>) -> bool {
    let receives = |pid: u32| context.rates.is_some_and(|rates| rates.receives(pid));
    context.threads.iter().all(|thread| receives(thread.thread.key.pid))
}

/// The cpus of each thread: those chosen for its process or control group together, or with `--pin` its own.
fn masks(context: &Context<'_>, chosen: &[CpuId]) -> Vec<CpuSet> {
    let mask = |(thread, &own): (&TargetThread<'_>, &CpuId)| {
        if thread.dedicated {
            return thread.current.clone();
        }
        if context.request.pin || !thread.stands_for_process {
            return CpuSet::from_iter([own]);
        }
        let together = |other: &TargetThread<'_>| match thread.cpuset {
            Some(_) => other.cpuset == thread.cpuset,
            None => other.thread.key.pid == thread.thread.key.pid,
        };
        let own = context.threads.iter().zip(chosen).filter(|(other, _)| together(other));
        let cpus = context
            .pool
            .cores_of(&own.map(|(_, &cpu)| cpu).collect())
            .intersection(&thread.permitted)
            .intersection(&thread.current);
        // A core may have a hardware thread that its user keeps apart.
        let cpus = cpus.difference(&context.pool.reserved);
        if cpus.is_empty() { thread.current.clone() } else { cpus }
    };
    context.threads.iter().zip(chosen).map(mask).collect()
}

/// Who stays on the cpus of the target threads under `assignment`: busy programs of others that may run nowhere else. Each
/// with the cpus that it is kept to.
pub(super) fn unmoved(context: &Context<'_>, assignment: &Assignment) -> BTreeSet<String> {
    let isolation = Isolation::new(context, &assignment.threads);
    let others = isolation.others().into_iter().filter(|other| isolation.left(other).is_none());
    others.map(|other| format!("{} ({})", other.thread.process, line::named(&other.current))).collect()
}

struct Isolation<'a> {
    context: &'a Context<'a>,
    /// All cpus of the cores of the target threads.
    private: CpuSet,
    /// The cpus that are left.
    outside: CpuSet,
    /// Those of them that are nearest.
    nearest: Vec<CpuId>,
}

impl<'a> Isolation<'a> {
    /// With target threads on `threads`.
    fn new(context: &'a Context<'a>, threads: &[CpuSet]) -> Self {
        let pool = &context.pool;
        let private = pool.cores_of(&threads.iter().flat_map(CpuSet::iter).collect());
        let outside = pool.available().map(|cpu| cpu.id).filter(|&cpu| !private.contains(cpu)).collect();
        let nearest = queues::neighbours(pool, &private).iter().map(|cpu| cpu.id).collect();
        Self { context, private, outside, nearest }
    }

    /// The cpu of each queue: a free core near its card, the nearest to the target threads first, if it is on a private
    /// cpu or far from its card; its current one otherwise.
    fn queues(&self) -> Vec<CpuId> {
        let pool = &self.context.pool;
        let is_fast = |cpu: &CpuId| pool.get(*cpu).is_some_and(|cpu| !cpu.slow);
        let fast: CpuSet = self.outside.iter().filter(is_fast).collect();
        let only = if fast.is_empty() { &self.outside } else { &fast };
        let leaves = |queue: &DeviceQueue<'_>| {
            let is_misplaced = self.is_private(queue.current_cpu) || self.could_be_nearer(queue);
            is_misplaced && queue.is_movable()
        };
        spread::moved(self.context, core::slice::from_ref(&self.private), only, leaves)
    }

    /// Whether the card of `queue` is on another node than its interrupt, and that node has a free cpu.
    fn could_be_nearer(&self, queue: &DeviceQueue<'_>) -> bool {
        let node = |cpu: CpuId| self.context.pool.get(cpu).map(|cpu| cpu.node);
        let is_free = |card: u32| self.outside.iter().any(|cpu| node(cpu) == Some(card));
        // What its user keeps on a reserved cpu stays there.
        let is_kept_apart = self.context.pool.reserved.contains(queue.current_cpu);
        let card = queue.interface.node.filter(|_| !is_kept_apart);
        card.is_some_and(|card| node(queue.current_cpu) != Some(card) && is_free(card))
    }

    fn is_private(&self, cpu: CpuId) -> bool {
        self.private.contains(cpu)
    }

    /// Packets no longer follow their readers, which would bring them to the private cpus. Packets that
    /// are spread over some private cpus are spread over the remaining ones.
    fn steering(&self, queue: &DeviceQueue<'_>) -> Steering {
        let Steering::Spread(cpus) = &queue.steering else { return Steering::None };
        if cpus.intersection(&self.private).is_empty() {
            return queue.steering.clone();
        }
        let left = cpus.intersection(&self.outside);
        if left.is_empty() { Steering::None } else { Steering::Spread(left) }
    }

    fn lines(&self, assignment: &Assignment) -> Vec<PlannedLine> {
        let mut lines: Vec<PlannedLine> = self.default_interrupt().into_iter().collect();
        for (index, queue) in self.context.queues.iter().enumerate() {
            lines.extend(self.steering_lines(queue, &assignment.steering[index]));
            if assignment.queues[index] != queue.current_cpu {
                lines.extend(self.interrupt(queue, assignment.queues[index]));
            }
        }
        lines.extend(sending::lines(self.context, assignment));
        lines.extend(self.other_interrupts().filter_map(|interrupt| self.other_interrupt(interrupt)));
        lines.extend(self.others().iter().filter_map(|other| self.other_process(other)));
        for (thread, cpus) in self.context.threads.iter().zip(&assignment.threads) {
            let line = self.target(thread, cpus.clone());
            if !lines.iter().any(|earlier| earlier.set == line.set) {
                lines.push(line);
            }
        }
        lines
    }

    fn interrupt(&self, queue: &DeviceQueue<'_>, cpu: CpuId) -> Option<PlannedLine> {
        let (reason, gain) = match self.is_private(queue.current_cpu) {
            true => (away(), self.freed_by_interrupt(queue)),
            false => (
                format!("to the node of {}: its packets came in on another one", queue.interface.name),
                Gain::Unknown("a profile holds no price of the way to another node".to_owned()),
            ),
        };
        line::interrupt(queue.interrupt, CpuSet::from_iter([cpu]), reason, gain)
    }

    fn target(&self, thread: &TargetThread<'_>, cpus: CpuSet) -> PlannedLine {
        let reason = match thread.dedicated {
            true => "its user keeps these cpus for it",
            false => "the cores that everything else leaves",
        };
        let gain = Gain::Unknown("what the other lines take away from there is its gain".to_owned());
        let as_process = thread.stands_for_process && !thread.dedicated && !self.context.request.pin;
        line::reader(thread, as_process, cpus, reason.to_owned(), gain)
    }

    fn default_interrupt(&self) -> Option<PlannedLine> {
        let from = self.context.picture.default_affinity.as_ref()?;
        let rest = from.difference(&self.private).difference(&self.context.pool.reserved);
        let cpus = if rest.is_empty() { self.outside.clone() } else { rest };
        let (from, to) = ((line::named(from), from != &cpus), line::named(&cpus));
        let reason = "interrupts that are requested later are to stay away too".to_owned();
        let gain = Gain::Unknown("nobody knows which will come".to_owned());
        Some(PlannedLine::new(Setting::DefaultInterrupt { cpus }, from, to, reason, gain))
    }

    /// The lines that set the steering of `queue`, where it changes.
    fn steering_lines(&self, queue: &DeviceQueue<'_>, proposed: &Steering) -> Vec<PlannedLine> {
        let gain = || self.freed_by_steering(queue);
        let spread = match proposed {
            Steering::Spread(cpus) => cpus.clone(),
            _ => CpuSet::default(),
        };
        let is_private = |cpus: &CpuSet| !cpus.intersection(&self.private).is_empty();
        let reason = match queue.receive().and_then(|receive| receive.rps.as_ref()).is_some_and(is_private) {
            true => away(),
            false => "packets stay on the cpu that the device interrupts".to_owned(),
        };
        let off = (queue.steering == Steering::ToReader)
            .then(|| line::rfs(queue, 0, "packets would follow their readers there".to_owned(), gain()));
        let off = off.flatten();
        let gain = match off {
            Some(_) => Gain::Unknown("it is counted with the line before".to_owned()),
            None => gain(),
        };
        let rps = line::rps(queue, spread, reason, gain).filter(|line| line.changes);
        off.into_iter().chain(rps).collect()
    }

    /// The time that the interrupt of `queue` takes of a private cpu: that of its packets, if that cpu processes them, and of
    /// handing them over otherwise.
    fn freed_by_interrupt(&self, queue: &DeviceQueue<'_>) -> Gain {
        let price = match queue.steering {
            Steering::None => |prices: Prices| prices.processing(Crossing::default()),
            _ => |prices: Prices| prices.frame,
        };
        self.freed(queue, (1.0, 1), price)
    }

    /// The time that packets of `queue` take of private cpus because of its steering.
    fn freed_by_steering(&self, queue: &DeviceQueue<'_>) -> Gain {
        let private = match &queue.steering {
            Steering::None => (0.0, 0),
            Steering::Spread(cpus) => {
                let private = cpus.intersection(&self.private).len();
                (private as f64 / cpus.len() as f64, private)
            }
            Steering::ToReader => (1.0, self.private.len()),
        };
        self.freed(queue, private, |prices| prices.processing(Crossing { frame: 1.0, ..Crossing::default() }))
    }

    /// The time of so many private cpus that is given back, at most all of it: a `price` for this `part` of the packets of
    /// `queue`.
    fn freed(
        &self,
        queue: &DeviceQueue<'_>,
        (part, cpus): (f64, usize),
        price: impl Fn(Prices) -> Nanos,
    ) -> Gain {
        match (&self.context.costs, self.context.rate) {
            (Err(why), _) => Gain::Unknown(why.to_string()),
            (_, None) => Gain::Unknown("nothing tells how many packets come; give --rate".to_owned()),
            (Ok(costs), Some(rate)) => {
                let packets = rate.0 * queue.part * part;
                Gain::Frees(costs.estimate(|prices| (price(prices).secs() * packets).min(cpus as f64)))
            }
        }
    }

    /// Interrupts of other devices and of transmit queues that may be handled on private cpus.
    fn other_interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        let is_queue = |interrupt: &Interrupt| {
            self.context.queues.iter().any(|queue| queue.interrupt.id == interrupt.id)
        };
        self.context.picture.interrupts.iter().filter(move |interrupt| {
            interrupts::is_movable(interrupt)
                && !is_queue(interrupt)
                && self.overlaps_private(interrupt.allowed.as_ref())
        })
    }

    fn overlaps_private(&self, cpus: Option<&CpuSet>) -> bool {
        cpus.is_some_and(|cpus| !cpus.intersection(&self.private).is_empty())
    }

    fn other_interrupt(&self, interrupt: &Interrupt) -> Option<PlannedLine> {
        let rest = interrupt.allowed.as_ref()?.difference(&self.private).intersection(&self.outside);
        let cpus = if rest.is_empty() { self.nearest.iter().copied().collect() } else { rest };
        let gain = Gain::Unknown("a profile holds no costs of this interrupt".to_owned());
        line::interrupt(interrupt, cpus, away(), gain)
    }

    /// The busy threads of other users' processes that may run on private cpus: one for each process, or each of its
    /// threads where it places them itself.
    fn others(&self) -> Vec<TargetThread<'a>> {
        let picture = self.context.picture;
        let is_target = |pid: u32| self.context.threads.iter().any(|target| target.thread.key.pid == pid);
        let mut seen = BTreeSet::new();
        let others = picture.threads.iter().filter(|thread| {
            target_threads::is_placeable(picture, thread)
                && target_threads::is_busy(self.context.rates, thread)
                && !is_target(thread.key.pid)
                && self.overlaps_private(thread.allowed.as_ref())
        });
        let others = others
            .filter_map(|thread| TargetThread::new(self.context.observed, &self.context.pool, thread))
            .filter(|other| !other.stands_for_process || seen.insert(other.thread.key.pid));
        others.collect()
    }

    /// The cpus of its own that are left to `other`; `None` where there are none: its user keeps it here.
    fn left(&self, other: &TargetThread<'_>) -> Option<CpuSet> {
        let left = other.current.intersection(&self.outside);
        (!left.is_empty()).then_some(left)
    }

    fn other_process(&self, other: &TargetThread<'_>) -> Option<PlannedLine> {
        let cpus = self.left(other)?;
        let gain = match self.is_private(other.last_cpu()) {
            true => Gain::Unknown("it ran there last, and how often it would is not known".to_owned()),
            false => Gain::Unknown("it runs elsewhere now, and might come".to_owned()),
        };
        Some(line::reader(other, other.stands_for_process, cpus, away(), gain))
    }
}

fn away() -> String {
    "away from the cores of the threads meant".to_owned()
}
