//! Errors put into measurements on purpose are found, and nothing is found where there are none.

use super::advice::advise;
use super::best::{Best, best};
use super::compare::{ServerBench, ServerComparison, ServerRequest, compare, mechanism};
use super::figures::ServerFigures;
use super::point::{JudgedQuantity, Term};
use super::predict::Predictor;
use crate::compare::Loads;
use crate::compare::judge::Judgement;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use warmcore_costs::Measured;
use warmcore_costs::ServerCosts;
use warmcore_costs::server::{AloneTimes, BurstTimes, SourceTimes, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_measure::RunError;
use warmcore_measure::requests::load::{Load, LoadFigures};
use warmcore_measure::requests::service::Service;
use warmcore_scenario::ServerPolicy;
use warmcore_units::{CpuId, Nanos, PerSecond, Transport};

/// A time that is known to a thousandth.
fn time(nanos: f64) -> Measured {
    Measured { half_width: Some(Nanos(nanos / 1_000.0)), ..Measured::published(Nanos(nanos)) }
}

/// Costs with which a worker elsewhere takes `elsewhere` times as long as one here.
fn costs(elsewhere: f64) -> ServerCosts {
    use LastUsed::{Elsewhere, Here};
    let mut alone = Vec::new();
    for waiting in [Waiting::Own, Waiting::Fifo, Waiting::Lifo] {
        for (softirq_cpu, factor) in [(SoftirqCpu::Reader, 1.0), (SoftirqCpu::OtherCore, elsewhere)] {
            for (socket, state) in [(Here, Here), (Elsewhere, Here), (Elsewhere, Elsewhere)] {
                alone.extend([(30e3, 1.0), (10e6, 2.0)].map(|(idle, cold)| AloneTimes {
                    waiting,
                    softirq_cpu,
                    socket,
                    state,
                    idle: Nanos(idle),
                    late: time(5e3 * cold),
                    call: time(4e3 * cold * factor),
                    reply: time(12e3 * cold * factor),
                    worker_cpu: time(10e3 * cold * factor),
                }));
            }
        }
    }
    let burst = |waiting, softirq_cpu, factor: f64| BurstTimes {
        waiting,
        softirq_cpu,
        requests: 16,
        call: time(3e3),
        last_reply: time(60e3),
        worker_cpu: time((10e3 + 15.0 * 4e3) * factor),
    };
    let bursts = [Waiting::Own, Waiting::Fifo, Waiting::Lifo].into_iter().flat_map(|waiting| {
        [burst(waiting, SoftirqCpu::Reader, 1.0), burst(waiting, SoftirqCpu::OtherCore, elsewhere)]
    });
    ServerCosts {
        transport: Transport::Udp,
        state_bytes: 0,
        payload_bytes: 64,
        library: None,
        requests: None,
        flows: 16,
        source: SourceTimes { late_busy: time(3e3), stolen: time(8e3), stolen_more: time(4e3) },
        alone,
        bursts: bursts.collect(),
    }
}

/// A machine that does what is predicted for it, but for factors.
struct Exact<'a> {
    predictor: Predictor<'a>,
    known: BTreeMap<(ServerPolicy, u64), ServerFigures>,
    worker: f64,
    delay: f64,
    runs: u32,
}

impl ServerBench for Exact<'_> {
    fn run(&mut self, load: &Load) -> Result<Option<LoadFigures>, RunError> {
        let policy =
            ServerPolicy::BASIC.into_iter().find(|policy| mechanism(*policy) == load.policy).unwrap();
        let predict = || self.predictor.predict(policy, load.rate).unwrap().unwrap();
        let ServerFigures { delay, p50, p99, worker_cpu, call, here } =
            *self.known.entry((policy, load.rate.0.to_bits())).or_insert_with(predict);
        // Rounds differ by a thousandth.
        self.runs += 1;
        let noise = 1.0 + 1e-3 * f64::from(self.runs % 3);
        Ok(Some(LoadFigures {
            shares: vec![0.5, 0.5],
            requests: 1_000,
            lost: 0,
            unanswered: 0,
            disturbed: 0.0,
            delay: delay.mean * noise * self.delay,
            p50: p50.mean,
            p99: p99.mean,
            worker_cpu: worker_cpu.mean * noise * self.worker,
            call: call.mean * noise,
            here,
            throughput: load.rate,
            fell_behind: false,
            without_priority: None,
        }))
    }
}

