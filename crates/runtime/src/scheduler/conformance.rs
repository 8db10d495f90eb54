//! Checks that the scheduler decides as the simulator did.
//!
//! The arrivals of a simulation are replayed at their times, and each packet finishes when its
//! simulated service ended. Each packet must be processed on the simulated processor and in the
//! simulated situation, whatever the policy.

use super::{Assignment, Scheduler};
use crate::packet::{Frame, Packet};
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{Layout, Waiting};
use warmcore_scenario::chosen::Task;
use warmcore_scenario::{
    Effects, Extensions, Organisation, Parallelism, ProcessorPolicy, QueueRule, Scheduling, Traffic,
};
use warmcore_sim::packet::{Finished, Shape, SimulatedHost, trace};
use warmcore_units::{Nanos, PerSecond, StreamId};
use warmcore_workload::arrivals::Arrival;
use warmcore_workload::{Arrivals, Key, Purpose};

const PACKETS: usize = 3_000;
const SHAPE: Shape = Shape { processors: 4, streams: 10, stacks: 6 };

/// A finite list of arrivals.
struct Listed<'a>(&'a [Arrival]);

impl Arrivals for Listed<'_> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let (now, later) = self.0.split_at(block.len().min(self.0.len()));
        block[..now.len()].copy_from_slice(now);
        self.0 = later;
        now.len()
    }
}

/// A simulation replayed on a scheduler.
struct Replay<'a> {
    scheduling: &'a Scheduling,
    layout: Layout,
    model: &'a ExecutionModel,
    key: Key,
    arrivals: &'a [Arrival],
    finished: &'a [Finished],
}

impl Task for Replay<'_> {
    type Job = Packet;
    type Output = ();

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) {
        let Self { scheduling, layout, model, key, arrivals, finished } = self;
        let random = key.stream(Purpose::Policy);
        let mut scheduler: Scheduler<P, W> = Scheduler::new(policy, scheduling, &layout, model, random);
        let mut hands: Vec<Option<Assignment>> = (0..layout.processors).map(|_| None).collect();
        let packets = |arrival: &Arrival| {
            let (arrived, stream) = (arrival.at, arrival.stream);
            (0..arrival.packets).map(move |_| Packet { arrived, stream, frame: Frame::Prepared(0) })
        };
        let mut arriving = arrivals.iter().flat_map(packets).peekable();
        for (number, simulated) in finished.iter().enumerate() {
            while let Some(packet) = arriving.next_if(|packet| packet.arrived < simulated.ended) {
                if let Some((cpu, first)) = scheduler.arrive(packet) {
                    let before = hands[cpu.index()].replace(first);
                    assert!(before.is_none(), "{scheduling}: {cpu} is idle");
                }
            }
            let hand = hands[simulated.cpu.index()].take();
            let ran = hand.unwrap_or_else(|| panic!("{scheduling}: packet {number} runs elsewhere"));
            let as_simulated = (simulated.packet.arrived, simulated.packet.stream, simulated.situation);
            assert_eq!((ran.packet.arrived, ran.packet.stream, ran.situation), as_simulated, "{scheduling}");
            hands[simulated.cpu.index()] =
                scheduler.finish(simulated.cpu, ran.thread, &ran.packet, simulated.ended);
        }
        assert_eq!(scheduler.held(), 0, "{scheduling}: everything is finished");
    }
}

/// Simulates `scheduling` at `rate`, and replays it.
fn check(scheduling: Scheduling, rate: PerSecond) {
    let key = Key { seed: 7, point: 0, replication: 0 };
    let traffic = Traffic { streams: SHAPE.streams, ..Traffic::default() };
    let mut source = traffic.generated().unwrap().source(rate, key).unwrap();
    let mut arrivals = vec![Arrival::default(); PACKETS];
    assert_eq!(source.fill(&mut arrivals), PACKETS);
    let costs = scheduling.approach.costs();
    let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), costs, SHAPE.processors).unwrap();
    let host = SimulatedHost {
        shape: SHAPE,
        scheduling,
        model: &model,
        effects: Effects::NONE,
        extensions: Extensions::NONE,
        key,
    };
    let mut finished = Vec::new();
    trace(&host, &mut Listed(&arrivals), u64::MAX, &mut |packet| finished.push(packet));
    assert!(finished.len() >= PACKETS, "{scheduling}: all packets are simulated");
    let layout = host.layout();
    let replay = Replay {
        scheduling: &scheduling,
        layout,
        model: &model,
        key,
        arrivals: &arrivals,
        finished: &finished,
    };
    scheduling.choose(SHAPE.processors, &model, replay);
}

