//! Models of one's own through the front door, held against theory and against the built-in ones.

use crate::machines::model;
use crate::theory::formulas::{Moments, wait_mg1, wait_mmc};
use core::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_costs::{ConstantCost, CostModel, Found, Profile};
use warmcore_policy::dispatch::{QueueLimit, QueueRules, StackQueues};
use warmcore_policy::policies::{MostRecentlyUsed, WiredStreams};
use warmcore_policy::{Decision, Policy, Queues, Request, View};
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{
    Ended, Finished, Packet, Precision, ServiceDistribution, Shape, SimulatedHost, Simulation,
    SimulationError, SimulationEvent, run, trace,
};
use warmcore_units::{Nanos, PerSecond, StreamId};
use warmcore_workload::random::Random;
use warmcore_workload::{Arrival, Arrivals, ClosedLoop, Key, Poisson, Silence, TimeDistribution};

/// The lowest idle processor.
#[derive(Clone)]
struct First;

impl Policy for First {
    const QUEUES: Queues = Queues::Common;

    fn place(&mut self, request: Request, view: &impl View, _random: &mut impl rand::Rng) -> Decision {
        let mut all = (0..view.processors()).map(warmcore_units::CpuId);
        all.find(|&cpu| view.is_idle(cpu)).map_or(Decision::Wait(request.home), Decision::Run)
    }
}

/// Always cpu 0, busy or not.
#[derive(Clone)]
struct Stubborn;

impl Policy for Stubborn {
    const QUEUES: Queues = Queues::Common;

    fn place(&mut self, _request: Request, _view: &impl View, _random: &mut impl rand::Rng) -> Decision {
        Decision::Run(warmcore_units::CpuId(0))
    }
}

/// Streams take unequal times: 1 µs, 2 µs, ….
struct ByStream;

impl CostModel for ByStream {
    fn receive(&self, found: &Found, _idle: impl Fn(usize) -> Nanos) -> Nanos {
        Nanos(1_000.0) * f64::from(found.stream.0 + 1)
    }
}

/// Twice what the model says for every second packet, nothing for the others; it counts them.
#[derive(Clone)]
struct Alternating(Arc<AtomicU64>);

impl ServiceDistribution for Alternating {
    fn draw(&mut self, _packet: &Packet, costs: Nanos, _random: &mut Random) -> Nanos {
        costs * f64::from(u8::from(self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(2))) * 2.0
    }
}

/// Arrivals from a list.
struct Listed(std::vec::IntoIter<Arrival>);

impl Listed {
    fn new(arrivals: &[(f64, u32)]) -> Self {
        let arrivals: Vec<Arrival> =
            arrivals.iter().map(|&(at, stream)| Arrival::single(Nanos(at), StreamId(stream))).collect();
        Self(arrivals.into_iter())
    }
}

impl Arrivals for Listed {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        block.iter_mut().zip(&mut self.0).map(|(place, arrival)| *place = arrival).count()
    }
}

fn exponential() -> warmcore_workload::TimeFactors {
    TimeDistribution::Exponential.factors().unwrap()
}

#[test]
fn a_policy_of_ones_own_on_mm4() {
    let simulation = Simulation::new(Shape::square(4), First, ConstantCost(Nanos(1_000.0)))
        .service(exponential())
        .seed(26)
        .precision(0.01);
    let mut arrivals = Poisson::new(PerSecond(3.2e6), 4, simulation.key()).unwrap();
    let outcome = simulation.run(&mut arrivals).unwrap();
    let exact = wait_mmc(4, 3.2, 1_000.0) + 1_000.0;
    // Three half-widths: a correct run fails once in a billion seeds, and this seed is fixed.
    assert!((outcome.delay.mean.0 - exact).abs() < 3.0 * outcome.delay.half(), "{:?} {exact}", outcome.delay);
    assert_eq!(outcome.ended, Ended::Precise);
    let mut arrivals = Poisson::new(PerSecond(1.0), 4, simulation.key()).unwrap();
    let capacity = simulation.capacity(&mut arrivals).unwrap().rate.mean;
    assert!((capacity.0 / 4e6 - 1.0).abs() < 0.03, "{capacity:?}");
}

