//! Properties that hold whatever the costs are.

use crate::cases::{self, Case};
use crate::listed::{Listed, finished, first};
use crate::machines::model;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use warmcore_costs::Profile;
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, QueueRule, Scheduling};
use warmcore_sim::packet::{Finished, Outcome, Precision, Shape, SimulatedHost, run};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrival, Arrivals, Key, Poisson};

/// What tells one packet from another: arrival, stream, size, direction.
type Name = (u64, u32, u16, bool);

fn name(at: Nanos, stream: u32, bytes: u16, sent: bool) -> Name {
    (at.0.to_bits(), stream, bytes, sent)
}

fn sent(direction: warmcore_workload::Direction) -> bool {
    direction == warmcore_workload::Direction::Send
}

/// How many packets have each name.
fn counted(names: impl Iterator<Item = Name>) -> BTreeMap<Name, u32> {
    names.fold(BTreeMap::new(), |mut counts, name| {
        *counts.entry(name).or_default() += 1;
        counts
    })
}

fn names_of_arrivals(arrivals: &[Arrival]) -> BTreeMap<Name, u32> {
    counted(arrivals.iter().flat_map(|arrival| {
        let Arrival { at, stream, packets, bytes, direction } = *arrival;
        (0..packets).map(move |_| name(at, stream.0, bytes, sent(direction)))
    }))
}

fn names_of_finished(packets: &[Finished]) -> BTreeMap<Name, u32> {
    counted(packets.iter().map(|finished| {
        let packet = finished.packet;
        name(packet.arrived, packet.stream.0, packet.bytes, sent(packet.direction))
    }))
}

fn simulate(case: &Case) -> Vec<Finished> {
    let model = case.model();
    finished(&case.host(&model), &case.arrivals)
}

/// Whether no processor is ever idle while a packet waits.
fn is_work_conserving(packets: &[Finished], processors: u32) -> bool {
    let instants = packets.iter().flat_map(|packet| [packet.packet.arrived, packet.started, packet.ended]);
    instants.into_iter().all(|now| {
        // The state after all events at this time.
        let waits = packets.iter().any(|packet| packet.packet.arrived <= now && now < packet.started);
        let running = packets.iter().filter(|packet| packet.started <= now && now < packet.ended).count();
        !waits || running == processors as usize
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_packet_is_lost_or_doubled_or_early(case in prop_oneof![cases::whole(), cases::published()]) {
        let packets = simulate(&case);
        prop_assert_eq!(names_of_finished(&packets), names_of_arrivals(&case.arrivals));
        for packet in &packets {
            prop_assert!(packet.packet.arrived <= packet.started && packet.started < packet.ended);
        }
        prop_assert!(packets.is_sorted_by_key(|packet| packet.ended.0));
    }

    #[test]
    fn a_processor_does_one_thing_at_a_time(case in prop_oneof![cases::whole(), cases::published()]) {
        let packets = simulate(&case);
        for cpu in 0..case.shape.processors {
            let own: Vec<&Finished> = packets.iter().filter(|packet| packet.cpu.0 == cpu).collect();
            prop_assert!(own.is_sorted_by(|one, next| one.ended <= next.started));
        }
    }

    /// A stack takes one packet at a time, and a wired processor has one queue.
    #[test]
    fn a_stream_on_one_stack_or_one_processor_stays_in_order(
        mut case in prop_oneof![cases::whole(), cases::published()],
        one_stack: bool,
    ) {
        if one_stack {
            case.scheduling.approach = Parallelism::Ips;
        } else {
            // Hybrid uses the hash: there Wired-Streams would wire stacks only.
            let open_everywhere = case.scheduling.approach == Parallelism::Hybrid;
            case.scheduling.policy =
                if open_everywhere { ProcessorPolicy::Hash } else { ProcessorPolicy::WiredStreams };
        }
        case.scheduling.queue = QueueRule::Fifo;
        let packets = simulate(&case);
        for stream in 0..case.shape.streams {
            let own: Vec<&Finished> = packets.iter().filter(|packet| packet.packet.stream.0 == stream).collect();
            prop_assert!(own.is_sorted_by(|one, next| one.packet.arrived <= next.packet.arrived));
            prop_assert!(own.is_sorted_by(|one, next| one.ended <= next.started));
        }
    }

    /// Salehi 1994, §3: "protocol processing is work-conserving under MRU and LRU". With one queue or with
    /// stealing it is so too, as long as every policy sees the current state.
    #[test]
    fn no_packet_waits_while_a_processor_is_idle(
        mut case in prop_oneof![cases::whole(), cases::published()],
        approach in select(&[Parallelism::Locking, Parallelism::Hybrid]),
        policy in select(&[
            ProcessorPolicy::Mru,
            ProcessorPolicy::Lru,
            ProcessorPolicy::CentralQueue,
            ProcessorPolicy::HashStealing,
        ]),
    ) {
        case.scheduling = Scheduling { approach, policy, queue: QueueRule::Fifo, ..case.scheduling };
        case.effects.staleness_ns = 0.0;
        prop_assert!(is_work_conserving(&simulate(&case), case.shape.processors));
    }

    /// Common random numbers: every policy gets the same packets.
    #[test]
    fn every_policy_sees_the_same_packets(seed: u64, rate in 1_000.0..60_000.0_f64) {
        let key = Key { seed, point: 0, replication: 0 };
        let model = model(&Profile::sgi_challenge_xl(), Parallelism::Locking, 4);
        let mut seen = ProcessorPolicy::ALL.map(|policy| {
            let arrivals = first(&mut Poisson::new(PerSecond(rate), 6, key).expect("a rate"), 300);
            let scheduling = Scheduling { policy, ..Scheduling::default() };
            let shape = Shape { processors: 4, streams: 6, stacks: 1 };
            let host = SimulatedHost { shape, scheduling, model: &model, effects: Effects::NONE, extensions: Extensions::NONE, key };
            names_of_finished(&finished(&host, &arrivals))
        }).into_iter();
        let one = seen.next();
        prop_assert!(seen.all(|other| Some(&other) == one.as_ref()));
    }
}

/// A source that is asked for blocks of changing lengths.
struct InPieces<A> {
    source: A,
    asked: usize,
}

impl<A: Arrivals> Arrivals for InPieces<A> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let mut filled = 0;
        while filled < block.len() {
            self.asked = self.asked % 37 + 1;
            let end = block.len().min(filled + self.asked);
            filled += self.source.fill(&mut block[filled..end]);
        }
        filled
    }
}

