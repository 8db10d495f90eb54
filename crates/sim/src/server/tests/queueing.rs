//! Requests that meet: theory, batches, and what must be conserved.

use super::*;
use crate::server::source::Stage;
use crate::server::worker::{Phase, Worker};

/// M/D/1 (Pollaczek 1930, Khinchine 1932): D + ρ·D / (2·(1 − ρ)).
#[test]
fn one_processor_without_source_costs_is_a_queue_with_constant_service() {
    let time = 5_000.0;
    let mut host = host(&Synthetic::constant(time), ServerPolicy::SharedFifo, 1, 4);
    host.rates.kernel_section = 0.0;
    for load in [0.3, 0.6, 0.8] {
        let precision = ServerPrecision { relative: 0.01, max_requests: 4_000_000 };
        let outcome = host.simulate(PerSecond(load * 1e9 / time), precision).unwrap().outcome.unwrap();
        let exact = time + load * time / (2.0 * (1.0 - load));
        let [mean, half] = [outcome.delay.mean.0, outcome.delay.half()];
        // One interval in twenty misses; half as much again misses one time in two hundred.
        assert!(half < 0.02 * mean, "seed {SEED}, load {load}: ± {half}");
        assert!(
            (mean - exact).abs() < 1.5 * half,
            "seed {SEED}, load {load}: {mean} ± {half}, exactly {exact}"
        );
        assert!((outcome.worker_cpu.mean.0 / time - 1.0).abs() < 1e-3, "{:?}", outcome.worker_cpu);
        // A request wakes the worker if it finds none in the system.
        let woken = outcome.woken;
        assert!(
            (woken.mean - (1.0 - load)).abs() < 1.5 * woken.half(),
            "seed {SEED}, load {load}: {woken:?}"
        );
    }
}

#[test]
fn batches_grow_with_load() {
    for policy in [ServerPolicy::ByFlow, ServerPolicy::ByCpu] {
        let host = host(&Synthetic::default(), policy, 2, 64);
        let capacity = host.capacity().mean.0;
        let batch =
            |load| host.simulate(PerSecond(load * capacity), PRECISION).unwrap().outcome.unwrap().batch.mean;
        let batches = [0.01, 0.4, 0.7, 0.9].map(batch);
        assert!(batches.is_sorted_by(|a, b| 1.05 * a < *b) && batches[0] < 1.1, "{policy}: {batches:?}");
    }
    let shared = host(&Synthetic::default(), ServerPolicy::SharedLifo, 2, 64);
    let batch = shared.simulate(PerSecond(2e5), PRECISION).unwrap().outcome.unwrap().batch;
    assert_eq!((batch.mean, batch.half()), (1.0, 0.0));
}

/// At any time, what was sent is in a queue, in a cycle, or has its reply; and only once.
#[test]
fn no_request_is_lost_or_processed_twice() {
    for policy in ServerPolicy::BASIC {
        let host = host(&Synthetic::default(), policy, 3, 24);
        let rate = 0.8 * host.capacity().mean.0;
        let mut machine = machine(&host, rate);
        let mut replies = Vec::new();
        while replies.len() < 20_000 {
            replies.extend(finished(&mut machine, 97));
            let left = |cpu: &Worker| {
                if cpu.phase == Phase::Cycle { cpu.batch.len() - cpu.replied } else { 0 }
            };
            let in_cycles: usize = machine.workers.iter().map(left).sum();
            assert_eq!(
                machine.sent as usize,
                replies.len() + in_cycles + machine.queues.requests,
                "{policy}"
            );
        }
        assert!(replies.iter().all(|reply| reply.at > reply.request.due), "{policy}");
        replies.sort_by(|a, b| a.request.due.total_cmp(&b.request.due));
        assert!(replies.windows(2).all(|pair| pair[0].request.due < pair[1].request.due), "{policy}");
    }
}

