//! The lines of a plan for throughput or latency: what is set, why, and what that gains.

use super::context::{Assignment, Context, Proposal};
use super::device_queues::{self, DeviceQueue, Steering};
use super::gain::{Gain, Packets, Unpriced};
use super::layout::{Crossing, Layout};
use super::line::{self, PlannedLine};
use super::sending;
use super::target_threads::TargetThread;
use warmcore_linux::inventory::Interface;
use warmcore_linux::tuning::Setting;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// The flows that RFS remembers for the whole machine: what the kernel's documentation suggests for
/// a moderately loaded server (`Documentation/networking/scaling.rst`, "RFS Configuration").
const FLOWS: u32 = 32_768;

/// Every setting of the placement, in the order in which it is applied.
pub(super) fn lines(context: &Context<'_>, proposal: &Proposal) -> Vec<PlannedLine> {
    let builder = Lines {
        context,
        assignment: &proposal.assignment,
        current: &context.current,
        proposed: &proposal.layout,
    };
    let mut lines: Vec<PlannedLine> = builder.default_interrupt().into_iter().collect();
    lines.extend(builder.readers());
    lines.extend(builder.global_flows());
    lines.extend(builder.accelerated_steering());
    for index in 0..context.queues.len() {
        lines.extend(builder.steering(index));
        lines.extend(builder.interrupts(index));
    }
    lines.extend(sending::lines(context, &proposal.assignment));
    lines
}

struct Lines<'a> {
    context: &'a Context<'a>,
    assignment: &'a Assignment,
    current: &'a Layout,
    proposed: &'a Layout,
}

