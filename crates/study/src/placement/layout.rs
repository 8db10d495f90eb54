//! What comes from another core's caches for each packet, and how packets are spread, under one
//! layout. All of it is computed once, when the layout is made.
//!
//! No file tells which queue the packets of a thread come through, because hashing distributes the
//! flows. The model therefore splits every reader's packets over the queues in proportion to their
//! interrupts, and every queue's packets over the readers in proportion to the bytes that they receive, or
//! to their busy time where these are not known. A reader is
//! on each of the cpus that it may run on, all alike; one that is not known may run anywhere.

use super::cpu_pool::{CpuPool, Distance};
use super::device_queues::Steering;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
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
    /// The node of its device, if that is near one.
    pub(super) device_node: Option<u32>,
}

/// The readers of a layout that may run on the same cpus.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ReaderLoad {
    /// The cpus that the scheduler may put them on, all alike.
    pub(super) cpus: CpuSet,
    /// The part of all packets that is for them.
    pub(super) part: f64,
    /// The part that is for the one thread of them with most: it is on one cpu at a time. 0 where threads are not known.
    pub(super) of_one_thread: f64,
}

/// Where queues and readers are, and what follows from that.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Layout {
    pub(super) readers: Vec<ReaderLoad>,
    /// The mean over all packets.
    pub(super) crossing: Crossing,
    /// The mean over the packets of each queue.
    pub(super) queue_crossings: Vec<Crossing>,
    /// The part of all packets that each cpu processes.
    pub(super) processed: BTreeMap<CpuId, f64>,
    /// The part of all packets that the busiest cpu processes: from 0 to 1.
    pub(super) busiest: f64,
    /// The part of all packets that follows the reading thread with most, wherever it runs.
    pub(super) follows_one_thread: f64,
    /// The part of all packets that each cpu is interrupted for.
    pub(super) interrupted: BTreeMap<CpuId, f64>,
    /// The part of all packets that each cpu is interrupted for and hands to another core, which processes them.
    pub(super) handed_over: BTreeMap<CpuId, f64>,
    /// The part of all packets that the cpu with most of them is interrupted for.
    pub(super) most_interrupted: f64,
    /// The part of all packets that the hardware threads of one core are interrupted for, of the core with most.
    pub(super) most_interrupted_core: f64,
    /// The part of the work for packets on cpus that are slow, or taken by others than their readers: the mean of
    /// their interrupts and their processing.
    pub(super) on_unfit_cpus: f64,
    /// The part of all packets that is taken in on another node than that of its device.
    pub(super) far_from_device: f64,
    /// How likely it is that two packets interrupt the same cpu: from near 0, evenly over many, to 1, all on one.
    pub(super) concentration: f64,
}

/// How often a packet's cache lines come from another core: from 0, never, to 1, always.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Crossing {
    /// The session's lines: the packet is processed on another core than its reader's.
    pub(super) session: f64,
    /// The lines of the frame and its buffer: the packet is processed on another core than is interrupted.
    pub(super) frame: f64,
    /// The packet is processed on another hardware thread of its reader's core.
    pub(super) sibling: f64,
    /// It is processed on another hardware thread of the core that is interrupted.
    pub(super) frame_sibling: f64,
    /// The session's lines come from another node.
    pub(super) remote: f64,
    /// The longest distance that any of them crosses.
    pub(super) farthest: Option<Distance>,
}

impl Layout {
    pub(super) fn new(pool: &CpuPool, queues: &[QueueLoad], readers: Vec<ReaderLoad>) -> Self {
        let pairs: Vec<Vec<Crossing>> = queues
            .iter()
            .map(|queue| readers.iter().map(|reader| between(pool, queue, &reader.cpus)).collect())
            .collect();
        let of_queue = |pairs: &Vec<Crossing>| {
            mean(readers.iter().zip(pairs).map(|(reader, &crossing)| (reader.part, crossing)))
        };
        let queue_crossings: Vec<Crossing> = pairs.iter().map(of_queue).collect();
        let crossing =
            mean(queues.iter().zip(&queue_crossings).map(|(queue, &crossing)| (queue.part, crossing)));
        let Work { interrupted, handed_over, processed } = Work::new(pool, queues, &readers);
        let [busiest, most_interrupted] = [most(&processed), most(&interrupted)];
        let most_interrupted_core = most(&by_core(pool, &interrupted));
        let follows = queues.iter().filter(|queue| queue.steering == Steering::ToReader);
        let of_one_thread = readers.iter().map(|reader| reader.of_one_thread).fold(0.0, f64::max);
        let follows_one_thread = of_one_thread * follows.map(|queue| queue.part).sum::<f64>();
        let on_unfit = |parts: &BTreeMap<CpuId, f64>| -> f64 {
            parts.iter().filter(|(cpu, _)| is_unfit(pool, &readers, **cpu)).map(|(_, part)| part).sum()
        };
        Self {
            on_unfit_cpus: f64::midpoint(on_unfit(&processed), on_unfit(&interrupted)),
            concentration: interrupted.values().map(|part| part * part).sum(),
            far_from_device: queues.iter().filter(|queue| is_far(pool, queue)).map(|queue| queue.part).sum(),
            readers,
            crossing,
            queue_crossings,
            processed,
            interrupted,
            handed_over,
            busiest: busiest.max(follows_one_thread),
            follows_one_thread,
            most_interrupted,
            most_interrupted_core,
        }
    }
}