#[test]
fn costs_of_ones_own_on_mg1() {
    let simulation =
        Simulation::new(Shape { processors: 1, streams: 3, stacks: 1 }, MostRecentlyUsed, ByStream)
            .seed(27)
            .precision(0.01);
    let rate = 0.3e6;
    let mut arrivals = Poisson::new(PerSecond(rate), 3, simulation.key()).unwrap();
    let outcome = simulation.run(&mut arrivals).unwrap();
    let service = Moments { mean: 2_000.0, second: 14e6 / 3.0 };
    let exact = wait_mg1(rate / 1e9, service) + service.mean;
    assert!((outcome.delay.mean.0 - exact).abs() < 3.0 * outcome.delay.half(), "{:?} {exact}", outcome.delay);
}

#[test]
fn service_times_and_arrivals_of_ones_own_are_followed_exactly() {
    let drawn = Arc::new(AtomicU64::new(0));
    let simulation = Simulation::new(Shape::square(1), First, ConstantCost(Nanos(100.0)))
        .service(Alternating(drawn.clone()))
        .speeds([0.5]);
    let mut ended = Vec::new();
    let mut arrivals = Listed::new(&[(0.0, 0), (10.0, 0), (1_000.0, 0)]);
    simulation.trace(&mut arrivals, 10, &mut |finished| ended.push(finished.ended.0)).unwrap();
    // 200 ns at half the speed; nothing; 200 ns at half the speed.
    assert_eq!(ended, [400.0, 400.0, 1_400.0]);
    assert_eq!(drawn.load(Ordering::Relaxed), 3);
}

/// The same bits as the named scenario, packet by packet.
#[test]
fn the_front_door_simulates_what_the_named_scenario_does() {
    let shape = Shape::square(4);
    let scheduling = Scheduling {
        approach: Parallelism::Locking,
        policy: ProcessorPolicy::WiredStreams,
        ..Scheduling::default()
    };
    let costs = model(&Profile::sgi_challenge_xl(), Parallelism::Locking, 4);
    let key = Key { seed: 3, point: 1, replication: 0 };
    let rate = PerSecond(30_000.0);
    let host = SimulatedHost {
        shape,
        scheduling,
        model: &costs,
        effects: Effects::NONE,
        extensions: Extensions::NONE,
        key,
    };
    let (mut named, mut own): (Vec<Finished>, Vec<Finished>) = Default::default();
    trace(&host, &mut Poisson::new(rate, 4, key).unwrap(), 5_000, &mut |finished| named.push(finished));
    let simulation = Simulation::new(shape, WiredStreams, costs.clone()).scheduling(scheduling).with_key(key);
    simulation
        .trace(&mut Poisson::new(rate, 4, key).unwrap(), 5_000, &mut |finished| own.push(finished))
        .unwrap();
    assert_eq!(named.len(), 5_000);
    assert_eq!(named, own);
    let precision = Precision { relative: 0.05, max_packets: 50_000, mean_gap: None };
    let outcome = run(&host, &mut Poisson::new(rate, 4, key).unwrap(), precision);
    let same = simulation.precision(0.05).max_packets(50_000);
    let same = same.run(&mut Poisson::new(rate, 4, key).unwrap()).unwrap();
    // The same packets, but the named scenario needs no event queue: they enter the statistics in another order, which
    // changes the ends of batches.
    assert_eq!(
        (same.packets, same.situations, same.ended),
        (outcome.packets, outcome.situations, outcome.ended)
    );
    for [same, named] in [[same.delay, outcome.delay], [same.service, outcome.service]] {
        assert!((same.mean / named.mean - 1.0).abs() < 1e-3, "{same:?} and {named:?}");
        assert!((same.half() / named.half() - 1.0).abs() < 0.05, "{same:?} and {named:?}");
    }
}

/// Runs nothing, with queues of a processor's own or a common one.
#[derive(Clone)]
struct AlwaysWaits<const OWN: bool>;

