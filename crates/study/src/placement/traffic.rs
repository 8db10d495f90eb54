//! Which queues packets come through, how many, and where each is taken in.

use super::Unplaceable;
use super::ground::Ground;
use warmcore_linux::Inventory;
use warmcore_linux::inventory::{Direction, Interface, Interrupt, Managed, Queue};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// A receive queue with its interrupt.
#[derive(Clone, Debug)]
pub(super) struct Flow<'a> {
    pub(super) interface: &'a Interface,
    pub(super) interrupt: &'a Interrupt,
    /// The queue's number.
    pub(super) number: u32,
    /// The cpu that its interrupt goes to.
    pub(super) now: CpuId,
    /// The part of all packets that comes through it.
    pub(super) part: f64,
    /// What becomes of them now.
    pub(super) steering: Steering,
}

/// Who takes in the packets of a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Steering {
    /// The cpu that is interrupted.
    None,
    /// Any of these, by the flow's hash (RPS).
    Spread(CpuSet),
    /// The cpu on which the flow's reader ran last (RFS).
    ToReader,
}

impl Flow<'_> {
    /// Whether its interrupt can be named and moved. Where nothing says that the kernel manages it,
    /// trying is safe: a refused plan is taken back whole.
    pub(super) fn is_movable(&self) -> bool {
        is_movable(self.interrupt)
    }
}

/// Whether `interrupt` can be named and moved.
pub(super) fn is_movable(interrupt: &Interrupt) -> bool {
    let named = !interrupt.devices.is_empty() && !interrupt.id.actions.is_empty();
    named && interrupt.allowed.is_some() && interrupt.managed != Managed::Yes
}

/// The cpus that `interrupt` goes to; of several, those that took most of it.
pub(super) fn takers(interrupt: &Interrupt) -> CpuSet {
    let most = interrupt.counts.values().max();
    let busiest: CpuSet =
        interrupt.counts.iter().filter(|&(_, count)| Some(count) == most).map(|(&cpu, _)| cpu).collect();
    let Some(effective) = &interrupt.effective else { return busiest };
    let both = effective.intersection(&busiest);
    if both.is_empty() { effective.clone() } else { both }
}

/// The receive queues of the devices that carry packets, in order of interface and number.
pub(super) fn flows<'a>(picture: &'a Inventory, ground: &Ground) -> Result<Vec<Flow<'a>>, Unplaceable> {
    let interfaces = picture.interfaces.iter().filter(|interface| carries(interface));
    let mut flows: Vec<Flow<'a>> =
        interfaces.flat_map(|interface| of_interface(picture, ground, interface)).collect();
    if flows.is_empty() {
        return Err(Unplaceable::NoQueues);
    }
    flows.sort_by(|one, other| (&one.interface.name, one.number).cmp(&(&other.interface.name, other.number)));
    let all: u64 = flows.iter().map(|flow| flow.interrupt.total()).sum();
    let count = flows.len() as f64;
    for flow in &mut flows {
        flow.part = if all == 0 { 1.0 / count } else { flow.interrupt.total() as f64 / all as f64 };
    }
    Ok(flows)
}

fn carries(interface: &Interface) -> bool {
    interface.is_physical() && interface.state.as_deref() != Some("down")
}

fn of_interface<'a>(picture: &'a Inventory, ground: &Ground, interface: &'a Interface) -> Vec<Flow<'a>> {
    let flow = |interrupt: &'a Interrupt, number| {
        let now = ground.first(&takers(interrupt))?;
        let steering = steering(picture, interface, number);
        Some(Flow { interface, interrupt, number, now, part: 0.0, steering })
    };
    let interrupts: Vec<&Interrupt> = picture.interrupts_of(interface).collect();
    let queues = interrupts.iter().filter_map(|interrupt| {
        let Queue { direction, number } = interrupt.queue?;
        direction.receives().then(|| flow(interrupt, number))?
    });
    let queues: Vec<Flow<'_>> = queues.collect();
    match interrupts[..] {
        // A device of the old kind has one interrupt for everything.
        [only] if queues.is_empty() => flow(only, 0).into_iter().collect(),
        _ => queues,
    }
}

/// The interrupt of the transmit queue that has one of its own beside `flow`'s.
pub(super) fn companion<'a>(picture: &'a Inventory, flow: &Flow<'a>) -> Option<&'a Interrupt> {
    let queue = Some(Queue { direction: Direction::Transmit, number: flow.number });
    picture.interrupts_of(flow.interface).find(|interrupt| interrupt.queue == queue && is_movable(interrupt))
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

/// How many packets the host took in per second since it started; `None` if it does not tell.
pub(super) fn rate(picture: &Inventory) -> Option<PerSecond> {
    let uptime = picture.uptime?.secs();
    let taken = picture.processors.iter().filter_map(|of| of.softnet).map(|softnet| softnet.processed);
    let packets: u64 = taken.sum();
    (packets > 0 && uptime > 0.0).then(|| PerSecond(packets as f64 / uptime))
}

/// The cpus' worth of time that goes into taking packets in; `None` where the kernel does not tell.
pub(super) fn load(picture: &Inventory) -> Option<f64> {
    let uptime = picture.uptime?;
    let spent: Nanos = picture.processors.iter().filter_map(|of| of.times).map(|times| times.softirq).sum();
    (uptime > Nanos::ZERO).then(|| spent / uptime)
}