#[test]
fn a_scheduler_decides_as_the_simulator_does() {
    let own = Organisation::PerProcessor;
    let pools = [(own, own), (Organisation::Global, own), (own, Organisation::Global)];
    for approach in [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid] {
        for policy in ProcessorPolicy::ALL {
            for (threads, memory) in pools {
                let scheduling = Scheduling { approach, policy, threads, memory, ..Scheduling::default() };
                for rate in [3_000.0, 20_000.0] {
                    check(scheduling, PerSecond(rate));
                }
            }
        }
    }
    let same = Scheduling {
        queue: QueueRule::SameStreamFirst,
        policy: ProcessorPolicy::Mru,
        ..Scheduling::default()
    };
    check(same, PerSecond(20_000.0));
}

/// Lets the same packets arrive at two schedulers with a busy worker: one lets them pass where it can.
struct Passing<'a> {
    scheduling: &'a Scheduling,
    model: &'a ExecutionModel,
}

impl Task for Passing<'_> {
    type Job = Packet;
    /// How many packets passed.
    type Output = usize;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> usize {
        let Self { scheduling, model } = self;
        let layout = scheduling.layout(SHAPE.processors, SHAPE.streams, SHAPE.stacks);
        let key = Key { seed: 7, point: 0, replication: 0 };
        let make = || -> Scheduler<P, W> {
            Scheduler::new(policy.clone(), scheduling, &layout, model, key.stream(Purpose::Policy))
        };
        let (mut deciding, mut passing) = (make(), make());
        let packet = |number: u32| {
            let (arrived, stream) = (Nanos(f64::from(number)), StreamId(number % SHAPE.streams));
            Packet { arrived, stream, frame: Frame::Prepared(number) }
        };
        let shown =
            |of: &Assignment| (of.packet.arrived, of.packet.stream, of.stack, of.thread, of.situation);
        let (cpu, first) = deciding.arrive(packet(0)).unwrap();
        let mut last = passing.arrive(packet(0)).unwrap().1;
        let (mut held, mut passed) = (vec![first], 0);
        for number in 1..500 {
            let packet_of = packet(number);
            if passing.passes(cpu, &packet_of, last.stack) {
                let here = passing.pass(cpu, packet_of, (last.stack, last.thread));
                assert!(deciding.arrive(packet(number)).is_none(), "{scheduling}: the worker is busy");
                let next = deciding.prefetch(cpu, &held[held.len() - 1]);
                let next = next.unwrap_or_else(|| panic!("{scheduling}: packet {number} waits"));
                assert_eq!(shown(&next), shown(&here), "{scheduling}");
                assert_eq!(deciding.held(), passing.held(), "{scheduling}");
                held.push(next);
                last = here;
                passed += 1;
            }
        }
        passed
    }
}

#[test]
fn a_packet_passes_only_if_it_would_be_prefetched_at_once() {
    for approach in [Parallelism::Locking, Parallelism::Ips, Parallelism::Hybrid] {
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), approach.costs(), SHAPE.processors);
        for policy in ProcessorPolicy::ALL {
            let scheduling = Scheduling { approach, policy, ..Scheduling::default() };
            let passing = Passing { scheduling: &scheduling, model: model.as_ref().unwrap() };
            let passed = scheduling.choose(SHAPE.processors, model.as_ref().unwrap(), passing);
            if policy == ProcessorPolicy::WiredStreams && approach != Parallelism::Hybrid {
                assert!(passed > 50, "{scheduling}: {passed} packets pass");
            }
        }
    }
}
