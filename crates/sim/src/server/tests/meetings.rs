//! Two requests that meet, computed by hand. Each source has one flow; none is idle for long enough to be cold.
//!
//! The first request is due at time 0 at source 0, for worker 1, which is ready 900 + 2,900 + 6,460 ns later, works for 3,040 ns
//! until 13,300, and then falls asleep until 14,980.

use super::*;

/// The delays of requests due at these sources and times, in the order of their sources, where flow `f` has worker `workers[f]`.
fn delays(workers: &[u32], due: &[(usize, f64)]) -> Vec<f64> {
    let mut host = placed(&Synthetic::default(), ServerPolicy::ByFlow, workers.len() as u32, workers);
    host.rates.kernel_section = 0.0;
    let mut machine = machine(&host, 1e-9);
    due.iter().for_each(|&(source, due)| machine.set_due(source, due));
    let mut all = finished(&mut machine, due.len());
    all.sort_by_key(|finished| finished.request.source);
    all.iter().map(|finished| finished.at - finished.request.due).collect()
}

#[track_caller]
fn check(found: &[f64], expected: &[f64]) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_close),
        "{found:?} {expected:?}"
    );
}

#[test]
fn one_request_alone() {
    check(&delays(&[1, 0], &[(0, 0.0)]), &[900.0 + 2_900.0 + 9_500.0]);
}

/// The interrupt takes 400 ns, the call 2,900 and the exit 1,000.
#[test]
fn a_source_pauses_the_worker_of_its_processor() {
    check(&delays(&[1, 0], &[(0, 0.0), (1, 11_000.0)]), &[13_300.0 + 4_300.0, 400.0 + 2_900.0 + 9_500.0]);
}

/// The source has its processor from 9,900 to 12,800, when the worker is ready at 10,260. It leaves within 1,000 ns.
#[test]
fn a_worker_that_is_ready_waits_for_the_source_of_its_processor() {
    let first = 12_800.0 + 1_000.0 + 3_040.0;
    check(&delays(&[1, 0], &[(0, 0.0), (1, 9_000.0)]), &[first, 900.0 + 2_900.0 + 9_500.0]);
}

/// The call would end at 13,700, but then the worker falls asleep: it wakes it, until 14,900, and the worker is ready no sooner than
/// if it had slept.
#[test]
fn a_call_during_which_the_worker_falls_asleep_wakes_it() {
    check(&delays(&[1, 0, 1], &[(0, 0.0), (2, 11_100.0)]), &[13_300.0, 900.0 + 2_900.0 + 9_500.0]);
}

/// The worker still has 1,480 ns to fall asleep, when its own source wakes it. It does so after the exit.
#[test]
fn a_source_wakes_a_worker_that_it_keeps_from_falling_asleep() {
    let second = 400.0 + 2_000.0 + 1_000.0 + 1_480.0 + 6_000.0;
    check(&delays(&[1, 1], &[(0, 0.0), (1, 13_500.0)]), &[13_300.0, second]);
}

/// What is due during a call is sent right after it, and wakes nobody. All of it is in the worker's first cycle. The replies leave one
/// after another in its second half.
#[test]
fn requests_that_wait_for_a_call_join_the_batch() {
    let host = placed(&Synthetic::default(), ServerPolicy::ByFlow, 2, &[1, 0]);
    let gap = {
        let mut machine = machine(&host, 1.0);
        let first = machine.sources[0].next.due;
        machine.sources[0].next.advance();
        machine.sources[0].next.due - first
    };
    // At this rate the second request of source 0 is due within its first call.
    let mut machine = machine(&host, gap / 1_000.0);
    machine.set_due(0, 0.0);
    machine.set_due(1, 1e9);
    let batch = finished(&mut machine, 1)[0].batch as usize;
    assert!(batch > 1, "seed {SEED}");
    let mut machine = self::machine(&host, gap / 1_000.0);
    machine.set_due(0, 0.0);
    machine.set_due(1, 1e9);
    let replies = finished(&mut machine, batch);
    assert!((replies[1].request.due - 1_000.0).abs() < 1e-6, "seed {SEED}: {replies:?}");
    let began = 900.0 + 2_900.0 + 6_460.0;
    let cycle = 3_040.0 + 3_100.0 * (batch - 1) as f64;
    for (index, reply) in replies.iter().enumerate() {
        let part = 0.5 + (index + 1) as f64 / (2 * batch) as f64;
        check(
            &[reply.at, reply.request.call],
            &[began + part * cycle, if index == 0 { 2_900.0 } else { 1_700.0 }],
        );
        assert!(
            (reply.request.woke, reply.batch as usize) == (index == 0, batch),
            "seed {SEED}: {replies:?}"
        );
    }
}