impl<const OWN: bool> Policy for AlwaysWaits<OWN> {
    const QUEUES: Queues = if OWN { Queues::PerProcessor } else { Queues::Common };
    const USES_LOAD: bool = true;

    fn place(&mut self, _request: Request, _view: &impl View, _random: &mut impl rand::Rng) -> Decision {
        Decision::Wait(warmcore_units::CpuId(1))
    }
}

#[test]
fn an_impossible_answer_ends_the_run_and_is_named() {
    let field = |error: SimulationError| match error {
        SimulationError::Model(fault) | SimulationError::Setting(fault) => fault.field,
    };
    let key = Key { seed: 1, point: 0, replication: 0 };
    let arrivals = || Poisson::new(PerSecond(1e6), 2, key).unwrap();
    let cost = ConstantCost(Nanos(1_000.0));
    let shape = Shape::square(2);
    let stubborn = Simulation::new(shape, Stubborn, cost);
    assert_eq!(field(stubborn.run(&mut arrivals()).unwrap_err()), "policy");
    assert_eq!(field(stubborn.capacity(&mut arrivals()).unwrap_err()), "policy");
    // Nobody takes what waits at an idle processor, or while all are idle.
    let waiting = Simulation::new(shape, AlwaysWaits::<true>, cost);
    assert_eq!(field(waiting.run(&mut arrivals()).unwrap_err()), "policy");
    assert_eq!(field(waiting.capacity(&mut arrivals()).unwrap_err()), "policy");
    let waiting = Simulation::new(shape, AlwaysWaits::<false>, cost);
    assert_eq!(field(waiting.run(&mut arrivals()).unwrap_err()), "policy");
    assert_eq!(field(waiting.capacity(&mut arrivals()).unwrap_err()), "policy");
    for impossible in [f64::NAN, -1.0, 1e300] {
        let costs = Simulation::new(shape, First, ConstantCost(Nanos(impossible)));
        assert_eq!(field(costs.run(&mut arrivals()).unwrap_err()), "costs");
        assert_eq!(field(costs.capacity(&mut arrivals()).unwrap_err()), "costs");
    }
    let honest = Simulation::new(shape, First, cost);
    let backwards = honest.run(&mut Listed::new(&[(5.0, 0), (4.0, 0)])).unwrap_err();
    assert_eq!(field(backwards), "arrivals.at");
    assert_eq!(field(honest.run(&mut Listed::new(&[(5.0, 2)])).unwrap_err()), "arrivals.stream");
    let slow = Simulation::new(shape, First, cost).speeds([1.0]);
    assert_eq!(field(slow.run(&mut arrivals()).unwrap_err()), "speeds");
    let ips = Scheduling { approach: Parallelism::Ips, ..Scheduling::default() };
    let mixed = Simulation::new(shape, First, cost).scheduling(ips);
    assert_eq!(field(mixed.run(&mut arrivals()).unwrap_err()), "scheduling.approach");
    let stacks = mixed.queues::<StackQueues<Packet>>().max_packets(10_000);
    assert!(stacks.run(&mut arrivals()).is_ok());
    let none = Simulation::new(Shape { processors: 0, ..shape }, First, cost);
    assert_eq!(field(none.run(&mut arrivals()).unwrap_err()), "processors");
}