/// Of a processor that is never idle, the worker has what its source does not take: for each interrupt the time until its call
/// and the exit, and each call.
#[test]
fn the_time_of_a_busy_processor_is_that_of_its_worker_and_its_source() {
    let synthetic = Synthetic::default();
    for policy in [ServerPolicy::ByCpu, ServerPolicy::SharedFifo] {
        let host = host(&synthetic, policy, 1, 8);
        let mut machine = machine(&host, 1.5e5);
        machine.fill(20_000);
        let mut interrupts = 0_u32;
        while machine.sent < 10_000 {
            let stage = machine.sources[0].stage;
            machine.step();
            machine.clear_finished();
            interrupts += u32::from(stage == Stage::Pending && machine.sources[0].stage == Stage::Beginning);
        }
        assert!(!machine.was_empty[0]);
        let each = synthetic.stolen_more.max(synthetic.call[0]);
        let more = machine.sent as f64 - f64::from(interrupts);
        let stolen = f64::from(interrupts) * synthetic.stolen + more * each;
        let left = machine.workers[0].length
            * (1.0 - machine.workers[0].progress(machine.now) / machine.workers[0].batch.len() as f64);
        let worker = machine.worker_cpu - left;
        // The last source has not left.
        let missing = (machine.now - worker - stolen).abs();
        assert!(missing < synthetic.stolen + 1.0, "{policy}: {missing} of {} ns", machine.now);
        assert!(f64::from(interrupts) < 0.95 * machine.sent as f64, "{policy}: sources should meet");
    }
}

/// A worker sleeps only with an empty queue, and each request wakes one that sleeps: so of as many workers as there are requests in
/// a queue none is asleep, or all its workers are awake.
#[test]
fn no_worker_sleeps_that_a_request_waits_for() {
    for policy in ServerPolicy::BASIC {
        for load in [0.2, 0.5, 0.85] {
            let host = host(&Synthetic::default(), policy, 3, 24);
            let rate = load * host.capacity().mean.0;
            let mut machine = machine(&host, rate);
            let mut met = 0;
            for _ in 0..100_000 {
                machine.step();
                machine.clear_finished();
                let queues = machine.queues.count();
                for queue in 0..queues {
                    let workers = if queues == 1 { 0..3 } else { queue..queue + 1 };
                    let most = workers.len();
                    let awake = workers.filter(|&worker| !machine.workers[worker].is_asleep()).count();
                    let waiting = machine.queues.length(queue);
                    met += usize::from(waiting > 0);
                    assert!(
                        awake >= waiting.min(most),
                        "seed {SEED}, {policy}, load {load}, at {} ns",
                        machine.now
                    );
                }
            }
            assert!(met > 1_000, "{policy}, load {load}: {met}");
        }
    }
}

#[test]
fn replies_of_a_batch_leave_in_the_second_half_of_its_cycle() {
    let mut worker = Worker::new();
    let request = crate::server::source::Source::new(
        crate::server::arrivals::Next::first(
            &Flows::with_workers(1, vec![0]),
            1,
            PerSecond(1.0),
            Key { seed: SEED, point: 0, replication: 0 },
        )
        .remove(0),
    )
    .request;
    (worker.began, worker.length) = (1_000.0, 800.0);
    worker.batch = vec![request];
    assert_eq!(worker.reply_at(0), 1_800.0);
    worker.batch = vec![request; 4];
    assert_eq!([0, 1, 2, 3].map(|index| worker.reply_at(index)), [1_500.0, 1_600.0, 1_700.0, 1_800.0]);
}

#[test]
fn an_adaptive_server_uses_as_few_workers_as_the_load_needs() {
    let (processors, flows) = (4, 64);
    let with = |policy| host(&Synthetic::default(), policy, processors, flows);
    let (adaptive, by_flow) = (with(ServerPolicy::Adaptive), with(ServerPolicy::ByFlow));
    assert_eq!(adaptive.capacity(), by_flow.capacity());
    let gathered = |active| ServerHost { flows: by_flow.flows.gathered(active), ..by_flow.clone() };
    for (load, workers) in [(0.02, 1), (0.3, 2), (0.85, 3)] {
        let rate = PerSecond(load * by_flow.capacity().mean.0);
        let simulate = |host: &ServerHost| host.simulate(rate, PRECISION).unwrap();
        let busy = |active: u32| match simulate(&gathered(active)).outcome {
            Some(outcome) => outcome.worker_cpu.mean.secs() * rate.0 / f64::from(active),
            None => f64::INFINITY,
        };
        assert_eq!(simulate(&adaptive), simulate(&gathered(workers)), "{load}");
        assert!(busy(workers) <= 0.6 && (workers == 1 || busy(workers - 1) > 0.6), "{load}");
    }
}
