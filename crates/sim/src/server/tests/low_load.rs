//! Requests that find nothing under way take what was measured of single requests.

use super::*;
use crate::server::synthetic::PLACES;
use warmcore_costs::ServerCosts;
use warmcore_costs::server::AloneTimes;
use warmcore_costs::socket::LastUsed;

/// So few that processors are idle for longer than any row's time.
const RARE: f64 = 0.01;

/// The row of single requests after the longest idle time.
fn row(costs: &ServerCosts, policy: ServerPolicy, elsewhere: bool, socket: bool, state: bool) -> AloneTimes {
    let used = |moved| if moved { LastUsed::Elsewhere } else { LastUsed::Here };
    let place = PLACES[usize::from(elsewhere)];
    *costs.alone(policy.waiting(), place, used(socket), used(state)).last().unwrap()
}

/// Each of 300 requests: its delay, and the workers' time for all, as the rows say.
#[test]
fn rare_requests_take_exactly_what_was_measured() {
    let synthetic = Synthetic::default();
    let costs = synthetic.costs();
    for policy in ServerPolicy::BASIC {
        // Under the policies by hash flows have their worker here, elsewhere, elsewhere, here.
        let host = placed(&synthetic, policy, 2, &[0, 0, 1, 1]);
        let mut machine = machine(&host, RARE);
        let all = finished(&mut machine, 300);
        let (mut worker_cpu, mut previous) = (0.0, None);
        let mut places = [0; 2];
        for Finished { request, at, worker, .. } in all {
            let elsewhere = request.source != worker;
            places[usize::from(elsewhere)] += 1;
            let is_shared = matches!(policy, ServerPolicy::SharedFifo | ServerPolicy::SharedLifo);
            let socket = is_shared && previous.replace(worker).is_some_and(|previous| previous != worker);
            // The socket moves whenever the worker changes. A state that moves without it came by a worker between.
            let (expected, cpu) = if request.moved && !socket {
                let both = row(&costs, ServerPolicy::SharedFifo, elsewhere, true, true);
                let only = row(&costs, ServerPolicy::SharedFifo, elsewhere, true, false);
                let plain = row(&costs, policy, elsewhere, false, false);
                let reply = plain.reply.mean + both.reply.mean - only.reply.mean;
                (
                    plain.late.mean + plain.call.mean + reply,
                    plain.worker_cpu.mean + both.worker_cpu.mean - only.worker_cpu.mean,
                )
            } else {
                let row = row(&costs, policy, elsewhere, socket, request.moved);
                (row.late.mean + row.call.mean + row.reply.mean, row.worker_cpu.mean)
            };
            let delay = at - request.due;
            assert!(
                (delay - expected.0).abs() < 0.05,
                "seed {SEED}, {policy}: {delay} ns instead of {expected}, {request:?}"
            );
            assert!(request.woke);
            worker_cpu += cpu.0;
        }
        let expected_places = match policy {
            ServerPolicy::ByCpu => places[0] == 300,
            _ => places.iter().all(|&count| count > 75),
        };
        assert!(expected_places, "{policy}: {places:?}");
        // The last worker may be about to fall asleep.
        let relative = machine.worker_cpu / worker_cpu - 1.0;
        assert!(relative.abs() < 1e-9, "{policy}: {relative}");
    }
}

/// With one processor, so that it is known how long it was idle: since its worker fell asleep.
#[test]
fn times_between_those_measured_follow_the_logarithm_of_idle_time() {
    let [short, long] = [1e3, 1e9];
    let more = [800.0, 500.0, 1_900.0, 1_100.0];
    let synthetic = Synthetic { idle: vec![(short, [0.0; 4]), (long, more)], ..Synthetic::default() };
    let host = host(&synthetic, ServerPolicy::SharedFifo, 1, 1);
    let all = finished(&mut machine(&host, 1_000.0), 3_000);
    let waiting = synthetic.waiting[1].1;
    let half_sleep = (synthetic.worker_cpu[0] + waiting - synthetic.each[0]) / 2.0;
    let hot = synthetic.late + synthetic.waking_call[0] + synthetic.reply[0] + 2.0 * waiting;
    let mut checked = 0;
    for pair in all.windows(2) {
        let idle = pair[1].request.due - pair[0].at - half_sleep;
        if idle < short {
            continue;
        }
        let part = (idle / short).ln() / (long / short).ln();
        let expected = hot + part * (more[0] + more[1] + more[2]);
        let delay = pair[1].at - pair[1].request.due;
        // Requests that came while the source was under way hold up the worker.
        let follows = all.iter().any(|other| {
            other.request != pair[1].request && (other.request.due - pair[1].request.due).abs() < 2e4
        });
        if !follows {
            assert!((delay - expected).abs() < 1e-3, "{delay} instead of {expected} after {idle} ns");
            checked += 1;
        }
    }
    assert!(checked > 2_000, "{checked}");
}

/// Two workers take turns, so a flow's state moves if the requests since it was last used, its own included, are odd in
/// number. Of two flows that are equally likely each time, that is the sum of 1/2, 1/8, 1/32, …
#[test]
fn states_move_as_workers_take_turns() {
    let host = host(&Synthetic::default(), ServerPolicy::SharedFifo, 2, 2);
    let requests = 60_000;
    let all = finished(&mut machine(&host, RARE), requests);
    let moved = all.iter().filter(|finished| finished.request.moved).count() as f64 / requests as f64;
    // Five standard deviations of independent draws, and half as many again: neighbours are correlated.
    let most = 7.5 * (2.0 / 9.0 / requests as f64).sqrt();
    assert!((moved - 2.0 / 3.0).abs() < most, "{moved}");
}

#[test]
fn states_do_not_move_without_a_shared_socket() {
    for policy in [ServerPolicy::ByFlow, ServerPolicy::KernelHash, ServerPolicy::ByCpu] {
        let point = host(&Synthetic::default(), policy, 3, 30).simulate(PerSecond(3e5), PRECISION).unwrap();
        assert_eq!(point.outcome.unwrap().moved.mean, 0.0, "{policy}");
    }
}

/// At low load the worker that has the latest request also gets the next one, or a worker that rested longest. Now and then two
/// requests meet, and another worker comes to work for a while.
#[test]
fn the_last_to_sleep_works_alone_and_the_first_to_sleep_takes_turns() {
    let changes_and_counts = |policy| {
        let host = host(&Synthetic::default(), policy, 4, 16);
        let all = finished(&mut machine(&host, 100.0), 4_000);
        let changes = all.windows(2).filter(|pair| pair[0].worker != pair[1].worker).count();
        let mut counts = [0; 4];
        all.iter().for_each(|finished| counts[finished.worker as usize] += 1);
        (changes, counts)
    };
    let (changes, counts) = changes_and_counts(ServerPolicy::SharedLifo);
    assert!(changes < 80 && counts[..2] == [0, 0], "{changes} {counts:?}");
    let (changes, counts) = changes_and_counts(ServerPolicy::SharedFifo);
    assert!(
        changes > 3_920 && counts.iter().all(|count| (990..1_010).contains(count)),
        "{changes} {counts:?}"
    );
}
