//! What goes beyond Salehi 1994, as scenarios, held against queueing theory: service times that vary, limited queues,
//! priorities, closed loops, and processors of unlike speed.
//!
//! Seeds are fixed. An estimate must lie within three of its half-widths of the exact value, which a correct simulator
//! misses about once in 10⁸ estimates, and its half-width must be small.

use crate::machines::one_time;
use crate::theory::formulas::{Moments, erlang_c, wait_mg1, wait_mmc};
use warmcore_scenario::document::Checked;
use warmcore_scenario::{
    LimitScope, PacketScenario, Process, ProcessorPolicy, QueueTable, RunLength, Scheduling, Service, Traffic,
};
use warmcore_sim::packet::{Ended, Outcome, PointResult, simulate};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::ClosedLoop;
use warmcore_workload::distribution::{BoundedPareto, TimeDistribution, WeightedTime};

/// The mean service time, in ns.
const SERVICE: f64 = 1_000.0;

/// Processors with one queue and exponential services, of which arrivals keep `load` busy.
fn queue(processors: u32, load: f64) -> PacketScenario {
    PacketScenario {
        seed: 26,
        processors,
        rate_per_s: Some(PerSecond(load / SERVICE * 1e9)),
        scheduling: Scheduling { policy: ProcessorPolicy::Mru, ..Scheduling::default() },
        service: Service { distribution: TimeDistribution::Exponential },
        run: RunLength { precision: 0.01, max_packets: 400_000, ..RunLength::default() },
        ..PacketScenario::default()
    }
}

fn result(scenario: &PacketScenario) -> PointResult {
    scenario.check().expect("a possible scenario");
    simulate(scenario, &one_time(Nanos(SERVICE))).expect("a point")
}

fn outcome(scenario: &PacketScenario) -> Outcome {
    result(scenario).outcome.expect("it is not saturated")
}

#[track_caller]
fn assert_near<Q: Copy + Into<f64>>(what: &str, estimate: Estimate<Q>, exact: f64) {
    let (mean, half) = (estimate.mean.into(), estimate.half_width.map_or(0.0, Into::into));
    println!("{what}: {mean} ± {half}, in theory {exact}");
    assert!(half > 0.0 && half < 0.08 * exact, "{what}: ±{half} of {exact}");
    assert!((mean - exact).abs() < 3.0 * half, "{what}: {mean} ± {half}, in theory {exact}");
}

#[test]
fn service_times_vary_as_the_document_says() {
    use TimeDistribution as Time;
    let values = [(1.0, 8.0), (6.0, 2.0)].map(|(time, weight)| WeightedTime { time, weight });
    for distribution in [
        Time::Deterministic,
        Time::Exponential,
        Time::Erlang(4),
        Time::Gamma(1.5),
        Time::Lognormal(1.5),
        Time::Hyperexponential(2.0),
        Time::BoundedPareto(BoundedPareto { shape: 1.5, ratio: 100.0 }),
        Time::Empirical(values.into()),
    ] {
        let load = 0.6;
        let second = SERVICE * SERVICE * (1.0 + distribution.squared_variation());
        let exact = wait_mg1(load / SERVICE, Moments { mean: SERVICE, second }) + SERVICE;
        let name = distribution.name();
        let service = Service { distribution };
        assert_near(name, outcome(&PacketScenario { service, ..queue(1, load) }).delay, exact);
    }
    let exact = wait_mmc(4, 3.0, SERVICE) + SERVICE;
    assert_near("M/M/4", outcome(&queue(4, 3.0)).delay, exact);
}

#[test]
fn waits_for_service_times_without_a_third_moment_have_no_interval() {
    for shape in [1.5, 2.5] {
        let service = Service { distribution: TimeDistribution::Pareto(shape) };
        let run = RunLength { max_packets: 20_000, ..RunLength::default() };
        let outcome = outcome(&PacketScenario { service, run, ..queue(1, 0.3) });
        assert_eq!((outcome.ended, outcome.delay.half()), (Ended::HeavyTailed, f64::INFINITY));
    }
    let service = Service { distribution: TimeDistribution::Pareto(4.0) };
    assert!(outcome(&PacketScenario { service, ..queue(1, 0.3) }).delay.half().is_finite());
}

