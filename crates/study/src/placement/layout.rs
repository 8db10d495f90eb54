//! What comes from another core's caches for each packet, and how packets are spread, under one
//! layout. All of it is computed once, when the layout is made.
//!
//! No file tells which queue the packets of a thread come through, because hashing distributes the
//! flows. The model therefore splits every thread's packets over the queues in proportion to their
//! interrupts, and every queue's packets over the threads in proportion to their busy time.

use super::cpu_pool::{CpuPool, Distance};
use super::device_queues::Steering;
use std::collections::BTreeMap;
use warmcore_units::CpuId;

/// A queue of a layout.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct QueueLoad {
    /// The cpu that is interrupted.
    pub(super) cpu: CpuId,
    /// The part of all packets that comes through it.
    pub(super) part: f64,
    /// Which cpus process them.
    pub(super) steering: Steering,
}

/// A thread of a layout.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ThreadLoad {
    pub(super) cpu: CpuId,
    /// The part of all packets that is for it.
    pub(super) part: f64,
}

/// Where queues and threads are, and what follows from that.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layout {
    pub(super) threads: Vec<ThreadLoad>,
    /// The mean over all packets.
    pub(super) crossing: Crossing,
    /// The mean over the packets of each queue.
    pub(super) queue_crossings: Vec<Crossing>,
    /// The mean over the packets for each thread.
    pub(super) thread_crossings: Vec<Crossing>,
    /// The part of all packets that each cpu processes.
    pub(super) processed: BTreeMap<CpuId, f64>,
    /// The part of all packets that the busiest cpu processes: from 0 to 1.
    pub(super) busiest: f64,
}

/// How often a packet's cache lines come from another core: from 0, never, to 1, always.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Crossing {
    /// The session's lines: the packet is processed on another core than its reader's.
    pub(super) session: f64,
    /// The lines of the frame and its buffer: the packet is processed on another core than is interrupted.
    pub(super) frame: f64,
    /// The longest distance that any of them crosses.
    pub(super) farthest: Option<Distance>,
}

impl Layout {
    pub(super) fn new(pool: &CpuPool, queues: Vec<QueueLoad>, threads: Vec<ThreadLoad>) -> Self {
        let pairs: Vec<Vec<Crossing>> = queues
            .iter()
            .map(|queue| threads.iter().map(|thread| between(pool, queue, thread.cpu)).collect())
            .collect();
        let of_queue = |pairs: &Vec<Crossing>| {
            mean(threads.iter().zip(pairs).map(|(thread, &crossing)| (thread.part, crossing)))
        };
        let of_thread =
            |index: usize| mean(queues.iter().zip(&pairs).map(|(queue, pairs)| (queue.part, pairs[index])));
        let queue_crossings: Vec<Crossing> = pairs.iter().map(of_queue).collect();
        let crossing =
            mean(queues.iter().zip(&queue_crossings).map(|(queue, &crossing)| (queue.part, crossing)));
        let thread_crossings = (0..threads.len()).map(of_thread).collect();
        let processed = processed(&queues, &threads);
        let busiest = processed.values().copied().fold(0.0, f64::max);
        Self { threads, crossing, queue_crossings, thread_crossings, processed, busiest }
    }
}

/// The part of all packets that each cpu processes.
fn processed(queues: &[QueueLoad], threads: &[ThreadLoad]) -> BTreeMap<CpuId, f64> {
    let mut processed: BTreeMap<CpuId, f64> = BTreeMap::new();
    for QueueLoad { cpu, part, steering } in queues {
        match steering {
            Steering::None => *processed.entry(*cpu).or_default() += part,
            Steering::Spread(cpus) => {
                let each = part / cpus.len() as f64;
                cpus.iter().for_each(|cpu| *processed.entry(cpu).or_default() += each);
            }
            Steering::ToReader => {
                for thread in threads {
                    *processed.entry(thread.cpu).or_default() += part * thread.part;
                }
            }
        }
    }
    processed
}

/// What crosses for packets that come through `queue` for the reader on cpu `reader`.
fn between(pool: &CpuPool, queue: &QueueLoad, reader: CpuId) -> Crossing {
    let processed_on = |cpu: CpuId| {
        let distances = [pool.distance(cpu, reader), pool.distance(queue.cpu, cpu)];
        let [session, frame] = distances.map(|it| if it == Distance::Core { 0.0 } else { 1.0 });
        Crossing { session, frame, farthest: distances.into_iter().max() }
    };
    match &queue.steering {
        Steering::None => processed_on(queue.cpu),
        Steering::ToReader => processed_on(reader),
        Steering::Spread(cpus) => mean(cpus.iter().map(|cpu| (1.0, processed_on(cpu)))),
    }
}

/// The weighted mean of crossings.
fn mean(crossings: impl Iterator<Item = (f64, Crossing)>) -> Crossing {
    let (mut all, mut sum) = (0.0, Crossing::default());
    for (weight, crossing) in crossings.filter(|&(weight, _)| weight > 0.0) {
        all += weight;
        sum.session += weight * crossing.session;
        sum.frame += weight * crossing.frame;
        sum.farthest = sum.farthest.max(crossing.farthest);
    }
    if all == 0.0 { sum } else { Crossing { session: sum.session / all, frame: sum.frame / all, ..sum } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Goal;
    use warmcore_linux::{Probe, fake};

    fn layout(queue: u32, steering: Steering, threads: [u32; 2]) -> Layout {
        let picture = Probe::fake(fake::hosts::two_socket_server()).inventory().expect("a sound tree");
        let queues = vec![QueueLoad { cpu: CpuId(queue), part: 1.0, steering }];
        let threads = threads.map(|cpu| ThreadLoad { cpu: CpuId(cpu), part: 0.5 }).to_vec();
        Layout::new(&CpuPool::new(&picture, Goal::Throughput), queues, threads)
    }

    #[test]
    fn a_packet_crosses_where_its_reader_is_on_another_core() {
        // 64 is the second hardware thread of 0; 8 is behind the next cache, 32 on the next node.
        for (threads, session, farthest) in [
            ([0, 64], 0.0, Distance::Core),
            ([0, 1], 0.5, Distance::Cache),
            ([8, 1], 1.0, Distance::Node),
            ([32, 0], 0.5, Distance::OtherNode),
        ] {
            let crossing = layout(0, Steering::None, threads).crossing;
            let expected = Crossing { session, frame: 0.0, farthest: Some(farthest) };
            assert_eq!(crossing, expected, "{threads:?}");
        }
    }

    #[test]
    fn steering_to_the_reader_moves_the_frame_instead_of_the_session() {
        let layout = layout(0, Steering::ToReader, [0, 1]);
        assert_eq!((layout.crossing.session, layout.crossing.frame), (0.0, 0.5));
        assert_eq!((layout.thread_crossings[1].frame, layout.busiest), (1.0, 0.5));
    }

    #[test]
    fn spreading_moves_both_wherever_the_reader_is() {
        let spread = Steering::Spread([0, 1].map(CpuId).into_iter().collect());
        let crossing = layout(0, spread, [0, 0]).crossing;
        assert_eq!((crossing.session, crossing.frame), (0.5, 0.5));
    }
}
