//! A thousand processors with a million streams. How long that takes is measured by the benchmark; here the
//! results must be right.

use crate::listed::{finished, first};
use crate::machines::{model, one_time};
use crate::recursion::{customers, in_order, recursion, simulated};
use std::collections::HashSet;
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, QueueRule, Scheduling};
use warmcore_sim::packet::{Shape, SimulatedHost};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrival, Key, Poisson};

const SHAPE: Shape = Shape { processors: 1_024, streams: 1_000_000, stacks: 1_000_000 };
const KEY: Key = Key { seed: 10, point: 0, replication: 0 };
const PACKETS: usize = 20_000;

/// Packets at whole nanoseconds, at a slightly higher rate than a thousand processors of [`SERVICE`] can
/// take.
fn arrivals() -> Vec<Arrival> {
    let rate = PerSecond::every(SERVICE) * (1.1 * f64::from(SHAPE.processors));
    let mut arrivals = first(&mut Poisson::new(rate, SHAPE.streams, KEY).expect("a rate"), PACKETS);
    arrivals.iter_mut().for_each(|arrival| arrival.at = Nanos(arrival.at.0.round()));
    arrivals
}

/// The service time of a packet of size 0 in [`simulated`].
const SERVICE: Nanos = Nanos(20_000.0);

#[test]
fn waits_follow_kiefer_and_wolfowitz() {
    let arrivals = arrivals();
    let expected = in_order(recursion(SHAPE.processors, customers(&arrivals)).into_iter());
    assert!(expected.iter().any(|&(_, wait)| wait > SERVICE.0), "processors are never all busy");
    for policy in [ProcessorPolicy::Mru, ProcessorPolicy::Lru, ProcessorPolicy::CentralQueue] {
        assert_eq!(simulated(Parallelism::Locking, policy, SHAPE, 1, &arrivals), expected, "{policy}");
    }
}

#[test]
fn every_way_to_run_them_finishes_all() {
    let arrivals = arrivals();
    for approach in [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid] {
        let model = model(&one_time(SERVICE), approach, SHAPE.processors);
        for policy in ProcessorPolicy::ALL {
            for queue in [QueueRule::Fifo, QueueRule::SameStreamFirst] {
                let scheduling = Scheduling { approach, policy, queue, ..Scheduling::default() };
                if scheduling.check().is_err() {
                    continue;
                }
                let host = SimulatedHost {
                    shape: SHAPE,
                    scheduling,
                    model: &model,
                    effects: Effects::NONE,
                    extensions: Extensions::NONE,
                    key: KEY,
                };
                let packets = finished(&host, &arrivals);
                let different: HashSet<(u64, u32)> = packets
                    .iter()
                    .map(|packet| (packet.packet.arrived.0.to_bits(), packet.packet.stream.0))
                    .collect();
                assert_eq!((packets.len(), different.len()), (PACKETS, PACKETS), "{scheduling}");
            }
        }
    }
}
