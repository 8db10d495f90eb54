//! Random small configurations.

use crate::machines::{approaches, flushed_at_once, model, set};
use core::fmt;
use core::ops::RangeInclusive;
use proptest::prelude::*;
use proptest::sample::select;
use warmcore_costs::profile::Measured;
use warmcore_costs::{ExecutionModel, Profile, Situation};
use warmcore_scenario::{
    Effects, Extensions, Organisation, Parallelism, ProcessorPolicy, QueueRule, Scheduling, ThreadOrder,
};
use warmcore_sim::packet::{Shape, SimulatedHost};
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Direction, Key};

/// A host and all its arrivals.
#[derive(Clone)]
pub(crate) struct Case {
    pub shape: Shape,
    pub scheduling: Scheduling,
    pub effects: Effects,
    pub profile: Profile,
    pub seed: u64,
    pub arrivals: Vec<Arrival>,
}

impl fmt::Debug for Case {
    /// Prints everything that matters, one arrival per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, scheduling, effects, profile, seed, arrivals } = self;
        writeln!(f, "{shape:?}\n{scheduling:?}\n{effects:?}\nkey seed {seed}")?;
        let sharers: Vec<u32> = profile.levels.iter().map(|level| level.shared_by).collect();
        writeln!(f, "levels shared by {sharers:?}; all times in ns")?;
        let model = self.model();
        for situation in Situation::all() {
            let [hot, cold] = [Nanos::ZERO, Nanos::INFINITY].map(|x| model.receive_after(situation, x).0);
            writeln!(f, "{situation}: {hot} hot, {cold} cold")?;
        }
        writeln!(f, "acquire {}, release {}", model.acquire_overhead().0, model.release_overhead().0)?;
        for Arrival { at, stream, packets, bytes, direction } in arrivals {
            writeln!(f, "{}: {packets} of stream {stream}, {bytes} bytes, {direction:?}", at.0)?;
        }
        Ok(())
    }
}

impl Case {
    pub(crate) fn model(&self) -> ExecutionModel {
        model(&self.profile, self.scheduling.approach, self.shape.processors)
    }

    pub(crate) fn host<'m>(&self, model: &'m ExecutionModel) -> SimulatedHost<'m> {
        let key = Key { seed: self.seed, point: 0, replication: 0 };
        SimulatedHost {
            shape: self.shape,
            scheduling: self.scheduling,
            model,
            effects: self.effects,
            extensions: Extensions::NONE,
            key,
        }
    }
}

/// Times are multiples of a microsecond (or of half of one); any pause flushes all caches.
pub(crate) fn whole() -> impl Strategy<Value = Case> {
    cases(few(1..=30), whole_times(), 1_000.0)
}

/// The published machine, which takes about a hundred microseconds for a packet.
pub(crate) fn published() -> impl Strategy<Value = Case> {
    cases(few(1..=100), Just(Profile::sgi_challenge_xl()), 10_000.0)
}

/// The published machine under the adaptive policy, with thousands of packets at three different mean gaps:
/// the policy gathers packets when they are rare, and wires streams when there are many.
pub(crate) fn changing() -> impl Strategy<Value = Case> {
    let phase = |shape: Shape| {
        prop_oneof![1_u32..=100, 100_u32..=2_000].prop_flat_map(move |longest_gap| {
            prop::collection::vec(arrivals(shape.streams, longest_gap), 900..1_000)
        })
    };
    let gaps = shapes().prop_flat_map(move |shape| {
        [phase(shape), phase(shape), phase(shape)].prop_map(move |phases| (shape, phases.concat()))
    });
    cases(gaps, Just(Profile::sgi_challenge_xl()), 10_000.0).prop_map(|mut case| {
        case.scheduling.policy = ProcessorPolicy::Adaptive;
        case.scheduling.queue = QueueRule::Fifo;
        case
    })
}

/// Up to 120 arrivals. The longest gap between them lies in `longest_gap`.
fn few(longest_gap: RangeInclusive<u32>) -> impl Strategy<Value = (Shape, Vec<(u32, Arrival)>)> {
    (shapes(), longest_gap).prop_flat_map(|(shape, longest_gap)| {
        prop::collection::vec(arrivals(shape.streams, longest_gap), 1..120)
            .prop_map(move |gaps| (shape, gaps))
    })
}

