//! Queues spread over the cores near their device, as experts spread them by hand.
//!
//! Each queue gets a core of its own: of the device's node, first hardware threads first, fast cores before slow
//! ones, none that is reserved. Second hardware threads follow when the cores are used up, then rounds begin anew.
//! The queue with most packets chooses first, and takes the core with the fewest packets so far; of equal ones, the
//! one whose pinned threads leave it most time, then the one nearest to the readers. A queue that has such a core
//! already keeps it. A core on which a pinned thread polls takes none while another of its node is left.
//!
//! The published rules of others: the scripts of NIC vendors (`set_irq_affinity local`) go through the cpus of the
//! node in order, whatever is there already; irqbalance spreads by load over cache domains and cores.

use super::context::Context;
use super::cpu_pool::{Distance, PoolCpu};
use super::device_queues::DeviceQueue;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A core that takes queues.
#[derive(Clone)]
struct Core {
    /// Its cpus that may take them, in the order in which they do.
    cpus: Vec<PoolCpu>,
    /// The part of all packets that its queues receive.
    part: f64,
    /// The queues of each of its cpus.
    queues: BTreeMap<CpuId, usize>,
    /// The part of its time that threads pinned to it use.
    pinned: f64,
    /// How far the nearest reader is.
    to_readers: Option<Distance>,
}

impl Core {
    fn count(&self) -> usize {
        self.queues.values().sum()
    }

    fn queues_on(&self, cpu: CpuId) -> usize {
        self.queues.get(&cpu).copied().unwrap_or(0)
    }

    fn holds(&self, cpu: CpuId) -> bool {
        self.cpus.iter().any(|own| own.id == cpu)
    }

    fn take(&mut self, cpu: CpuId, part: f64) -> CpuId {
        self.part += part;
        *self.queues.entry(cpu).or_default() += 1;
        cpu
    }
}

/// The cpu of each queue, where readers may run on `readers`. With `only`, all queues go to those cpus.
///
/// What it has chosen it keeps: from there, it chooses the same again.
pub(super) fn choose(context: &Context<'_>, readers: &[CpuSet], only: Option<&CpuSet>) -> Vec<CpuId> {
    // A queue that goes to another core makes room on its own for others.
    const ROUNDS: usize = 4;
    let mut cores = cores(context, readers, only);
    let queues = &context.queues;
    occupy(&mut cores, queues.iter().filter(|queue| !queue.is_movable()));
    let order = heaviest_first(queues, DeviceQueue::is_movable);
    let here: Vec<CpuId> = queues.iter().map(|queue| queue.current_cpu).collect();
    let mut spread_anew = cores.clone();
    let anew = find_rest(queues, &order, &here, vec![None; queues.len()], &mut spread_anew);
    let limit = Limit::new(context, &spread_anew);
    let mut now = here;
    for _ in 0..ROUNDS {
        let mut cores = cores.clone();
        let mut chosen: Vec<Option<CpuId>> = vec![None; queues.len()];
        for &index in &order {
            chosen[index] = keep(&queues[index], now[index], &mut cores, &limit);
        }
        if order.iter().all(|&index| chosen[index].is_some()) {
            return now;
        }
        now = find_rest(queues, &order, &now, chosen, &mut cores);
    }
    anew
}