impl Lines<'_> {
    /// The gain for `packets` of crossing `then` instead of `now`.
    fn gain(&self, packets: Packets, now: Crossing, then: Crossing) -> Gain {
        match &self.context.costs {
            Ok(costs) => {
                let (part, unpriced) = (costs.saving(now, then), Unpriced::new(now, then));
                match costs.saved_time(now, then) {
                    Some(time) => Gain::SavesTime(packets, time, part, unpriced),
                    None => Gain::Saves(packets, part, unpriced),
                }
            }
            Err(why) => Gain::Unknown(why.to_string()),
        }
    }

    /// The gain of the whole plan.
    fn gain_of_plan(&self) -> Gain {
        self.gain(Packets::All, self.current.crossing, self.proposed.crossing)
    }

    /// The gain of the whole plan for the packets of the queue at `index`.
    fn gain_of_queue(&self, index: usize) -> Gain {
        let [now, then] = [self.current, self.proposed].map(|layout| layout.queue_crossings[index]);
        self.gain(Packets::OfQueue, now, then)
    }

    /// The gain of moving the threads at `indices`, when all else is done.
    fn gain_of_readers(&self, indices: &[usize]) -> Gain {
        let mut without = self.assignment.clone();
        for &index in indices {
            without.threads[index].clone_from(&self.context.threads[index].current);
        }
        let without = self.context.propose(without).layout;
        self.gain(Packets::All, without.crossing, self.proposed.crossing)
    }

    /// The size of the machine's flow table, where packets follow their readers.
    fn global_flows(&self) -> Option<PlannedLine> {
        let follows = self.assignment.steering.contains(&Steering::ToReader);
        let from = self.context.picture.rfs_flows.filter(|_| follows)?;
        let flows = u32::try_from(from).ok().filter(|&flows| flows >= FLOWS && flows.is_power_of_two());
        let flows = flows.unwrap_or(FLOWS);
        let reason = "packets follow their readers only where flows are remembered".to_owned();
        let from = (from.to_string(), from != u64::from(flows));
        let gain = self.gain_of_plan();
        Some(PlannedLine::new(Setting::GlobalFlows { flows }, from, flows.to_string(), reason, gain))
    }

    /// Ntuple filters, where packets follow their readers: a card that can then delivers a flow to the queue of its
    /// reader's cpu (accelerated RFS).
    fn accelerated_steering(&self) -> Vec<PlannedLine> {
        let follows = self.context.queues.iter().zip(&self.assignment.steering);
        let follows = follows.filter(|(_, steering)| **steering == Steering::ToReader);
        let mut interfaces: Vec<&Interface> = follows.map(|(queue, _)| queue.interface).collect();
        interfaces.dedup_by_key(|interface| &interface.name);
        let can = |interface: &&Interface| {
            let features = interface.driver_settings.as_ref().map(|settings| settings.features);
            features.and_then(|features| features.ntuple).is_some_and(|ntuple| !ntuple.on && !ntuple.fixed)
        };
        let line = |interface: &Interface| {
            let set = Setting::Ntuple { interface: interface.name.clone(), on: true };
            let reason = "a card that can then delivers flows to the queues of their readers".to_owned();
            let gain = Gain::Unknown("no file tells whether the driver can (accelerated RFS)".to_owned());
            PlannedLine::new(set, ("0".to_owned(), true), "1".to_owned(), reason, gain)
        };
        interfaces.into_iter().filter(can).map(line).collect()
    }

    /// Interrupts that are requested later, where some cores are for interrupts.
    fn default_interrupt(&self) -> Option<PlannedLine> {
        self.context.request.interrupt_cores?;
        let from = self.context.picture.default_affinity.as_ref()?;
        let cpus: CpuSet = self.assignment.queues.iter().copied().collect();
        let cpus = self.context.pool.cores_of(&cpus).difference(&self.context.pool.reserved);
        let (from, to) = ((line::named(from), *from != cpus), line::named(&cpus));
        let reason = "interrupts that are requested later go to the cores for interrupts".to_owned();
        let gain = Gain::Unknown("nobody knows which will come".to_owned());
        Some(PlannedLine::new(Setting::DefaultInterrupt { cpus }, from, to, reason, gain))
    }

    /// Which cpus process the packets of the queue at `index`, where that changes.
    fn steering(&self, index: usize) -> Vec<PlannedLine> {
        let queue = &self.context.queues[index];
        let follows_moved = self.assignment.steering[index] == Steering::ToReader && self.moves_readers();
        if self.assignment.steering[index] == queue.steering && !follows_moved {
            return Vec::new();
        }
        let gain = || self.gain_of_queue(index);
        let (cpus, why) = match &self.assignment.steering[index] {
            Steering::ToReader => return self.steering_to_readers(index),
            Steering::Spread(cpus) => (cpus.clone(), self.shortage(self.assignment.queues[index])),
            Steering::None => {
                (CpuSet::default(), "packets stay on the cpu that the device interrupts".to_owned())
            }
        };
        // The kernel looks for a flow's reader first, with RPS or without.
        let follows = queue.steering == Steering::ToReader;
        let off =
            follows.then(|| line::rfs(queue, 0, "packets no longer follow their readers".to_owned(), gain()));
        off.flatten().into_iter().chain(line::rps(queue, cpus, why, gain())).collect()
    }

    /// Why packets of the queue at `index` are spread over `cpus`.
    fn shortage(&self, cpu: CpuId) -> String {
        let times = self.context.queue_times().into_iter().zip(&self.assignment.queues);
        let time: f64 = times.filter(|(_, on)| **on == cpu).map(|(time, _)| time).sum();
        format!(
            "the packets that interrupt cpu {} take {:.0}% of a cpu: the cores near their device share them",
            cpu.0,
            time * 100.0
        )
    }

    fn steering_to_readers(&self, index: usize) -> Vec<PlannedLine> {
        let queue = &self.context.queues[index];
        let flows = FLOWS / (self.queues_of_interface(queue).count() as u32).next_power_of_two();
        let why = match self.context.costs {
            Ok(_) => "a frame costs less to move than what readers share with the protocol",
            Err(_) => "there are fewer queues than cpus with readers",
        };
        let why = format!("packets follow their readers: {why}");
        // RFS needs no RPS: packets of flows that nobody reads stay where they are processed now.
        line::rfs(queue, flows.max(1), why, self.gain_of_queue(index)).into_iter().collect()
    }

    /// The indices of the queues of the interface of `queue`.
    fn queues_of_interface(&self, queue: &DeviceQueue<'_>) -> impl Iterator<Item = usize> {
        let all = self.context.queues.iter().enumerate();
        all.filter(|(_, other)| other.interface.name == queue.interface.name).map(|(index, _)| index)
    }

    /// The interrupt of the queue at `index`, and that of the transmit queue with its number.
    fn interrupts(&self, index: usize) -> Vec<PlannedLine> {
        let queue = &self.context.queues[index];
        let cpu = self.assignment.queues[index];
        let cpus = CpuSet::from_iter([cpu]);
        // What its user keeps on a reserved cpu is no business of the plan.
        let is_kept_apart = cpu == queue.current_cpu && self.context.pool.reserved.contains(cpu);
        let own = (queue.is_movable() && !is_kept_apart).then(|| {
            let reason = format!("to cpu {}, {}", cpu.0, self.assignment.why);
            line::interrupt(queue.interrupt, cpus.clone(), reason, self.gain_of_queue(index))
        });
        let transmit = device_queues::transmit_interrupt(self.context.picture, queue)
            .filter(|_| !is_kept_apart)
            .and_then(|interrupt| {
                let reason = "with the receive queue of its number, whose connections it answers".to_owned();
                line::interrupt(interrupt, cpus, reason, sending::no_costs())
            });
        own.flatten().into_iter().chain(transmit).collect()
    }

    fn moves_readers(&self) -> bool {
        let mut readers = self.context.threads.iter().zip(&self.assignment.threads);
        readers.any(|(thread, cpus)| thread.current != *cpus)
    }

    /// The lines of readers: one for each process whose threads go to the same cpus, or one for each thread.
    fn readers(&self) -> Vec<PlannedLine> {
        let mut lines: Vec<(PlannedLine, Vec<usize>)> = Vec::new();
        for (index, thread) in self.context.threads.iter().enumerate() {
            let cpus = &self.assignment.threads[index];
            if thread.dedicated || *cpus == thread.current {
                continue;
            }
            let as_process = thread.stands_for_process && !self.context.request.pin;
            let reason = self.reason_of_move(thread, cpus);
            let line = line::reader(thread, as_process, cpus.clone(), reason, Gain::Already);
            match lines.iter_mut().find(|(earlier, _)| earlier.set == line.set) {
                Some((_, threads)) => threads.push(index),
                None => lines.push((line, vec![index])),
            }
        }
        let with_gain = |(line, threads): (PlannedLine, Vec<usize>)| match line.changes {
            true => PlannedLine { gain: self.gain_of_readers(&threads), ..line },
            false => line,
        };
        lines.into_iter().map(with_gain).collect()
    }

    /// Why `thread` gets `cpus`.
    fn reason_of_move(&self, thread: &TargetThread<'_>, cpus: &CpuSet) -> String {
        let interrupts: CpuSet = self.assignment.queues.iter().copied().collect();
        let interrupts = self.context.pool.cores_of(&interrupts);
        let loses_only_interrupts = || thread.current.difference(cpus).difference(&interrupts).is_empty();
        if self.context.request.interrupt_cores.is_some() && loses_only_interrupts() {
            return "away from the cores for interrupts".to_owned();
        }
        let node = cpus.first().and_then(|cpu| self.context.pool.get(cpu)).map(|cpu| cpu.node);
        let is_near =
            |queue: &&DeviceQueue<'_>| queue.interface.node.is_some() && queue.interface.node == node;
        let near = || self.context.queues.iter().filter(is_near);
        match (cpus.first(), near().next()) {
            (Some(cpu), _) if cpus.len() == 1 && self.assignment.queues.contains(&cpu) => {
                format!("cpu {} takes in packets, of which a part is for it", cpu.0)
            }
            (Some(cpu), _) if self.context.request.pin => format!("cpu {} alone, as --pin asks", cpu.0),
            (_, Some(queue)) => format!(
                "to the node of {}, where {:.0}% of the packets arrive: it may run on others now",
                queue.interface.name,
                near().map(|queue| queue.part).sum::<f64>() * 100.0
            ),
            (_, None) => "to cores that have time left".to_owned(),
        }
    }
}
