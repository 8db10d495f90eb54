//! Cards of which one queue takes most of the packets, while the others have little to do.
//!
//! A card chooses the queue of a packet by the hash of its flow and a table (RSS; `Documentation/networking/scaling.rst` of
//! the kernel). A few large flows, or an uneven table, leave one queue with most of the packets. What the cpu of that
//! queue can do limits the card then, wherever the queues are.
//!
//! No file counts packets by queue, so interrupts stand for them. Coalescing makes one of many packets, more so in a busy
//! queue: the share is rather more than it seems.

use super::super::cpu_pool::CpuPool;
use super::findings::{Finding, FindingKind, NOTICEABLE, cpus};
use super::queues::{QueuePlace, QueueSteering};
use warmcore_linux::inventory::{Interface, Observation};
use warmcore_topology::CpuSet;

/// A hot queue takes more than this part of its card's packets,
const MOST: f64 = 0.5;
/// and at least so many times its even share.
const TIMES_EVEN: f64 = 3.0;
/// A card with fewer packets per second has no need of more than one queue.
const BUSY: f64 = 1_000.0;

/// The hot queues, of as many cards.
pub(super) fn find(observed: &Observation, pool: &CpuPool, queues: &[QueuePlace]) -> Vec<Finding> {
    let hot = observed.inventory.interfaces.iter().filter_map(|card| {
        let own: Vec<&QueuePlace> = queues.iter().filter(|queue| queue.interface == card.name).collect();
        let (queue, share) = hottest(card, &own)?;
        is_busy(observed, card, &own).then(|| finding(pool, queues, queue, share))
    });
    hot.collect()
}

/// The queue of `card` that takes most of its packets, and its part of them. Where RPS or RFS hands these on, other cpus
/// take part.
fn hottest<'a>(card: &Interface, own: &[&'a QueuePlace]) -> Option<(&'a QueuePlace, f64)> {
    let share = |queue: &QueuePlace| queue.share.unwrap_or(0.0);
    let all: f64 = own.iter().map(|queue| share(queue)).sum();
    let queue = own.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let part = share(queue) / all;
    let even = 1.0 / card.receive.len() as f64;
    let is_hot = card.receive.len() > 1 && part > MOST && part >= TIMES_EVEN * even;
    (is_hot && queue.steering == QueueSteering::None).then_some((*queue, part))
}

/// Whether `card` receives so much that its queues matter.
fn is_busy(observed: &Observation, card: &Interface, own: &[&QueuePlace]) -> bool {
    let counted = observed.rates.iter().flat_map(|rates| &rates.interfaces).find(|of| of.name == card.name);
    let interrupts = || own.iter().filter_map(|queue| queue.interrupts_per_s).map(|rate| rate.0).sum();
    let packets: f64 = counted.and_then(|of| of.received).map_or_else(interrupts, |rate| rate.0);
    packets >= BUSY
}

fn finding(pool: &CpuPool, queues: &[QueuePlace], hot: &QueuePlace, share: f64) -> Finding {
    let busy = queues.iter().filter(|queue| queue.share.is_some_and(|share| share >= NOTICEABLE));
    let used: CpuSet = busy.flat_map(|queue| queue.processed_on.iter()).collect();
    Finding {
        interface: Some(hot.interface.clone()),
        queue: Some(hot.queue),
        better: cpus(pool, |cpu| Some(cpu.node) == hot.node && !cpu.slow && !used.contains(cpu.id)),
        share: Some(share),
        ..Finding::new(FindingKind::OneHotQueue, &[hot])
    }
}