const RATE: PerSecond = PerSecond(30_000.0);

/// One run of the published machine, with arrivals drawn in `pieces` or not.
fn outcome(policy: ProcessorPolicy, pieces: bool) -> Outcome {
    let key = Key { seed: 5, point: 1, replication: 2 };
    let model = model(&Profile::sgi_challenge_xl(), Parallelism::Locking, 8);
    let scheduling = Scheduling { policy, ..Scheduling::default() };
    let host = SimulatedHost {
        shape: Shape::square(8),
        scheduling,
        model: &model,
        effects: Effects::NONE,
        extensions: Extensions::NONE,
        key,
    };
    let precision = Precision { relative: f64::MIN_POSITIVE, max_packets: 50_000, mean_gap: None };
    let source = Poisson::new(RATE, 8, key).expect("a rate");
    if pieces {
        run(&host, &mut InPieces { source, asked: 0 }, precision)
    } else {
        run(&host, &mut { source }, precision)
    }
}

/// Runs alone, beside other runs, and with arrivals drawn in pieces.
#[test]
fn a_run_gives_the_same_bits_whatever_runs_beside_it() {
    use rayon::prelude::*;
    let alone = ProcessorPolicy::ALL.map(|policy| outcome(policy, false));
    let beside: Vec<Outcome> =
        ProcessorPolicy::ALL.par_iter().map(|&policy| outcome(policy, false)).collect();
    assert_eq!(beside, alone);
    let in_pieces: Vec<Outcome> =
        ProcessorPolicy::ALL.par_iter().map(|&policy| outcome(policy, true)).collect();
    assert_eq!(in_pieces, alone);
}

/// Little's law (1961), `L = λ W`, with the number of packets in the host counted at every event; also for
/// the packets in service. The warm-up that the means leave out, and the end of the run, matter by less than
/// a hundredth.
#[test]
fn outcomes_agree_with_littles_law() {
    let key = Key { seed: 7, point: 0, replication: 0 };
    let model = model(&Profile::sgi_challenge_xl(), Parallelism::Locking, 8);
    let scheduling = Scheduling { policy: ProcessorPolicy::Mru, ..Scheduling::default() };
    let host = SimulatedHost {
        shape: Shape::square(8),
        scheduling,
        model: &model,
        effects: Effects::NONE,
        extensions: Extensions::NONE,
        key,
    };
    let arrivals = first(&mut Poisson::new(RATE, 8, key).expect("a rate"), 100_000);
    let packets = finished(&host, &arrivals);
    let precision = Precision { relative: f64::MIN_POSITIVE, max_packets: u64::MAX, mean_gap: None };
    let outcome = run(&host, &mut Listed::new(&arrivals), precision);

    let present = mean_number(packets.iter().map(|packet| (packet.packet.arrived.0, packet.ended.0)));
    let little = outcome.throughput.0 * outcome.delay.mean.secs();
    assert!((present / little - 1.0).abs() < 0.01, "{present} instead of {little}");
    let running = mean_number(packets.iter().map(|packet| (packet.started.0, packet.ended.0)));
    let little = outcome.throughput.0 * outcome.service.mean.secs();
    assert!((running / little - 1.0).abs() < 0.01, "{running} instead of {little}");
    let utilised = 8.0 * outcome.utilisation.mean;
    assert!((running / utilised - 1.0).abs() < 0.01, "{running} instead of {utilised}");
}

/// The mean number of intervals in `stays` that contain a time, from 0 to the end of the last.
fn mean_number(stays: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut steps: Vec<(f64, f64)> = stays.flat_map(|(from, to)| [(from, 1.0), (to, -1.0)]).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut area, mut number, mut last) = (0.0, 0.0, 0.0);
    for (at, step) in steps {
        area += number * (at - last);
        number += step;
        last = at;
    }
    area / last
}