/// The sums of `parts` over the hardware threads of each core.
fn by_core(pool: &CpuPool, parts: &BTreeMap<CpuId, f64>) -> BTreeMap<usize, f64> {
    let mut sums = BTreeMap::new();
    for (&cpu, part) in parts {
        if let Some(cpu) = pool.get(cpu) {
            *sums.entry(cpu.core).or_default() += part;
        }
    }
    sums
}

/// The parts of all packets that each cpu has to do with.
#[derive(Default)]
struct Work {
    interrupted: BTreeMap<CpuId, f64>,
    handed_over: BTreeMap<CpuId, f64>,
    processed: BTreeMap<CpuId, f64>,
}

impl Work {
    fn new(pool: &CpuPool, queues: &[QueueLoad], readers: &[ReaderLoad]) -> Self {
        let mut work = Self::default();
        for QueueLoad { cpu, part, steering, .. } in queues {
            *work.interrupted.entry(*cpu).or_default() += part;
            match steering {
                Steering::None => work.process(pool, *cpu, &CpuSet::from_iter([*cpu]), *part),
                Steering::Spread(cpus) => work.process(pool, *cpu, cpus, *part),
                Steering::ToReader => {
                    readers
                        .iter()
                        .for_each(|reader| work.process(pool, *cpu, &reader.cpus, part * reader.part));
                }
            }
        }
        work
    }

    /// Packets that interrupt `cpu` are processed on all of `cpus` alike.
    fn process(&mut self, pool: &CpuPool, cpu: CpuId, cpus: &CpuSet, part: f64) {
        let each = part / cpus.len() as f64;
        for on in cpus.iter() {
            *self.processed.entry(on).or_default() += each;
            if pool.distance(cpu, on) != Distance::Core {
                *self.handed_over.entry(cpu).or_default() += each;
            }
        }
    }
}

/// Whether `cpu` is slow, or kept free of such work by its user or taken by a pinned thread, unless for a pinned reader.
fn is_unfit(pool: &CpuPool, readers: &[ReaderLoad], cpu: CpuId) -> bool {
    let is_for_reader =
        || readers.iter().any(|reader| reader.cpus.contains(cpu) && pool.only_core(&reader.cpus).is_some());
    let is_taken = |of| pool.reserved.contains(cpu) || pool.is_occupied(of);
    pool.get(cpu).is_some_and(|of| of.slow || is_taken(of) && !is_for_reader())
}

/// Whether the cpu that takes the packets of `queue` in is on another node than its device.
fn is_far(pool: &CpuPool, queue: &QueueLoad) -> bool {
    let node = pool.get(queue.cpu).map(|cpu| cpu.node);
    node.zip(queue.device_node).is_some_and(|(node, of_device)| node != of_device)
}

fn most<K>(parts: &BTreeMap<K, f64>) -> f64 {
    parts.values().copied().fold(0.0, f64::max)
}

/// What crosses for packets that come through `queue` for readers on any of the cpus `readers`.
fn between(pool: &CpuPool, queue: &QueueLoad, readers: &CpuSet) -> Crossing {
    let processed_on = |cpu: CpuId, reader: CpuId| {
        let distances = [pool.distance(cpu, reader), pool.distance(queue.cpu, cpu)];
        let [session, frame] = distances.map(|it| if it == Distance::Core { 0.0 } else { 1.0 });
        let is_sibling = |one, other| one != other && pool.distance(one, other) == Distance::Core;
        let [sibling, frame_sibling] =
            [is_sibling(cpu, reader), is_sibling(queue.cpu, cpu)].map(|is| if is { 1.0 } else { 0.0 });
        let remote = if distances[0] == Distance::OtherNode { 1.0 } else { 0.0 };
        Crossing { session, frame, sibling, frame_sibling, remote, farthest: distances.into_iter().max() }
    };
    let for_reader = |reader: CpuId| match &queue.steering {
        Steering::None => processed_on(queue.cpu, reader),
        Steering::ToReader => processed_on(reader, reader),
        Steering::Spread(cpus) => mean(cpus.iter().map(|cpu| (1.0, processed_on(cpu, reader)))),
    };
    mean(readers.iter().map(|reader| (1.0, for_reader(reader))))
}

