//! The lines of a plan for throughput or latency: what is set, why, and what that gains.

use super::context::{Assignment, Context, Proposal};
use super::device_queues::{self, DeviceQueue, Steering};
use super::gain::{Gain, Unpriced};
use super::layout::{Crossing, Layout};
use super::line::{self, PlannedLine};
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
    let mut lines: Vec<PlannedLine> = builder.global_flows().into_iter().collect();
    for index in 0..context.queues.len() {
        lines.extend(builder.steering(index));
        lines.extend(builder.interrupts(index));
        lines.extend(builder.sending(index));
    }
    lines.extend((0..context.threads.len()).map(|index| builder.thread(index)));
    lines
}

struct Lines<'a> {
    context: &'a Context<'a>,
    assignment: &'a Assignment,
    current: &'a Layout,
    proposed: &'a Layout,
}

impl Lines<'_> {
    /// The gain of going from the current layout to the proposed one, as far as `crossing` selects.
    fn gain(&self, crossing: impl Fn(&Layout) -> Crossing) -> Gain {
        let [now, then] = [self.current, self.proposed].map(crossing);
        match &self.context.costs {
            Ok(costs) => Gain::Saves(costs.saving(now, then), Unpriced::new(now, then)),
            Err(why) => Gain::Unknown(why.to_string()),
        }
    }

    fn gain_of_queue(&self, index: usize) -> Gain {
        self.gain(|layout| layout.queue_crossings[index])
    }

    /// The size of the machine's flow table, where packets follow their readers.
    fn global_flows(&self) -> Option<PlannedLine> {
        let follows = self.assignment.steering.contains(&Steering::ToReader);
        let from = self.context.picture.rfs_flows.filter(|_| follows)?;
        let flows = u32::try_from(from).ok().filter(|&flows| flows >= FLOWS && flows.is_power_of_two());
        let flows = flows.unwrap_or(FLOWS);
        let reason = "packets follow their readers only where flows are remembered".to_owned();
        let from = (from.to_string(), from != u64::from(flows));
        let gain = self.gain(|layout| layout.crossing);
        Some(PlannedLine::new(Setting::GlobalFlows { flows }, from, flows.to_string(), reason, gain))
    }

    /// Which cpus process the packets of the queue at `index`.
    fn steering(&self, index: usize) -> Vec<PlannedLine> {
        let queue = &self.context.queues[index];
        let gain = || self.gain_of_queue(index);
        match &self.assignment.steering[index] {
            Steering::ToReader => self.steering_to_readers(index),
            Steering::Spread(cpus) => {
                let why = "one cpu could not take in all packets of the queue".to_owned();
                line::rps(queue, cpus.clone(), why, gain()).into_iter().collect()
            }
            Steering::None => {
                let why = "packets stay on the cpu that the device interrupts".to_owned();
                let line = line::rps(queue, CpuSet::default(), why, gain());
                // For a queue whose interrupt has no line, this one says where its packets are processed.
                line.filter(|line| line.changes || !queue.is_movable()).into_iter().collect()
            }
        }
    }

    fn steering_to_readers(&self, index: usize) -> Vec<PlannedLine> {
        let queue = &self.context.queues[index];
        let flows = FLOWS / (self.queues_of_interface(queue).count() as u32).next_power_of_two();
        let share = "its share of the flows that are remembered".to_owned();
        let why = match self.context.costs {
            Ok(_) => "a frame costs less to move than what readers share with the protocol",
            Err(_) => "there are fewer queues than cpus with readers",
        };
        let why = format!("packets follow their readers: {why}");
        let cpus = self.assignment.threads.iter().copied().collect();
        let rfs = line::rfs(queue, flows.max(1), share, self.gain_of_queue(index));
        rfs.into_iter().chain(line::rps(queue, cpus, why, self.gain_of_queue(index))).collect()
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
        let own = queue.is_movable().then(|| {
            let reason = format!("to cpu {}, {}", cpu.0, self.assignment.why);
            line::interrupt(queue.interrupt, cpus.clone(), reason, self.gain_of_queue(index))
        });
        let transmit = device_queues::transmit_interrupt(self.context.picture, queue).and_then(|interrupt| {
            let reason = "with the receive queue of its number, whose connections it answers".to_owned();
            line::interrupt(interrupt, cpus, reason, no_costs_of_sending())
        });
        own.flatten().into_iter().chain(transmit).collect()
    }

    /// Which cpus send through the transmit queue with the number of the queue at `index` (XPS): the
    /// kernel then cleans up sent packets where they were sent.
    fn sending(&self, index: usize) -> Option<PlannedLine> {
        let queue = &self.context.queues[index];
        let transmit = queue.interface.transmit.iter().find(|transmit| transmit.number == queue.number)?;
        let from = transmit.xps.as_ref()?;
        let cpus = self.senders(index);
        let changes = *from != cpus && !cpus.is_empty();
        let (from, to) = ((line::named(from), changes), line::named(&cpus));
        let reason = "the cpus nearest to the queue's interrupt send through it".to_owned();
        let set = Setting::XpsCpus { interface: queue.interface.name.clone(), queue: transmit.number, cpus };
        changes.then(|| PlannedLine::new(set, from, to, reason, no_costs_of_sending()))
    }

    /// The cpus of threads that are to send through the queue at `index`. Each sends through the queue
    /// of the interface whose interrupt is nearest; among equally near queues they take turns.
    fn senders(&self, index: usize) -> CpuSet {
        let own: Vec<usize> = self.queues_of_interface(&self.context.queues[index]).collect();
        let distance = |queue: usize, cpu| {
            let interrupted = self.assignment.queues[queue];
            (interrupted != cpu, self.context.pool.distance(interrupted, cpu))
        };
        let mut cpus: Vec<CpuId> = self.assignment.threads.clone();
        cpus.sort_by_key(|&cpu| (self.context.pool.get(cpu), cpu));
        cpus.dedup();
        let sends = |(turn, cpu): &(usize, CpuId)| {
            let nearest = own.iter().map(|&queue| distance(queue, *cpu)).min();
            let near: Vec<usize> =
                own.iter().copied().filter(|&queue| Some(distance(queue, *cpu)) == nearest).collect();
            near.get(turn % near.len().max(1)) == Some(&index)
        };
        cpus.into_iter().enumerate().filter(sends).map(|(_, cpu)| cpu).collect()
    }

    fn thread(&self, index: usize) -> PlannedLine {
        let (thread, cpu) = (&self.context.threads[index], self.assignment.threads[index]);
        if thread.dedicated {
            return line::dedicated_thread(thread);
        }
        let reason = match cpu == thread.current_cpu() {
            true => "kept where it is, so that its packets find it there".to_owned(),
            false => self.reason_of_move(cpu),
        };
        let gain = self.gain(|layout| layout.thread_crossings[index]);
        line::thread(thread, CpuSet::from_iter([cpu]), reason, gain)
    }

    fn reason_of_move(&self, cpu: CpuId) -> String {
        let node = self.context.pool.get(cpu).map(|cpu| cpu.node);
        let is_near =
            |queue: &&DeviceQueue<'_>| queue.interface.node.is_some() && queue.interface.node == node;
        match self.context.queues.iter().find(is_near) {
            _ if self.assignment.queues.contains(&cpu) => format!("cpu {} takes in packets for it", cpu.0),
            Some(queue) => format!("cpu {} is on the node of {}", cpu.0, queue.interface.name),
            None => format!("cpu {} is nearest to the packets of those with time left", cpu.0),
        }
    }
}

fn no_costs_of_sending() -> Gain {
    Gain::Unknown("a profile holds the costs of receiving".to_owned())
}