/// Cases with `profile`, whose caches may be shared. Gaps between packets are multiples of `unit`
/// nanoseconds.
fn cases(
    gaps: impl Strategy<Value = (Shape, Vec<(u32, Arrival)>)>,
    profile: impl Strategy<Value = Profile>,
    unit: f64,
) -> impl Strategy<Value = Case> {
    (gaps, schedulings(), effects(unit), profile, sharers(), any::<u64>()).prop_map(
        move |((shape, gaps), scheduling, effects, mut profile, sharers, seed)| {
            for (level, shared_by) in profile.levels.iter_mut().zip(sharers) {
                level.shared_by = shared_by;
            }
            let mut now = Nanos::ZERO;
            let after = |(gap, arrival)| {
                now += Nanos(unit) * f64::from(gap);
                Arrival { at: now, ..arrival }
            };
            let arrivals = gaps.into_iter().map(after).collect();
            Case { shape, scheduling, effects, profile, seed, arrivals }
        },
    )
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1_u32..=5, 1_u32..=8).prop_flat_map(|(processors, streams)| {
        (1..=streams).prop_map(move |stacks| Shape { processors, streams, stacks })
    })
}

/// A gap and the arrival after it.
fn arrivals(streams: u32, longest_gap: u32) -> impl Strategy<Value = (u32, Arrival)> {
    let packets = prop_oneof![4 => Just(1_u32), 1 => 2_u32..6];
    let direction = prop_oneof![4 => Just(Direction::Receive), 1 => Just(Direction::Send)];
    (0..=longest_gap, 0..streams, packets, 0_u16..4, direction).prop_map(
        |(gap, stream, packets, bytes, direction)| {
            (gap, Arrival { at: Nanos::ZERO, stream: StreamId(stream), packets, bytes, direction })
        },
    )
}

fn schedulings() -> impl Strategy<Value = Scheduling> {
    let organisation = || select(&Organisation::ALL);
    (
        select(&[Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid]),
        select(&ProcessorPolicy::ALL),
        select(&[QueueRule::Fifo, QueueRule::SameStreamFirst]),
        organisation(),
        select(&[ThreadOrder::Opposite, ThreadOrder::Mru, ThreadOrder::Lru]),
        organisation(),
    )
        .prop_map(|(approach, policy, queue, threads, thread_order, memory)| {
            let scheduling = Scheduling { approach, policy, queue, threads, thread_order, memory };
            match scheduling.check() {
                Ok(()) => scheduling,
                // This queue rule is the only thing that a check refuses.
                Err(_) => Scheduling { queue: QueueRule::Fifo, ..scheduling },
            }
        })
}

/// No effects, or each effect absent or a few units.
fn effects(unit: f64) -> impl Strategy<Value = Effects> {
    let some = |most: u32| prop_oneof![Just(0), 0..=most].prop_map(move |units| f64::from(units) * unit);
    let effects = (some(2), some(2), select(&[0.5, 1.0, 2.0]), some(3), some(5), some(2), some(3), some(12))
        .prop_map(|(checksum, copy, send_path, map_lock, session_lock, decision, start, staleness)| {
            Effects {
                checksum_ns_per_byte: checksum,
                copy_ns_per_byte: copy,
                send_path,
                map_lock_ns: map_lock,
                session_lock_ns: session_lock,
                decision_ns: decision,
                start_ns: start,
                staleness_ns: staleness,
            }
        });
    prop_oneof![Just(Effects::NONE), effects]
}

/// How many processors share the first and the second cache level.
fn sharers() -> impl Strategy<Value = [u32; 2]> {
    prop_oneof![Just([1, 1]), Just([1, 2]), Just([1, 3]), Just([2, 4]), Just([1, 8])]
}

/// A profile in which every time is a few microseconds.
fn whole_times() -> impl Strategy<Value = Profile> {
    let times = 2 * Situation::COUNT * 2;
    (prop::collection::vec(1_u32..12, times), [1_u32..5, 1_u32..5], 12_u32..20).prop_map(
        |(times, [acquire, release], fully_cold)| {
            let mut times = times.into_iter().map(|units| Nanos::from_micros(f64::from(units)));
            let mut next = || times.next().expect("as many as there are");
            let mut profile = flushed_at_once();
            for approach in approaches(&mut profile) {
                approach.fully_cold = Measured::published(Nanos::from_micros(f64::from(fully_cold)));
                for situation in Situation::all() {
                    let (hot, more) = (next(), next());
                    set(approach, situation, hot, hot + more);
                }
            }
            if let Some(pool) = &mut profile.free_memory {
                pool.acquire = Measured::published(Nanos::from_micros(f64::from(acquire)));
                pool.release = Measured::published(Nanos::from_micros(f64::from(release)));
            }
            profile
        },
    )
}
