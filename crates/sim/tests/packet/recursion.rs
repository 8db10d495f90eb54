//! Waiting times by recursion, with interchangeable servers: a packet costs what its size says, wherever it
//! is processed. Times are whole nanoseconds, so equality is exact.
//!
//! - One server: Lindley 1952, `W' = max(0, W + S - T)`.
//! - Several servers with one queue: Kiefer & Wolfowitz 1955. The work left at each server is kept in ascending
//!   order. An arrival waits for the least work and adds its service to it; until the next arrival the work at
//!   every server decreases by the time that passes.

use crate::listed::finished;
use crate::machines::{model, one_time};
use proptest::prelude::*;
use proptest::sample::select;
use warmcore_policy::assignment::hashed;
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Shape, SimulatedHost};
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::{Arrival, Direction, Key};

/// The service time of a packet: a constant, and a cost per byte, in nanoseconds.
const LEAST: f64 = 20_000.0;
const FOR_A_BYTE: f64 = 100.0;

/// A packet's arrival time and waiting time.
pub(crate) type Wait = (f64, f64);

/// A packet in order of arrival, with its service time.
pub(crate) struct Customer {
    at: f64,
    service: f64,
    stream: StreamId,
}

pub(crate) fn customers(arrivals: &[Arrival]) -> impl Iterator<Item = Customer> + Clone {
    arrivals.iter().flat_map(|arrival| {
        (0..arrival.packets).map(|_| Customer {
            at: arrival.at.0,
            service: LEAST + FOR_A_BYTE * f64::from(arrival.bytes),
            stream: arrival.stream,
        })
    })
}

/// Kiefer & Wolfowitz; with one server, Lindley.
pub(crate) fn recursion(servers: u32, customers: impl Iterator<Item = Customer>) -> Vec<Wait> {
    let mut work = vec![0.0_f64; servers as usize];
    let mut now = 0.0;
    let wait = |Customer { at, service, .. }: Customer| {
        work.iter_mut().for_each(|work| *work = (*work - (at - now)).max(0.0));
        now = at;
        work.sort_by(f64::total_cmp);
        let wait = work[0];
        work[0] += service;
        (at, wait)
    };
    customers.map(wait).collect()
}

/// Waiting times in the simulator, in order of arrival. Packets that arrive together have the same size, and
/// wait longer the later they are served.
pub(crate) fn simulated(
    approach: Parallelism,
    policy: ProcessorPolicy,
    shape: Shape,
    seed: u64,
    arrivals: &[Arrival],
) -> Vec<Wait> {
    let model = model(&one_time(Nanos(LEAST)), approach, shape.processors);
    let effects = Effects { checksum_ns_per_byte: FOR_A_BYTE, ..Effects::NONE };
    let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
    let key = Key { seed, point: 0, replication: 0 };
    let packets = finished(
        &SimulatedHost { shape, scheduling, model: &model, effects, extensions: Extensions::NONE, key },
        arrivals,
    );
    in_order(
        packets.iter().map(|packet| (packet.packet.arrived.0, (packet.started - packet.packet.arrived).0)),
    )
}

pub(crate) fn in_order(waits: impl Iterator<Item = Wait>) -> Vec<Wait> {
    let mut waits: Vec<Wait> = waits.collect();
    waits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    waits
}

/// Up to `streams` streams, with single packets and batches, with and without gaps.
fn arrivals(streams: u32) -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0_u32..60, 0..streams, prop_oneof![3 => Just(1_u32), 1 => 2_u32..6], 0_u16..1_500);
    prop::collection::vec(one, 1..200).prop_map(|list| {
        let mut now = Nanos::ZERO;
        let after = |(gap, stream, packets, bytes)| {
            // All times differ, so that the order of arrival is known afterwards.
            now += Nanos(f64::from(gap) * 1_000.0 + 1.0);
            Arrival { at: now, stream: StreamId(stream), packets, bytes, direction: Direction::Receive }
        };
        list.into_iter().map(after).collect()
    })
}

const STREAMS: u32 = 7;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_common_line_follows_kiefer_and_wolfowitz(
        (approach, policy) in select(&[
            (Parallelism::Locking, ProcessorPolicy::Mru),
            (Parallelism::Locking, ProcessorPolicy::Lru),
            (Parallelism::Locking, ProcessorPolicy::CentralQueue),
            (Parallelism::Hybrid, ProcessorPolicy::Mru),
            (Parallelism::Hybrid, ProcessorPolicy::Lru),
            (Parallelism::Hybrid, ProcessorPolicy::CentralQueue),
            (Parallelism::Hybrid, ProcessorPolicy::WiredStreams),
        ]),
        processors in 1_u32..9,
        seed: u64,
        arrivals in arrivals(STREAMS),
    ) {
        let shape = Shape { processors, streams: STREAMS, stacks: 1 };
        let expected = recursion(processors, customers(&arrivals));
        prop_assert_eq!(simulated(approach, policy, shape, seed, &arrivals), in_order(expected.into_iter()));
    }

    #[test]
    fn each_wired_processor_follows_lindley(
        (approach, policy) in select(&[
            (Parallelism::Locking, ProcessorPolicy::WiredStreams),
            (Parallelism::Locking, ProcessorPolicy::Hash),
            (Parallelism::Hybrid, ProcessorPolicy::Hash),
        ]),
        processors in 1_u32..9,
        arrivals in arrivals(STREAMS),
    ) {
        let shape = Shape { processors, streams: STREAMS, stacks: 1 };
        let places: Vec<u32> = match policy {
            ProcessorPolicy::Hash => hashed(STREAMS, processors),
            _ => (0..STREAMS).map(|stream| stream % processors).collect(),
        };
        let expected = (0..processors).flat_map(|processor| {
            recursion(1, customers(&arrivals).filter(|one| places[one.stream.index()] == processor))
        });
        prop_assert_eq!(simulated(approach, policy, shape, 0, &arrivals), in_order(expected));
    }

    /// With at least one processor per stack, every stack is a server of its own under any policy.
    #[test]
    fn each_stack_follows_lindley(
        policy in select(&[ProcessorPolicy::Mru, ProcessorPolicy::Lru, ProcessorPolicy::CentralQueue]),
        stacks in 1_u32..=STREAMS,
        more in 0_u32..3,
        seed: u64,
        arrivals in arrivals(STREAMS),
    ) {
        let shape = Shape { processors: stacks + more, streams: STREAMS, stacks };
        let expected = (0..stacks).flat_map(|stack| {
            recursion(1, customers(&arrivals).filter(|one| one.stream.0 % stacks == stack))
        });
        prop_assert_eq!(
            simulated(Parallelism::Ips, policy, shape, seed, &arrivals),
            in_order(expected)
        );
    }
}
