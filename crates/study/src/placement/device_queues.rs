//! The receive queues of the devices, how many packets come through them, and which cpus process them.

use super::cpu_pool::CpuPool;
use super::{Unplaceable, interrupts};
use warmcore_linux::Inventory;
use warmcore_linux::inventory::{Direction, Interface, Interrupt, Queue, ReceiveQueue};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// A receive queue with its interrupt.
#[derive(Clone, Debug)]
pub(super) struct DeviceQueue<'a> {
    pub(super) interface: &'a Interface,
    pub(super) interrupt: &'a Interrupt,
    /// The queue's number on the interface.
    pub(super) number: u32,
    /// The cpu that its interrupt goes to now.
    pub(super) current_cpu: CpuId,
    /// The part of all packets that comes through it.
    pub(super) part: f64,
    /// Which cpus process them now.
    pub(super) steering: Steering,
}

/// Which cpus process the packets of a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Steering {
    /// The cpu that is interrupted.
    None,
    /// Any of these, by the flow's hash (RPS).
    Spread(CpuSet),
    /// The cpu on which the flow's reader ran last (RFS).
    ToReader,
}

impl DeviceQueue<'_> {
    /// Whether its interrupt can be named and moved.
    pub(super) fn is_movable(&self) -> bool {
        interrupts::is_movable(self.interrupt)
    }

    /// Its settings, if the kernel shows them.
    pub(super) fn receive(&self) -> Option<&ReceiveQueue> {
        self.interface.receive.iter().find(|queue| queue.number == self.number)
    }
}

/// The receive queues of the devices that carry packets, in order of interface and number.
pub(super) fn find<'a>(picture: &'a Inventory, pool: &CpuPool) -> Result<Vec<DeviceQueue<'a>>, Unplaceable> {
    let interfaces = picture.interfaces.iter().filter(|interface| carries_packets(interface));
    let mut queues: Vec<DeviceQueue<'a>> =
        interfaces.flat_map(|interface| of_interface(picture, pool, interface)).collect();
    if queues.is_empty() {
        return Err(Unplaceable::NoQueues);
    }
    queues
        .sort_by(|one, other| (&one.interface.name, one.number).cmp(&(&other.interface.name, other.number)));
    let all: u64 = queues.iter().map(|queue| queue.interrupt.total()).sum();
    let count = queues.len() as f64;
    for queue in &mut queues {
        queue.part = if all == 0 { 1.0 / count } else { queue.interrupt.total() as f64 / all as f64 };
    }
    Ok(queues)
}

fn carries_packets(interface: &Interface) -> bool {
    interface.is_physical() && interface.state.as_deref() != Some("down")
}

fn of_interface<'a>(
    picture: &'a Inventory,
    pool: &CpuPool,
    interface: &'a Interface,
) -> Vec<DeviceQueue<'a>> {
    let queue = |interrupt: &'a Interrupt, number| {
        let current_cpu = pool.first(&interrupts::handling_cpus(interrupt))?;
        let steering = steering(picture, interface, number);
        Some(DeviceQueue { interface, interrupt, number, current_cpu, part: 0.0, steering })
    };
    let own: Vec<&Interrupt> = picture.interrupts_of(interface).collect();
    let queues = own.iter().filter_map(|interrupt| {
        let Queue { direction, number } = interrupt.queue?;
        direction.receives().then(|| queue(interrupt, number))?
    });
    let queues: Vec<DeviceQueue<'_>> = queues.collect();
    match own[..] {
        // A device without message-signalled interrupts has one interrupt for everything.
        [only] if queues.is_empty() => queue(only, 0).into_iter().collect(),
        _ => queues,
    }
}

/// The interrupt of the transmit queue with the number of `queue`, if it has one of its own that can be moved.
pub(super) fn transmit_interrupt<'a>(
    picture: &'a Inventory,
    queue: &DeviceQueue<'a>,
) -> Option<&'a Interrupt> {
    let transmit = Some(Queue { direction: Direction::Transmit, number: queue.number });
    let mut own = picture.interrupts_of(queue.interface);
    own.find(|interrupt| interrupt.queue == transmit && interrupts::is_movable(interrupt))
}

fn steering(picture: &Inventory, interface: &Interface, number: u32) -> Steering {
    let queue = interface.receive.iter().find(|queue| queue.number == number);
    let spread = queue.and_then(|queue| queue.rps.clone()).filter(|cpus| !cpus.is_empty());
    let flows = queue.and_then(|queue| queue.rfs_flows).unwrap_or(0).min(picture.rfs_flows.unwrap_or(0));
    match spread {
        None => Steering::None,
        Some(_) if flows > 0 => Steering::ToReader,
        Some(cpus) => Steering::Spread(cpus),
    }
}

/// Packets received per second since the host started; `None` where the kernel does not tell.
pub(super) fn rate(picture: &Inventory) -> Option<PerSecond> {
    let uptime = picture.uptime?.secs();
    let processed = picture.processors.iter().filter_map(|of| of.softnet).map(|softnet| softnet.processed);
    let packets: u64 = processed.sum();
    (packets > 0 && uptime > 0.0).then(|| PerSecond(packets as f64 / uptime))
}

/// The cpus' worth of time spent in softirqs since the host started; `None` where the kernel does not tell.
pub(super) fn softirq_load(picture: &Inventory) -> Option<f64> {
    let uptime = picture.uptime?;
    let spent: Nanos = picture.processors.iter().filter_map(|of| of.times).map(|times| times.softirq).sum();
    (uptime > Nanos::ZERO).then(|| spent / uptime)
}