/// Finds a cpu for every queue of `order` without a `chosen` one; where there is none, it stays where it is `now`.
fn find_rest(
    queues: &[DeviceQueue<'_>],
    order: &[usize],
    now: &[CpuId],
    mut chosen: Vec<Option<CpuId>>,
    cores: &mut [Core],
) -> Vec<CpuId> {
    for &index in order {
        let queue = &queues[index];
        chosen[index] = chosen[index].or_else(|| find(queue.interface.node, queue.part, cores));
    }
    now.iter().zip(chosen).map(|(&now, chosen)| chosen.unwrap_or(now)).collect()
}

/// The cpu of each queue, where those that leave go to `only`, the nearest to `readers` first, and the others stay.
pub(super) fn moved(
    context: &Context<'_>,
    readers: &[CpuSet],
    only: &CpuSet,
    leaves: impl Fn(&DeviceQueue<'_>) -> bool,
) -> Vec<CpuId> {
    let mut cores = cores(context, readers, Some(only));
    let queues = &context.queues;
    occupy(&mut cores, queues.iter().filter(|queue| !leaves(queue)));
    let mut chosen: Vec<CpuId> = queues.iter().map(|queue| queue.current_cpu).collect();
    for index in heaviest_first(queues, leaves) {
        let queue = &queues[index];
        chosen[index] = find(queue.interface.node, queue.part, &mut cores).unwrap_or(queue.current_cpu);
    }
    chosen
}

/// The indices of the `queues` that are `meant`, that with most packets first.
fn heaviest_first<'a>(queues: &[DeviceQueue<'a>], meant: impl Fn(&DeviceQueue<'a>) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queues.len()).filter(|&index| meant(&queues[index])).collect();
    order.sort_by(|&one, &other| queues[other].part.total_cmp(&queues[one].part).then(one.cmp(&other)));
    order
}

/// Counts `queues` on the cores that they are on.
fn occupy<'a, 'b: 'a>(cores: &mut [Core], queues: impl IntoIterator<Item = &'a DeviceQueue<'b>>) {
    for queue in queues {
        if let Some(core) = cores.iter_mut().find(|core| core.holds(queue.current_cpu)) {
            core.take(queue.current_cpu, queue.part);
        }
    }
}

/// The cpus of `count` queues, alike, that the interface `name` on `node` will have instead of its own, beside those of
/// other interfaces.
pub(super) fn instead(context: &Context<'_>, name: &str, node: Option<u32>, count: u32) -> Vec<CpuId> {
    let mut cores = cores(context, &[], None);
    let (own, others): (Vec<_>, Vec<_>) =
        context.queues.iter().partition(|queue| queue.interface.name == name);
    occupy(&mut cores, others);
    let part = own.iter().map(|queue| queue.part).sum::<f64>() / f64::from(count.max(1));
    (0..count).filter_map(|_| find(node, part, &mut cores)).collect()
}

/// How many cores and cpus may take queues of a device on `node`.
pub(super) fn near(context: &Context<'_>, node: Option<u32>) -> (usize, usize) {
    let cores = cores(context, &[], None);
    let near: Vec<&Core> = cores.iter().filter(|core| is_near(node, core)).collect();
    let near = if near.is_empty() { cores.iter().collect() } else { near };
    (near.len(), near.iter().map(|core| core.cpus.len()).sum())
}

/// The cores that may take queues, in the order of the pool.
fn cores(context: &Context<'_>, readers: &[CpuSet], only: Option<&CpuSet>) -> Vec<Core> {
    let mut available: Vec<PoolCpu> = context.pool.available().collect();
    match only {
        Some(only) => available.retain(|cpu| only.contains(cpu.id)),
        None if available.iter().any(|cpu| !cpu.slow) => available.retain(|cpu| !cpu.slow),
        None => {}
    }
    // A pinned reader may be who takes its core.
    let pinned = readers.iter().filter(|cpus| context.pool.only_core(cpus).is_some());
    let pinned: CpuSet = pinned.flat_map(CpuSet::iter).collect();
    let readers: CpuSet = readers.iter().flat_map(CpuSet::iter).collect();
    let is_taken = |cpu: PoolCpu| {
        context.pool.is_occupied(cpu) && !pinned.contains(cpu.id) || context.pool.is_beside_reserved(cpu)
    };
    let with_time: BTreeSet<u32> =
        available.iter().filter(|cpu| !is_taken(**cpu)).map(|cpu| cpu.node).collect();
    available.retain(|cpu| !is_taken(*cpu) || !with_time.contains(&cpu.node));
    let mut cores: BTreeMap<usize, Vec<PoolCpu>> = BTreeMap::new();
    for cpu in available {
        cores.entry(cpu.core).or_default().push(cpu);
    }
    let core = |cpus: Vec<PoolCpu>| {
        let to_readers = readers.iter().map(|reader| context.pool.distance(cpus[0].id, reader)).min();
        Core {
            pinned: context.pool.pinned_to(cpus[0].core),
            cpus,
            part: 0.0,
            queues: BTreeMap::new(),
            to_readers,
        }
    };
    let mut cores: Vec<Core> = cores.into_values().map(core).collect();
    cores.sort_by_key(|core| core.cpus[0]);
    cores
}