#[test]
fn every_event_is_shown_in_order_and_a_loss_too() {
    let rules = QueueRules { limit: Some(QueueLimit::Each(1)), classes: &[] };
    let simulation = Simulation::new(Shape::square(1), First, ConstantCost(Nanos(100.0))).queue_rules(rules);
    let arrivals = || Listed::new(&[(0.0, 0), (10.0, 0), (20.0, 0), (150.0, 0)]);
    let seen = |most: usize| {
        let mut seen = Vec::new();
        let mut see = |event| {
            seen.push(match event {
                SimulationEvent::Arrived(packet) => ('a', packet.arrived.0),
                SimulationEvent::Lost(packet) => ('l', packet.arrived.0),
                SimulationEvent::Finished(finished) => ('f', finished.ended.0),
            });
            if seen.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        simulation.events(&mut arrivals(), &mut see).unwrap();
        seen
    };
    let all = [
        ('a', 0.0),
        ('a', 10.0),
        ('a', 20.0),
        ('l', 20.0),
        ('f', 100.0),
        ('a', 150.0),
        ('f', 200.0),
        ('f', 300.0),
    ];
    assert_eq!(seen(usize::MAX), all);
    assert_eq!(seen(4), all[..4]);
}

/// Two clients of one request each, answered one after the other.
#[test]
fn a_closed_loop_of_ones_own_sends_what_it_was_answered() {
    let closed = ClosedLoop { window: 1, think: Nanos(50.0), distribution: TimeDistribution::Deterministic };
    let shape = Shape { processors: 1, streams: 2, stacks: 1 };
    let simulation = Simulation::new(shape, First, ConstantCost(Nanos(100.0))).closed(closed);
    let mut finished = Vec::new();
    simulation
        .trace(&mut Silence, 5, &mut |packet| finished.push((packet.packet.stream.0, packet.ended.0)))
        .unwrap();
    assert_eq!(finished, [(0, 150.0), (1, 250.0), (0, 350.0), (1, 450.0), (0, 550.0)]);
}

#[test]
fn replications_and_a_warm_up_of_ones_own() {
    let mut simulation = Simulation::new(Shape::square(4), First, ConstantCost(Nanos(1_000.0)))
        .service(exponential())
        .seed(28)
        .precision(0.02)
        .warmup_packets(30_000);
    let mut keys = Vec::new();
    let outcome = simulation.replicate(3, |key| -> Result<Box<dyn Arrivals>, SimulationError> {
        keys.push(key.replication);
        Ok(Box::new(Poisson::new(PerSecond(3.2e6), 4, key).unwrap()))
    });
    let outcome = outcome.unwrap();
    let exact = wait_mmc(4, 3.2, 1_000.0) + 1_000.0;
    assert!((outcome.delay.mean.0 - exact).abs() < 3.0 * outcome.delay.half(), "{:?} {exact}", outcome.delay);
    assert_eq!((keys, outcome.ended), (vec![0, 1, 2], Ended::Precise));
    // Of each run at least as many are left out, and as many are measured.
    assert!(outcome.warmup >= 90_000 && outcome.packets >= 180_000, "{outcome:?}");
    let mut none = Simulation::new(Shape::square(1), First, ConstantCost(Nanos(1.0)));
    let none = none.replicate(0, |_| -> Result<Box<dyn Arrivals>, SimulationError> { Ok(Box::new(Silence)) });
    assert!(matches!(none, Err(SimulationError::Setting(fault)) if fault.field == "replications"));
}

/// Ends of service are rounded down to the clock, which does not make a delay negative.
#[test]
fn what_costs_nothing_has_no_delay() {
    let simulation = Simulation::new(Shape::square(2), First, ConstantCost(Nanos::ZERO)).max_packets(60_000);
    let mut arrivals = Poisson::new(PerSecond(1e4), 2, simulation.key()).unwrap();
    let outcome = simulation.run(&mut arrivals).unwrap();
    let times =
        [outcome.delay.mean, outcome.service.mean, outcome.fairness.least, outcome.quantiles.p50.mean];
    assert!(times.iter().all(|time| (0.0..1e-3).contains(&time.0)), "{times:?}");
}

/// What arrives just above the capacity is more work than processors do.
#[test]
fn no_processor_is_busy_for_more_than_all_of_its_time() {
    let simulation =
        Simulation::new(Shape::square(2), First, ConstantCost(Nanos(1_000.0))).max_packets(200_000);
    let mut arrivals = Poisson::new(PerSecond(2.01e6), 2, simulation.key()).unwrap();
    let outcome = simulation.run(&mut arrivals).unwrap();
    assert!(outcome.utilisation.mean > 0.99 && outcome.utilisation.mean <= 1.0, "{outcome:?}");
}
