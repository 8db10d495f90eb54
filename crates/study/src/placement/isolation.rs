//! Everything else moved away from the cpus of the target threads.
//!
//! Interrupts, the packets of other programs and other busy threads leave the cores of the target
//! threads, including their second hardware threads. They go to the nearest cores that are left.

use super::context::{Assignment, Context, Proposal};
use super::device_queues::{DeviceQueue, Steering};
use super::gain::Gain;
use super::layout::Crossing;
use super::line::{self, PlannedLine};
use super::target_threads::{self, TargetThread};
use super::{Unplaceable, interrupts, queues, threads};
use warmcore_linux::inventory::{Interrupt, Thread};
use warmcore_linux::tuning::Setting;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate, Nanos};

/// Chooses where everything goes, with the lines that move it there.
pub(super) fn choose(context: &Context<'_>) -> Result<(Proposal, Vec<PlannedLine>), Unplaceable> {
    let threads = threads::choose(&context.pool, context.goal, &context.threads, &context.queues);
    let private = context.pool.cores_of(&threads.iter().copied().collect());
    let outside: CpuSet =
        context.pool.available().map(|cpu| cpu.id).filter(|&cpu| !private.contains(cpu)).collect();
    if outside.is_empty() {
        return Err(Unplaceable::NothingLeft);
    }
    let nearest = queues::neighbours(&context.pool, &private).iter().map(|cpu| cpu.id).collect();
    let isolation = Isolation { context, private, outside, nearest };
    let assignment = Assignment {
        threads,
        queues: isolation.queues(),
        steering: context.queues.iter().map(|queue| isolation.steering(queue)).collect(),
        why: String::new(),
    };
    let lines = isolation.lines(&assignment);
    Ok((context.propose(assignment), lines))
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

impl Isolation<'_> {
    /// The cpu of each queue: its current one, or one of the nearest ones in turn.
    fn queues(&self) -> Vec<CpuId> {
        let mut turn = self.nearest.iter().copied().cycle();
        let cpu = |queue: &DeviceQueue<'_>| match self.is_private(queue.current_cpu) && queue.is_movable() {
            true => turn.next().unwrap_or(queue.current_cpu),
            false => queue.current_cpu,
        };
        self.context.queues.iter().map(cpu).collect()
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
                let cpus = CpuSet::from_iter([assignment.queues[index]]);
                lines.extend(line::interrupt(queue.interrupt, cpus, away(), self.freed_by_queue(queue)));
            }
        }
        lines.extend(self.other_interrupts().filter_map(|interrupt| self.other_interrupt(interrupt)));
        lines.extend(self.other_threads().filter_map(|thread| self.other_thread(thread)));
        let targets = self.context.threads.iter().zip(&assignment.threads);
        lines.extend(targets.map(|(thread, &cpu)| target_thread(thread, cpu)));
        lines
    }

    fn default_interrupt(&self) -> Option<PlannedLine> {
        let from = self.context.picture.default_affinity.as_ref()?;
        let rest = from.difference(&self.private);
        let cpus = if rest.is_empty() { self.outside.clone() } else { rest };
        let (from, to) = ((line::named(from), from != &cpus), line::named(&cpus));
        let reason = "interrupts that are requested later are to stay away too".to_owned();
        let gain = Gain::Unknown("nobody knows which will come".to_owned());
        Some(PlannedLine::new(Setting::DefaultInterrupt { cpus }, from, to, reason, gain))
    }

    /// The lines that set the steering of `queue`, where it changes.
    fn steering_lines(&self, queue: &DeviceQueue<'_>, proposed: &Steering) -> Vec<PlannedLine> {
        let gain = || self.freed_by_queue(queue);
        let spread = match proposed {
            Steering::Spread(cpus) => cpus.clone(),
            _ => CpuSet::default(),
        };
        let off = (queue.steering == Steering::ToReader)
            .then(|| line::rfs(queue, 0, "packets would follow their readers there".to_owned(), gain()));
        let rps = line::rps(queue, spread, away(), gain()).filter(|line| line.changes);
        off.flatten().into_iter().chain(rps).collect()
    }

    /// The time spent on processing the packets of `queue` where they are processed now.
    fn freed_by_queue(&self, queue: &DeviceQueue<'_>) -> Gain {
        match (&self.context.costs, self.context.rate) {
            (Err(why), _) => Gain::Unknown(why.to_string()),
            (_, None) => Gain::Unknown("nothing tells how many packets come; give --rate".to_owned()),
            (Ok(costs), Some(rate)) => {
                let cost = costs.packet(Crossing::default());
                let part = |time: Nanos| time.secs() * rate.0 * queue.part;
                Gain::Frees(Estimate { mean: part(cost.mean), half_width: cost.half_width.map(part) })
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

    /// Other busy threads of users that may run on private cpus.
    fn other_threads(&self) -> impl Iterator<Item = &Thread> {
        let is_target =
            |thread: &Thread| self.context.threads.iter().any(|target| target.thread.key == thread.key);
        let picture = self.context.picture;
        picture.threads.iter().filter(move |thread| {
            target_threads::is_placeable(picture, thread)
                && target_threads::is_busy(thread)
                && !is_target(thread)
                && self.overlaps_private(thread.allowed.as_ref())
        })
    }

    fn other_thread(&self, thread: &Thread) -> Option<PlannedLine> {
        let other = TargetThread::new(self.context.picture, &self.context.pool, thread)?;
        let allowed = thread.allowed.as_ref()?;
        let rest = [allowed, &other.permitted].map(|cpus| cpus.intersection(&self.outside));
        let cpus = rest.into_iter().find(|cpus| !cpus.is_empty())?;
        let gain = match self.is_private(thread.last_cpu) {
            true => self.freed_by_thread(thread),
            false => Gain::Unknown("it runs elsewhere now, and might come".to_owned()),
        };
        Some(line::thread(&other, cpus, away(), gain))
    }

    /// The cpu time that the kernel has counted for `thread`, to one tick.
    fn freed_by_thread(&self, thread: &Thread) -> Gain {
        const TICK: f64 = 0.01;
        match (thread.share, self.context.picture.uptime) {
            (Some(share), Some(uptime)) => Gain::Frees(Estimate::new(share, TICK / uptime.secs().max(TICK))),
            _ => Gain::Unknown("the kernel does not tell the time".to_owned()),
        }
    }
}

fn target_thread(thread: &TargetThread<'_>, cpu: CpuId) -> PlannedLine {
    if thread.dedicated {
        return line::dedicated_thread(thread);
    }
    let gain = Gain::Unknown("what the other lines take away from there is its gain".to_owned());
    line::thread(thread, CpuSet::from_iter([cpu]), "a core of its own".to_owned(), gain)
}

fn away() -> String {
    "away from the cores of the threads meant".to_owned()
}
