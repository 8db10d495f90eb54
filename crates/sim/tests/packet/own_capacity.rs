//! The capacity of hosts with models of one's own, of which nothing is known: what a run shows of their processors and stacks
//! must give the capacity of the same hosts by their names.

use crate::machines::model;
use rayon::prelude::*;
use warmcore_costs::{ConstantCost, Profile};
use warmcore_policy::dispatch::{PacketQueues, StackQueues, Waiting};
use warmcore_policy::policies::{JoinShortestQueue, MostRecentlyUsed, WiredStreams};
use warmcore_policy::{Decision, Policy, Queues, Request, View};
use warmcore_scenario::{PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Stacks, Traffic};
use warmcore_sim::packet::{Bound, Packet, ServerKind, Shape, Simulation, highest_bound};
use warmcore_units::{CpuId, Nanos, PerSecond};
use warmcore_workload::{Key, Popularity};

const PROCESSORS: u32 = 8;

fn scenario(
    approach: Parallelism,
    policy: ProcessorPolicy,
    streams: u32,
    exponent: f64,
    seed: u64,
) -> PacketScenario {
    let popularity = if exponent == 0.0 { Popularity::Uniform } else { Popularity::Zipf(exponent) };
    PacketScenario {
        processors: PROCESSORS,
        stacks: Stacks::Count(streams.min(12)),
        rate_per_s: Some(PerSecond(30_000.0)),
        scheduling: Scheduling { approach, policy, ..Scheduling::default() },
        traffic: Traffic { streams, popularity, ..Traffic::default() },
        seed,
        ..PacketScenario::default()
    }
}

/// The bound of `scenario` by its name, and with `policy` as one of one's own.
fn both<P: Policy, W: Waiting<Job = Packet>>(
    scenario: &PacketScenario,
    policy: P,
    knows_shares: bool,
) -> [Bound; 2] {
    let profile = Profile::sgi_challenge_xl();
    let traffic = scenario.traffic.generated().unwrap();
    let named = highest_bound(scenario, &traffic, &profile).unwrap();
    let streams = traffic.streams();
    let stacks = scenario.check_stacks(streams).unwrap();
    let approach = scenario.scheduling.approach;
    let costs = model(&profile, approach, PROCESSORS);
    let simulation = Simulation::new(Shape { processors: PROCESSORS, streams, stacks }, policy, costs)
        .queues::<W>()
        .scheduling(scenario.scheduling)
        // Other random numbers than by name.
        .with_key(Key { seed: scenario.seed, point: 1, replication: 1 });
    let shares = if knows_shares { traffic.shares().unwrap() } else { Vec::new() };
    let mut arrivals = traffic.endless(PerSecond(1e4), simulation.key()).unwrap();
    [named, simulation.shares(shares).bound(&mut *arrivals).unwrap()]
}

/// How far the two capacities are from each other, in half-widths of both.
fn distance(what: &str, found: &[Bound; 2]) -> f64 {
    let [named, own] = found.map(|bound| bound.capacity.rate);
    assert!(own.half() < 0.04 * own.mean.0, "{what}: {found:?}");
    // Rounding alone is 1e-9.
    (named.mean.0 - own.mean.0).abs() / (named.half() + own.half() + 1e-9 * own.mean.0)
}