/// The probabilities of 0, 1, … requests, from the rates at which their number grows and falls.
fn birth_and_death(up: impl Fn(u32) -> f64, down: impl Fn(u32) -> f64, most: u32) -> Vec<f64> {
    let mut weights = vec![1.0];
    for present in 1..=most {
        weights.push(weights[present as usize - 1] * up(present - 1) / down(present));
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn mean_number(probabilities: &[f64]) -> f64 {
    (0_u32..).zip(probabilities).map(|(present, probability)| f64::from(present) * probability).sum()
}

#[test]
fn what_finds_a_full_queue_is_lost() {
    for (processors, limit, load) in [(1, 4, 0.9), (1, 2, 1.5), (3, 5, 3.3)] {
        let queues = QueueTable { limit: Some(limit), scope: LimitScope::Each };
        let outcome = outcome(&PacketScenario { queues, ..queue(processors, load) });
        let most = processors + limit;
        let present = birth_and_death(|_| load, |present| f64::from(present.min(processors)), most);
        let blocked = present[most as usize];
        let what = format!("M/M/{processors}/{most} at {load}");
        assert_near(&format!("{what}, lost"), outcome.extensions.lost.unwrap(), blocked);
        let delay = mean_number(&present) / (load * (1.0 - blocked)) * SERVICE;
        assert_near(&format!("{what}, delay"), outcome.delay, delay);
        let busy = load * (1.0 - blocked) / f64::from(processors);
        assert_near(&format!("{what}, utilisation"), outcome.utilisation, busy);
    }
}

/// Without any waiting, what is lost depends on the mean service time alone (Erlang's first formula; Sevastyanov 1957).
#[test]
fn losses_without_waiting_do_not_depend_on_how_service_times_vary() {
    let queues = QueueTable { limit: Some(0), scope: LimitScope::Host };
    let erlang_b = (1..=4).fold(1.0, |blocked, busy| 3.0 * blocked / (f64::from(busy) + 3.0 * blocked));
    for distribution in [TimeDistribution::Deterministic, TimeDistribution::Lognormal(1.5)] {
        let what = format!("M/{}/4/4", distribution.name());
        let service = Service { distribution };
        let outcome = outcome(&PacketScenario { queues, service, ..queue(4, 3.0) });
        assert_near(&what, outcome.extensions.lost.unwrap(), erlang_b);
    }
}

/// Wired streams: a queue for each processor, and each is full by itself.
#[test]
fn each_queue_has_its_own_limit() {
    let (load, limit) = (0.9, 3);
    let queues = QueueTable { limit: Some(limit), scope: LimitScope::Each };
    let scheduling = Scheduling { policy: ProcessorPolicy::WiredStreams, ..Scheduling::default() };
    let scenario = PacketScenario { queues, scheduling, ..queue(4, 4.0 * load) };
    let present = birth_and_death(|_| load, |_| 1.0, limit + 1);
    assert_near("4 M/M/1/4", outcome(&scenario).extensions.lost.unwrap(), present[limit as usize + 1]);
    let host = QueueTable { limit: Some(4 * limit), scope: LimitScope::Host };
    let together = outcome(&PacketScenario { queues: host, ..scenario }).extensions.lost.unwrap();
    assert!(
        together.mean + 3.0 * together.half() < present[limit as usize + 1],
        "one limit for all is shared: {together:?}"
    );
}

/// Cobham 1954: a class waits for what is in service, for its own and more urgent classes, and for those of them that come
/// later.
#[test]
fn classes_wait_as_cobham_says() {
    let classes = [1, 3, 4].map(f64::from);
    for (servers, load, squared_variation) in [(1, 0.8, 1.0), (1, 0.8, 4.0), (4, 3.4, 1.0)] {
        let distribution = match squared_variation {
            1.0 => TimeDistribution::Exponential,
            variation => TimeDistribution::Hyperexponential(f64::sqrt(variation)),
        };
        let scenario = PacketScenario {
            priorities: vec![1, 3],
            service: Service { distribution },
            run: RunLength { precision: 0.005, max_packets: 2_000_000, ..RunLength::default() },
            ..queue(servers, load)
        };
        let per_server = load / f64::from(servers);
        // Until the first processor is free, for a packet that finds all of them busy.
        let residual = match servers {
            1 => load * SERVICE * (1.0 + squared_variation) / 2.0,
            _ => erlang_c(servers, load) * SERVICE / f64::from(servers),
        };
        let outcome = outcome(&scenario);
        let delays = outcome.extensions.classes;
        assert_eq!(delays.as_slice().len(), 3);
        let mut urgent = 0.0;
        for (class, (share, delay)) in
            classes.iter().map(|count| count / 8.0).zip(delays.as_slice()).enumerate()
        {
            let above = urgent;
            urgent += share * per_server;
            let exact = residual / ((1.0 - above) * (1.0 - urgent)) + SERVICE;
            assert_near(&format!("class {class} of {servers} servers, {squared_variation}"), *delay, exact);
        }
    }
}

#[test]
fn more_classes_than_streams_are_refused() {
    let scenario = PacketScenario { priorities: vec![4, 5], ..queue(1, 0.5) };
    let refused = simulate(&scenario, &one_time(Nanos(SERVICE))).unwrap_err();
    assert!(refused.to_string().contains("priorities"), "{refused}");
}

/// The machine-repairman model: each client thinks, or waits, or is served.
#[test]
fn a_closed_loop_is_as_fast_as_its_host() {
    for (processors, streams, window, think) in [(1, 6, 1, 4.0), (1, 3, 2, 0.0), (3, 10, 2, 5.0)] {
        let closed =
            ClosedLoop { window, think: Nanos(think * SERVICE), distribution: TimeDistribution::Exponential };
        let scenario = PacketScenario {
            rate_per_s: None,
            traffic: Traffic { streams, process: Process::Closed(closed), ..Traffic::default() },
            ..queue(processors, 1.0)
        };
        let requests = streams * window;
        let number = if think == 0.0 {
            f64::from(requests)
        } else {
            let up = |present| f64::from(requests - present) / think;
            mean_number(&birth_and_death(up, |present| f64::from(present.min(processors)), requests))
        };
        // Clients that think send a request each think time.
        let throughput = match think {
            0.0 => f64::from(processors),
            think => (f64::from(requests) - number) / think,
        };
        let what = format!("{requests} requests at {processors} processors");
        let result = result(&scenario);
        let outcome = result.outcome.expect("a closed loop has a steady state");
        assert_near(&format!("{what}, delay"), outcome.delay, number / throughput * SERVICE);
        let finished = outcome.throughput.0 * SERVICE / 1e9;
        assert!((finished / throughput - 1.0).abs() < 0.02, "{what}: {finished}, in theory {throughput}");
        assert_eq!(result.rate, outcome.throughput);
    }
}

/// One request at a time: nobody waits, whatever the service times are.
#[test]
fn a_single_client_never_waits() {
    let closed = ClosedLoop { window: 1, think: Nanos(500.0), distribution: TimeDistribution::Deterministic };
    let scenario = PacketScenario {
        rate_per_s: None,
        service: Service::default(),
        traffic: Traffic { streams: 1, process: Process::Closed(closed), ..Traffic::default() },
        ..queue(1, 1.0)
    };
    let outcome = outcome(&scenario);
    assert!((outcome.delay.mean.0 - SERVICE).abs() < 1e-6, "{:?}", outcome.delay);
    assert!((outcome.throughput.0 * 1_500.0 / 1e9 - 1.0).abs() < 1e-3, "{:?}", outcome.throughput);
}

/// Wired streams at processors of two speeds are two kinds of M/M/1.
#[test]
fn a_slow_processor_takes_longer() {
    let rate = 0.4;
    let scheduling = Scheduling { policy: ProcessorPolicy::WiredStreams, ..Scheduling::default() };
    let scenario = PacketScenario { speeds: vec![1.0, 1.0, 0.5, 0.5], scheduling, ..queue(4, 4.0 * rate) };
    let result = result(&scenario);
    let delay = |speed: f64| SERVICE / (speed - rate);
    assert_near("two speeds", result.outcome.unwrap().delay, (delay(1.0) + delay(0.5)) / 2.0);
    // Every processor gets a quarter of the packets, so the slow ones are full first.
    let capacity = result.capacity.rate.mean.0 * SERVICE / 1e9;
    assert!((capacity / 2.0 - 1.0).abs() < 0.05, "{capacity}");
    let shared = Scheduling { policy: ProcessorPolicy::Mru, ..Scheduling::default() };
    let capacity = simulate(&PacketScenario { scheduling: shared, ..scenario }, &one_time(Nanos(SERVICE)));
    let capacity = capacity.unwrap().capacity.rate.mean.0 * SERVICE / 1e9;
    assert!((capacity / 3.0 - 1.0).abs() < 0.05, "{capacity}");
}

/// Two processors of unlike speed without a queue: a Markov chain of four states.
#[test]
fn losses_of_two_unlike_processors() {
    let (load, slow) = (1.0, 0.25);
    let queues = QueueTable { limit: Some(0), scope: LimitScope::Each };
    let scenario = PacketScenario { queues, speeds: vec![1.0, slow], ..queue(2, load) };
    // The most recently used idle processor: which one is idle longer depends on who finished last, so the chain has
    // five states: both idle with the fast or the slow one more recent, one busy, both busy.
    // Balance, solved by iteration.
    let mut p = [0.2; 5];
    for _ in 0..20_000 {
        let [fast_next, slow_next, fast, slow_busy, both] = p;
        let step = 0.01;
        p[0] += step * (fast * 1.0 - fast_next * load);
        p[1] += step * (slow_busy * slow - slow_next * load);
        p[2] += step * (fast_next * load + both * slow - fast * (1.0 + load));
        p[3] += step * (slow_next * load + both * 1.0 - slow_busy * (slow + load));
        p[4] += step * (fast * load + slow_busy * load - both * (1.0 + slow));
    }
    assert_near("two unlike processors", outcome(&scenario).extensions.lost.unwrap(), p[4]);
}
