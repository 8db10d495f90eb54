//! The receive queues of the devices, how many packets come through them, and which cpus process them.

use super::cpu_pool::CpuPool;
use super::{Unplaceable, interrupts};
use std::collections::BTreeMap;
use warmcore_linux::inventory::{Direction, Interface, Interrupt, Observation, Queue, ReceiveQueue};
use warmcore_linux::{Inventory, Rates};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, PerSecond};

/// A receive queue with its interrupt.
#[derive(Clone, Debug)]
pub(super) struct DeviceQueue<'a> {
    pub(super) interface: &'a Interface,
    pub(super) interrupt: &'a Interrupt,
    /// The queue's number on the interface.
    pub(super) number: u32,
    /// The cpu that its interrupt goes to now.
    pub(super) current_cpu: CpuId,
    /// How often its interrupt came while the host was observed; `None` if it was not.
    pub(super) rate: Option<PerSecond>,
    /// The part of all packets that comes through it.
    pub(super) part: f64,
    /// Which cpus process them now.
    pub(super) steering: Steering,
    /// Whether the plan is about it. Others stay as they are, and count as load.
    pub(super) is_planned: bool,
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
    /// Whether the plan may move its interrupt.
    pub(super) fn is_movable(&self) -> bool {
        self.is_planned && interrupts::is_movable(self.interrupt)
    }

    /// Its settings, if the kernel shows them.
    pub(super) fn receive(&self) -> Option<&ReceiveQueue> {
        self.interface.receive.iter().find(|queue| queue.number == self.number)
    }
}

/// The receive queues of the devices that carry packets, in order of interface and number. The plan is about those of
/// `only` these interfaces, which may carry none; about all, if none is named.
pub(super) fn find<'a>(
    observed: &'a Observation,
    pool: &CpuPool,
    only: &[String],
) -> Result<Vec<DeviceQueue<'a>>, Unplaceable> {
    let picture = &observed.inventory;
    for name in only {
        check_named(picture, name)?;
    }
    let is_named = |interface: &Interface| only.contains(&interface.name);
    let mut queues: Vec<DeviceQueue<'a>> = picture
        .interfaces
        .iter()
        .filter(|interface| carries_packets(interface) || is_named(interface))
        .flat_map(|interface| of_interface(picture, pool, interface))
        .collect();
    for queue in &mut queues {
        queue.is_planned = only.is_empty() || is_named(queue.interface);
    }
    if !queues.iter().any(|queue| queue.is_planned) {
        return Err(Unplaceable::NoQueues);
    }
    queues
        .sort_by(|one, other| (&one.interface.name, one.number).cmp(&(&other.interface.name, other.number)));
    share_out(&mut queues, observed.rates.as_ref());
    Ok(queues)
}

/// Checks that `name` is an interface of the host whose queues can be told.
fn check_named(picture: &Inventory, name: &str) -> Result<(), Unplaceable> {
    let Some(interface) = picture.interfaces.iter().find(|interface| interface.name == name) else {
        let physical = picture.interfaces.iter().filter(|interface| interface.is_physical());
        let names: Vec<&str> = physical.map(|interface| interface.name.as_str()).collect();
        return Err(Unplaceable::NoInterface { name: name.to_owned(), present: names.join(", ") });
    };
    let has_queues = picture.interrupts_of(interface).next().is_some();
    if has_queues { Ok(()) } else { Err(Unplaceable::NoQueuesOf(name.to_owned())) }
}

/// Sets the rate of interrupts of each queue, and the part of the packets that comes through it: as they came while the
/// host was observed; without that, or without any, all alike. Counts since boot would say what once was.
fn share_out(queues: &mut [DeviceQueue<'_>], rates: Option<&Rates>) {
    if let Some(rates) = rates {
        let seen: BTreeMap<_, PerSecond> = rates.interrupts.iter().map(|of| (&of.id, of.rate)).collect();
        for queue in queues.iter_mut() {
            queue.rate = Some(seen.get(&queue.interrupt.id).copied().unwrap_or_default());
        }
    }
    let weights = weights(queues, rates);
    let (all, count) = (weights.iter().sum::<f64>(), queues.len() as f64);
    for (queue, weight) in queues.iter_mut().zip(weights) {
        queue.part = if all > 0.0 { weight / all } else { 1.0 / count };
    }
}

/// How much comes through each queue: the packets of its interface, by its part of the interrupts of all its queues.
/// Interrupts alone where an interface does not count packets: coalescing makes one of many packets, more so on a
/// fast card.
fn weights(queues: &[DeviceQueue<'_>], rates: Option<&Rates>) -> Vec<f64> {
    let interrupts = |queue: &DeviceQueue<'_>| queue.rate.map_or(0.0, |rate| rate.0);
    let mut of_interface: BTreeMap<&str, f64> = BTreeMap::new();
    for queue in queues {
        *of_interface.entry(&queue.interface.name).or_default() += interrupts(queue);
    }
    let packets = |name: &str| {
        let found = rates?.interfaces.iter().find(|of| of.name == name);
        Some(found?.received?.0)
    };
    let are_counted = of_interface.keys().all(|name| packets(name).is_some());
    let weight = |queue: &DeviceQueue<'_>| {
        let name = queue.interface.name.as_str();
        match (packets(name).filter(|_| are_counted), of_interface[name]) {
            (Some(packets), all) if all > 0.0 => packets * interrupts(queue) / all,
            (Some(_), _) => 0.0,
            (None, _) => interrupts(queue),
        }
    };
    queues.iter().map(weight).collect()
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
        let current_cpu = pool.first(interrupt.goes_to())?;
        let steering = steering(picture, interface, number);
        Some(DeviceQueue {
            interface,
            interrupt,
            number,
            current_cpu,
            rate: None,
            part: 0.0,
            steering,
            is_planned: true,
        })
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
    let mut own = picture.interrupts_of(queue.interface).filter(|_| queue.is_planned);
    own.find(|interrupt| interrupt.queue == transmit && interrupts::is_movable(interrupt))
}

fn steering(picture: &Inventory, interface: &Interface, number: u32) -> Steering {
    let queue = interface.receive.iter().find(|queue| queue.number == number);
    let spread = queue.and_then(|queue| queue.rps.clone()).filter(|cpus| !cpus.is_empty());
    let flows = queue.and_then(|queue| queue.rfs_flows).unwrap_or(0).min(picture.rfs_flows.unwrap_or(0));
    // RFS needs no RPS: `get_rps_cpu` in the kernel's net/core/dev.c looks for the flow's reader first.
    match spread {
        _ if flows > 0 => Steering::ToReader,
        None => Steering::None,
        Some(cpus) => Steering::Spread(cpus),
    }
}

/// Packets that interfaces with a device received per second while the host was observed; `None` where the kernel
/// does not tell.
pub(super) fn rate(observed: &Observation) -> Option<PerSecond> {
    observed.rates.as_ref()?.from_devices(&observed.inventory)
}