/// The weighted mean of crossings.
fn mean(crossings: impl Iterator<Item = (f64, Crossing)>) -> Crossing {
    let (mut all, mut sum) = (0.0, Crossing::default());
    for (weight, crossing) in crossings.filter(|&(weight, _)| weight > 0.0) {
        all += weight;
        sum.session += weight * crossing.session;
        sum.frame += weight * crossing.frame;
        sum.sibling += weight * crossing.sibling;
        sum.frame_sibling += weight * crossing.frame_sibling;
        sum.remote += weight * crossing.remote;
        sum.farthest = sum.farthest.max(crossing.farthest);
    }
    let share = |sum: f64| if all == 0.0 { sum } else { sum / all };
    Crossing {
        session: share(sum.session),
        frame: share(sum.frame),
        sibling: share(sum.sibling),
        frame_sibling: share(sum.frame_sibling),
        remote: share(sum.remote),
        farthest: sum.farthest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Goal;
    use warmcore_linux::inventory::Observation;
    use warmcore_linux::{Probe, fake};

    fn seen(tree: fake::Tree) -> Observation {
        Observation::single(Probe::fake(tree).inventory().expect("a sound tree"))
    }

    fn layout(queue: u32, steering: Steering, readers: [u32; 2]) -> Layout {
        let observed = seen(fake::hosts::two_socket_server());
        let queues = vec![QueueLoad { cpu: CpuId(queue), part: 1.0, steering, device_node: Some(0) }];
        let reader = |cpu| {
            let cpus = [CpuId(cpu)].into_iter().collect();
            ReaderLoad { cpus, part: 0.5, of_one_thread: 0.5 }
        };
        Layout::new(&CpuPool::new(&observed, Goal::Throughput), &queues, readers.map(reader).to_vec())
    }

    #[test]
    fn a_packet_crosses_where_its_reader_is_on_another_core() {
        // 64 is the second hardware thread of 0; 8 is behind the next cache, 32 on the next node.
        for (threads, session, sibling, remote, farthest) in [
            ([0, 64], 0.0, 0.5, 0.0, Distance::Core),
            ([0, 1], 0.5, 0.0, 0.0, Distance::Cache),
            ([8, 1], 1.0, 0.0, 0.0, Distance::Node),
            ([32, 0], 0.5, 0.0, 0.5, Distance::OtherNode),
        ] {
            let crossing = layout(0, Steering::None, threads).crossing;
            let expected =
                Crossing { session, sibling, remote, farthest: Some(farthest), ..Crossing::default() };
            assert_eq!(crossing, expected, "{threads:?}");
        }
    }

    #[test]
    fn a_queue_is_far_on_another_node_than_its_device() {
        let far = |cpu| layout(cpu, Steering::None, [0, 0]).far_from_device;
        assert_eq!([0, 64, 32].map(far), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn steering_to_the_reader_moves_the_frame_instead_of_the_session() {
        let layout = layout(0, Steering::ToReader, [0, 1]);
        assert_eq!((layout.crossing.session, layout.crossing.frame), (0.0, 0.5));
        assert_eq!(layout.busiest, 0.5);
    }

    #[test]
    fn a_frame_that_follows_a_reader_to_the_sibling_is_handed_over_there() {
        let crossing = layout(0, Steering::ToReader, [0, 64]).crossing;
        assert_eq!((crossing.frame, crossing.frame_sibling, crossing.sibling), (0.0, 0.5, 0.0));
    }

    #[test]
    fn spreading_moves_both_wherever_the_reader_is() {
        let spread = Steering::Spread([0, 1].map(CpuId).into_iter().collect());
        let crossing = layout(0, spread, [0, 0]).crossing;
        assert_eq!((crossing.session, crossing.frame), (0.5, 0.5));
    }

    #[test]
    fn a_reader_that_may_run_anywhere_is_on_each_cpu_alike() {
        let observed = seen(fake::hosts::small_vm());
        let queues =
            vec![QueueLoad { cpu: CpuId(0), part: 1.0, steering: Steering::None, device_node: None }];
        let cpus = observed.inventory.machine.online();
        let anywhere = ReaderLoad { cpus, part: 1.0, of_one_thread: 0.0 };
        let pool = CpuPool::new(&observed, Goal::Throughput);
        assert_eq!(Layout::new(&pool, &queues, vec![anywhere.clone()]).crossing.session, 0.5);
        let following = vec![QueueLoad { steering: Steering::ToReader, ..queues[0].clone() }];
        let layout = Layout::new(&pool, &following, vec![anywhere.clone()]);
        assert_eq!((layout.crossing.session, layout.crossing.frame, layout.busiest), (0.0, 0.5, 0.5));
        let alone = ReaderLoad { of_one_thread: 1.0, ..anywhere };
        let busiest = Layout::new(&pool, &following, vec![alone]).busiest;
        assert_eq!(busiest, 1.0, "a single thread is on one cpu at a time");
        assert_eq!(layout.most_interrupted, 1.0, "the interrupt stays where it is");
        assert_eq!(
            layout.handed_over,
            BTreeMap::from([(CpuId(0), 0.5)]),
            "the other half it processes itself"
        );
    }
}
