//! What has to come from another core's caches for each packet, and how packets are spread, under
//! one placement.
//!
//! No file tells which queue the packets of a thread come through (hashing deals flows out), so a
//! packet comes through each queue as often as its interrupt comes, whoever reads it; and it is for
//! each thread as often as that is busy.

use super::ground::{Distance, Ground};
use super::traffic::Steering;
use std::collections::BTreeMap;
use warmcore_units::CpuId;

/// Where queues and threads are.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Layout {
    /// Each queue's cpu, the part of all packets that comes through it, and who takes them in.
    pub(super) queues: Vec<(CpuId, f64, Steering)>,
    /// Each thread's cpu, and the part of all packets that is for it.
    pub(super) threads: Vec<(CpuId, f64)>,
}

/// Of a packet, how often its lines come from another core: from 0, never, to 1, always.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Crossing {
    /// Those of its session: it is taken in on another core than its reader's.
    pub(super) session: f64,
    /// Those of the frame and its buffer: it is taken in on another core than is interrupted.
    pub(super) frame: f64,
    /// The longest way that any of them has.
    pub(super) farthest: Option<Distance>,
}

impl Layout {
    /// The mean over all packets.
    pub(super) fn crossing(&self, ground: &Ground) -> Crossing {
        let queues = 0..self.queues.len();
        mean(queues.map(|queue| (self.queues[queue].1, self.crossing_of_queue(ground, queue))))
    }

    /// The mean over the packets of the queue at `index`.
    pub(super) fn crossing_of_queue(&self, ground: &Ground, index: usize) -> Crossing {
        let queue = &self.queues[index];
        mean(self.threads.iter().map(|&(thread, part)| (part, one(ground, queue, thread))))
    }

    /// The mean over the packets for the thread at `index`.
    pub(super) fn crossing_of_thread(&self, ground: &Ground, index: usize) -> Crossing {
        let thread = self.threads[index].0;
        mean(self.queues.iter().map(|queue| (queue.1, one(ground, queue, thread))))
    }

    /// The part of all packets that each cpu takes in.
    pub(super) fn taken_in(&self) -> BTreeMap<CpuId, f64> {
        let mut taken: BTreeMap<CpuId, f64> = BTreeMap::new();
        for (queue, part, steering) in &self.queues {
            match steering {
                Steering::None => *taken.entry(*queue).or_default() += part,
                Steering::Spread(cpus) => {
                    let each = part / cpus.len() as f64;
                    cpus.iter().for_each(|cpu| *taken.entry(cpu).or_default() += each);
                }
                Steering::ToReader => {
                    let each = self.threads.iter().map(|&(thread, of)| (thread, part * of));
                    each.for_each(|(thread, part)| *taken.entry(thread).or_default() += part);
                }
            }
        }
        taken
    }

    /// The part of all packets that the cpu takes in which takes in most.
    pub(super) fn busiest(&self) -> f64 {
        self.taken_in().into_values().fold(0.0, f64::max)
    }
}

/// What crosses for packets that come through `queue` for the reader on `thread`.
fn one(ground: &Ground, queue: &(CpuId, f64, Steering), thread: CpuId) -> Crossing {
    let (interrupted, _, steering) = queue;
    let taken_in_on = |cpu: CpuId| {
        let ways = [ground.distance(cpu, thread), ground.distance(*interrupted, cpu)];
        let [session, frame] = ways.map(|way| if way == Distance::Core { 0.0 } else { 1.0 });
        Crossing { session, frame, farthest: ways.into_iter().max() }
    };
    match steering {
        Steering::None => taken_in_on(*interrupted),
        Steering::ToReader => taken_in_on(thread),
        Steering::Spread(cpus) => mean(cpus.iter().map(|cpu| (1.0, taken_in_on(cpu)))),
    }
}

/// The mean of crossings, each with its weight.
fn mean(crossings: impl Iterator<Item = (f64, Crossing)>) -> Crossing {
    let (mut all, mut sum) = (0.0, Crossing::default());
    for (weight, of) in crossings.filter(|&(weight, _)| weight > 0.0) {
        all += weight;
        sum.session += weight * of.session;
        sum.frame += weight * of.frame;
        sum.farthest = sum.farthest.max(of.farthest);
    }
    if all == 0.0 { sum } else { Crossing { session: sum.session / all, frame: sum.frame / all, ..sum } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Goal;
    use warmcore_linux::{Probe, fake};

    fn ground() -> Ground {
        let picture = Probe::fake(fake::hosts::two_socket_server()).inventory().expect("a sound tree");
        Ground::new(&picture, Goal::Throughput)
    }

    fn layout(queue: u32, steering: Steering, threads: [u32; 2]) -> Layout {
        Layout {
            queues: vec![(CpuId(queue), 1.0, steering)],
            threads: threads.map(|cpu| (CpuId(cpu), 0.5)).to_vec(),
        }
    }

    #[test]
    fn a_packet_crosses_where_its_reader_is_on_another_core() {
        // 64 is the second hardware thread of 0; 8 is behind the next cache, 32 on the next node.
        for (threads, session, farthest) in [
            ([0, 64], 0.0, Distance::Core),
            ([0, 1], 0.5, Distance::Cache),
            ([8, 1], 1.0, Distance::Node),
            ([32, 0], 0.5, Distance::Elsewhere),
        ] {
            let crossing = layout(0, Steering::None, threads).crossing(&ground());
            let expected = Crossing { session, frame: 0.0, farthest: Some(farthest) };
            assert_eq!(crossing, expected, "{threads:?}");
        }
    }

    #[test]
    fn steering_to_the_reader_moves_the_frame_instead_of_the_session() {
        let layout = layout(0, Steering::ToReader, [0, 1]);
        let crossing = layout.crossing(&ground());
        assert_eq!((crossing.session, crossing.frame), (0.0, 0.5));
        assert_eq!((layout.crossing_of_thread(&ground(), 1).frame, layout.busiest()), (1.0, 0.5));
    }

    #[test]
    fn spreading_moves_both_wherever_the_reader_is() {
        let spread = Steering::Spread([0, 1].map(CpuId).into_iter().collect());
        let crossing = layout(0, spread, [0, 0]).crossing(&ground());
        assert_eq!((crossing.session, crossing.frame), (0.5, 0.5));
    }
}