/// Seeds for each host: `WARMCORE_COVERAGE_SEEDS`, or few.
fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("WARMCORE_COVERAGE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}

type Case = (&'static str, fn(u64, bool) -> [Bound; 2]);

/// Wired streams that divide unevenly, stacks in a common queue and wired ones, queues per processor that are kept even, with
/// the streams' shares known and not.
#[test]
fn ones_own_policy_has_the_capacity_of_the_same_one_by_its_name() {
    use Parallelism::{Ips, Locking};
    use ProcessorPolicy as By;
    let cases: [Case; 6] = [
        ("wired streams, Zipf", |seed, knows| {
            let scenario = scenario(Locking, By::WiredStreams, 20, 1.0, seed);
            both::<_, PacketQueues<Packet>>(&scenario, WiredStreams, knows)
        }),
        ("nine wired streams", |seed, knows| {
            both::<_, PacketQueues<Packet>>(
                &scenario(Locking, By::WiredStreams, 9, 0.0, seed),
                WiredStreams,
                knows,
            )
        }),
        ("wired streams, even", |seed, knows| {
            both::<_, PacketQueues<Packet>>(
                &scenario(Locking, By::WiredStreams, 16, 0.0, seed),
                WiredStreams,
                knows,
            )
        }),
        ("stacks", |seed, knows| {
            both::<_, StackQueues<Packet>>(&scenario(Ips, By::Mru, 20, 1.0, seed), MostRecentlyUsed, knows)
        }),
        ("wired stacks", |seed, knows| {
            both::<_, StackQueues<Packet>>(
                &scenario(Ips, By::WiredStreams, 20, 1.0, seed),
                WiredStreams,
                knows,
            )
        }),
        ("shortest queue", |seed, knows| {
            let policy = JoinShortestQueue::new(PROCESSORS);
            both::<_, PacketQueues<Packet>>(
                &scenario(Locking, By::ShortestQueue, 20, 1.0, seed),
                policy,
                knows,
            )
        }),
    ];
    let of_case = |&(name, bound): &Case| -> Vec<f64> {
        let runs = seeds().flat_map(|seed| [true, false].map(|knows| (seed, knows)));
        let distances = runs.map(|(seed, knows)| {
            let found = bound(seed, knows);
            let [named, own] = found.map(|of| of.capacity.rate);
            println!("{name}, seed {seed}, {knows}: {named:?} {own:?} {:?}", found[1].busiest);
            distance(name, &found)
        });
        distances.collect()
    };
    let distances: Vec<f64> = cases.par_iter().flat_map_iter(of_case).collect();
    let agree = distances.iter().filter(|&&distance| distance <= 1.0).count();
    println!("{agree} of {} agree", distances.len());
    // Two 95% intervals that hold do not meet for at most 1 pair in 20, and none is far off.
    assert!(agree * 20 >= distances.len() * 19 && distances.iter().all(|&far| far < 2.0), "{distances:?}");
}

/// A packet's home if it is idle, or any idle processor, or else the home's queue.
#[derive(Clone)]
struct Spill;

impl Policy for Spill {
    const QUEUES: Queues = Queues::PerProcessor;

    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl rand::Rng) -> Decision {
        let mut all = core::iter::once(request.home).chain((0..view.processors()).map(CpuId));
        all.find(|&cpu| view.is_idle(cpu)).map_or(Decision::Wait(request.home), Decision::Run)
    }
}

/// One stream on two processors. The other one only takes what arrives while it is idle, 1/(S + 1/λ) of λ packets a second, so the
/// home is never idle from λ − λ/(1 + λS) = 1/S on: λS is the golden ratio.
#[test]
fn the_share_of_a_processor_may_depend_on_the_rate() {
    let golden = f64::midpoint(1.0, 5_f64.sqrt());
    let held = (0..4_u64).filter(|&seed| {
        let shape = Shape { processors: 2, streams: 1, stacks: 1 };
        let simulation = Simulation::new(shape, Spill, ConstantCost(Nanos(1_000.0))).seed(seed);
        let mut arrivals = warmcore_workload::Poisson::new(PerSecond(1e6), 1, simulation.key()).unwrap();
        let bound = simulation.bound(&mut arrivals).unwrap();
        let busiest = bound.busiest.unwrap();
        assert_eq!((busiest.kind, busiest.number), (ServerKind::Processor, 0));
        let relative = bound.capacity.rate.relative_half_width().unwrap();
        assert!(relative < 0.03, "{bound:?}");
        println!("{bound:?}");
        (bound.capacity.rate.mean.0 / (golden * 1e6) - 1.0).abs() <= relative
    });
    assert!(held.count() >= 3);
}