/// By what factor a core may have more than its share of the packets before a queue leaves it. Which flows are busy changes
/// from one look at a host to the next, and with it what each queue receives: placements that fit one look fit no other
/// better than queues spread evenly by number do.
const TOLERANCE: f64 = 4.0 / 3.0;

/// How much stays on one core, by the node of the device: as many queues as would be on the fullest one if all were spread
/// anew, and as many packets within [`TOLERANCE`]. So a queue leaves a core that has far more than its share, and none leaves
/// if they are spread already.
struct Limit(BTreeMap<Option<u32>, (usize, f64)>);

impl Limit {
    /// `spread` are the cores with all queues spread anew.
    fn new(context: &Context<'_>, spread: &[Core]) -> Self {
        let nodes: Vec<Option<u32>> = context.queues.iter().map(|queue| queue.interface.node).collect();
        let limit = |node: Option<u32>| {
            let near: Vec<&Core> = spread.iter().filter(|core| is_near(node, core)).collect();
            let near = if near.is_empty() { spread.iter().collect() } else { near };
            let queues = nodes.iter().filter(|&&other| other == node).count();
            let count = near.iter().map(|core| core.count()).max().unwrap_or(0);
            let part = near.iter().map(|core| core.part).fold(0.0, f64::max);
            let alike = 1.0 / spread.len().max(1) as f64;
            (count.max(queues.div_ceil(near.len().max(1))), part.max(alike) * TOLERANCE)
        };
        Self(nodes.iter().map(|&node| (node, limit(node))).collect())
    }
}

/// Leaves `queue` where it is `now`, if its core is near and has not more than its share.
fn keep(queue: &DeviceQueue<'_>, now: CpuId, cores: &mut [Core], limit: &Limit) -> Option<CpuId> {
    const ROUNDING: f64 = 1e-9;
    let node = queue.interface.node;
    let has_near = cores.iter().any(|core| is_near(node, core));
    let core = cores.iter_mut().find(|core| core.holds(now))?;
    let &(count, part) = limit.0.get(&node)?;
    let fits = core.count() < count && core.part + queue.part <= part + ROUNDING;
    let is_even = core.queues_on(now) * core.cpus.len() <= core.count();
    let stays = fits && is_even && (is_near(node, core) || !has_near);
    stays.then(|| core.take(now, queue.part))
}

/// Puts a queue of a device on `node` with this `part` of the packets on the near core with the fewest packets, and
/// there on the cpu with the fewest queues.
fn find(node: Option<u32>, part: f64, cores: &mut [Core]) -> Option<CpuId> {
    let has_near = cores.iter().any(|core| is_near(node, core));
    let near = cores.iter_mut().filter(|core| !has_near || is_near(node, core));
    let core = near.min_by(|one, other| {
        let packets = one.part.total_cmp(&other.part);
        let counts = packets.then(one.count().cmp(&other.count()));
        counts.then(one.pinned.total_cmp(&other.pinned)).then(one.to_readers.cmp(&other.to_readers))
    })?;
    let cpu = core.cpus.iter().min_by_key(|cpu| core.queues_on(cpu.id))?.id;
    Some(core.take(cpu, part))
}

fn is_near(node: Option<u32>, core: &Core) -> bool {
    node.is_none_or(|node| core.cpus[0].node == node)
}