fn compared(costs: &ServerCosts, worker: f64, delay: f64) -> ServerComparison {
    let request = ServerRequest {
        service: Service::touching(0, 64),
        policies: vec![ServerPolicy::ByCpu, ServerPolicy::SharedFifo],
        loads: Loads::Rates([5e3, 20e3].map(PerSecond).to_vec()),
        cpus: vec![CpuId(0), CpuId(1)],
        long: Duration::from_millis(1),
        seed: 1994,
    };
    let predictor = Predictor::new(costs, 2, 1994).unwrap();
    let mut bench = Exact { predictor, known: BTreeMap::new(), worker, delay, runs: 0 };
    compare(&mut bench, &request, costs, |_| {}).unwrap()
}

#[test]
fn a_machine_that_does_what_is_predicted_is_good_everywhere() {
    let comparison = compared(&costs(2.0), 1.0, 1.0);
    for point in comparison.compared.iter().flat_map(|compared| &compared.points) {
        assert_eq!(point.judgement(), Some(Judgement::Good), "{point:?}");
        assert_eq!(point.term(), Some(Term::None));
    }
    let best = best(&comparison);
    assert_eq!(best.len(), 4);
    assert!(best.iter().all(|best| best.is_right() && best.predicted == best.measured), "{best:?}");
    assert!(best.iter().any(Best::matters), "half of the requests cost twice as much");
}

#[test]
fn an_error_in_one_part_is_found_there() {
    let costs = costs(2.0);
    for (worker, delay, quantity, term) in [
        (1.8, 1.0, JudgedQuantity::Cpu, Term::WorkerCpu),
        (0.5, 1.0, JudgedQuantity::Cpu, Term::WorkerCpu),
        (1.0, 1.6, JudgedQuantity::Delay, Term::Waiting),
    ] {
        let comparison = compared(&costs, worker, delay);
        for point in comparison.compared.iter().flat_map(|compared| &compared.points) {
            assert_eq!(point.judged(quantity), Some(Judgement::Off), "{worker} {delay}: {point:?}");
            assert_eq!(
                (point.judgement(), point.term()),
                (Some(Judgement::Off), Some(term)),
                "{worker} {delay}"
            );
        }
    }
}

/// Every half-width so many times as wide.
fn widened(costs: &ServerCosts, by: f64) -> ServerCosts {
    let mut wide = costs.clone();
    let widen = |time: &mut Measured| time.half_width = time.half_width.map(|half| half * by);
    wide.alone.iter_mut().for_each(|row| {
        [&mut row.late, &mut row.call, &mut row.reply, &mut row.worker_cpu].into_iter().for_each(widen);
    });
    wide.bursts.iter_mut().for_each(|row| {
        [&mut row.call, &mut row.last_reply, &mut row.worker_cpu].into_iter().for_each(widen);
    });
    wide
}

#[test]
fn delays_that_cannot_be_told_apart_name_no_policy() {
    let stop = AtomicBool::new(false);
    let wide = advise(&widened(&costs(2.0), 60.0), 2, 1994, &stop).unwrap();
    let words = super::present::advised::headline(&wide);
    assert!(!words.contains("wait less"), "{words}");
}

#[test]
fn advice_names_a_policy_only_where_its_costs_differ() {
    let stop = AtomicBool::new(false);
    let dear = advise(&costs(2.0), 2, 1994, &stop).unwrap();
    let at = dear.spoken().expect("someone keeps up");
    let cheapest = at.cheapest.as_ref().unwrap();
    assert_eq!(cheapest.policy, ServerPolicy::ByCpu);
    let (other, saving) = cheapest.most().unwrap();
    assert!(saving.mean > 0.15 && saving.half_width.unwrap() < saving.mean, "{other} {saving:?}");
    assert!(!cheapest.equals().any(|equal| equal == other));
    let words = super::present::advised::headline(&dear);
    assert!(
        words.contains("packets processed where they arrive") && words.contains("less processor time"),
        "{words}"
    );
    // With one processor all is here, and sockets of their own are all alike.
    let alone = advise(&costs(2.0), 1, 1994, &stop).unwrap();
    let cheapest = alone.spoken().and_then(|at| at.cheapest.clone()).unwrap();
    let equals: Vec<ServerPolicy> = cheapest.equals().collect();
    let own = [ServerPolicy::ByFlow, ServerPolicy::KernelHash, ServerPolicy::ByCpu];
    assert!(own.iter().all(|policy| *policy == cheapest.policy || equals.contains(policy)), "{cheapest:?}");
}
