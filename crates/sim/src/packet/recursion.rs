//! Hosts that need no event queue: when a packet starts follows from the packets that arrived before it.
//!
//! | module | hosts | in which order packets are settled |
//! |---|---|---|
//! | `wired` | each processor takes its own packets in order of arrival, and no line migrates between processors | of arrival |
//! | `common` | a few processors with one queue, MRU, LRU or home first | of arrival |
//! | `stacks` | IPS: stacks wait for a few processors, MRU or LRU, or each for its own | of service at each processor |
//! | `locking` | streams are wired to processors that share a stack | of service |
//!
//! A packet is *settled* once its times and its situation are known. That may be long before it is finished. Every packet
//! has the very times that events in order of time would give it, and finds the same situation: a test compares
//! them one by one. Only their order in the statistics differs.

mod common;
mod locking;
mod order;
mod processors;
mod queues;
mod service;
mod stacks;
mod wired;

use crate::completions::{Completions, FEW};
use crate::packet::features::Private;
use crate::packet::feed::{CHUNK, Feed};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use common::Common;
use locking::{FewStarts, Locking};
use order::{Home, LeastRecent, MostRecent, Order};
use queues::{Own, Shared};
use stacks::Stacks;
use warmcore_costs::execution::PrivateTimes;
use warmcore_scenario::{Parallelism, ProcessorPolicy, QueueRule};
use warmcore_units::Nanos;
use warmcore_workload::{Arrival, Arrivals};
use wired::Wired;

/// A host whose packets are settled as they arrive.
pub(super) trait Recursion {
    /// Handles the arrival of `packet`, at the time that it holds, and calls `settled` with each packet whose times
    /// are then known.
    fn arrive(&mut self, packet: Packet, settled: &mut impl FnMut(Finished));

    /// No more packets arrive: calls `settled` with those that wait.
    fn drain(&mut self, settled: &mut impl FnMut(Finished));

    /// The work that is left at `now`, in packets that find everything in cache.
    fn present(&self, now: Nanos) -> u64;

    /// Reads what is kept of the streams of `ahead`, all of which is then in the processor's cache. Returns something
    /// that depends on it, so that the reads happen.
    fn touch(&self, ahead: &[Arrival]) -> u32;
}

/// Something to do with a [`Recursion`] of any kind.
pub(super) trait RecursionTask: Sized {
    /// The result.
    type Output;

    /// Runs the task on `recursion`.
    fn run<R: Recursion>(self, recursion: R) -> Self::Output;
}

/// Runs `task` on the recursion of `host`; gives it back if `host` needs an event queue.
pub(super) fn choose<T: RecursionTask>(host: &SimulatedHost, task: T) -> Result<T::Output, T> {
    use ProcessorPolicy as Named;
    let Some(times) = host.model.private() else { return Err(task) };
    if !Private::is_enough(host) {
        return Err(task);
    }
    if Wired::is_enough(host) {
        return Ok(task.run(Wired::new(host, times)));
    }
    let (scheduling, processors) = (&host.scheduling, host.shape.processors);
    let few = processors as usize <= FEW;
    if scheduling.is_wired() {
        return match scheduling.approach {
            Parallelism::Ips => Ok(task.run(Stacks::new(host, times, Own::unused(processors), processors))),
            _ if few => Ok(task.run(Locking::<FewStarts>::new(host, times))),
            _ => Ok(task.run(Locking::<Completions>::new(host, times))),
        };
    }
    if !few || scheduling.queue != QueueRule::Fifo {
        return Err(task);
    }
    match (scheduling.policy, scheduling.approach) {
        (Named::Mru, Parallelism::Ips) => Ok(with_stacks::<MostRecent, T>(host, times, task)),
        (Named::Lru, Parallelism::Ips) => Ok(with_stacks::<LeastRecent, T>(host, times, task)),
        (Named::Mru, _) => Ok(task.run(Common::<MostRecent>::new(host, times))),
        (Named::Lru, _) => Ok(task.run(Common::<LeastRecent>::new(host, times))),
        (Named::WiredStreams, Parallelism::Hybrid) => Ok(task.run(Common::<Home>::new(host, times))),
        _ => Err(task),
    }
}

fn with_stacks<O: Order, T: RecursionTask>(host: &SimulatedHost, times: PrivateTimes, task: T) -> T::Output {
    task.run(Stacks::new(host, times, Shared::<O>::unused(host.shape.processors), 1))
}

/// Handles the next packets of `feed`. Returns whether more may come, and when the last one came.
#[inline(always)]
pub(super) fn settle<R: Recursion>(
    feed: &mut Feed,
    recursion: &mut R,
    mut settled: impl FnMut(Finished),
) -> (bool, Nanos) {
    let packets = feed.chunk(CHUNK);
    for &packet in packets {
        recursion.arrive(packet, &mut settled);
    }
    let now = packets.last().map_or(Nanos::ZERO, |packet| packet.arrived);
    let more = packets.len() == CHUNK;
    if !more {
        recursion.drain(&mut settled);
    }
    (more, now)
}

/// Calls `see` with each packet of `arrivals`, as it is settled. Returns `false`, without calling it, if `host` needs
/// an event queue.
pub fn settle_all(host: &SimulatedHost, arrivals: &mut dyn Arrivals, see: &mut dyn FnMut(Finished)) -> bool {
    choose(host, Settled { feed: Feed::new(arrivals), see }).is_ok()
}

struct Settled<'s, 'f> {
    feed: Feed<'s>,
    see: &'f mut dyn FnMut(Finished),
}

impl RecursionTask for Settled<'_, '_> {
    type Output = ();

    fn run<R: Recursion>(mut self, mut recursion: R) {
        while settle(&mut self.feed, &mut recursion, &mut *self.see).0 {}
    }
}
