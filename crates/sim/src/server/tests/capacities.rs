//! The highest rate, against hand computations and against runs.

use super::*;
use crate::server::worker::most_at_once;

/// A source takes what its calls take, and nothing comes from elsewhere at another price.
fn plain() -> Synthetic {
    Synthetic {
        late_busy: 0.0,
        stolen: 1_200.0,
        stolen_more: 1_200.0,
        call: [1_200.0; 2],
        reply: [6_000.0; 2],
        worker_cpu: [5_000.0; 2],
        each: [2_800.0; 2],
        socket: [0.0; 2],
        state: [0.0; 2],
        ..Synthetic::default()
    }
}

/// Time of a worker for each request of a full batch.
fn in_full_batch(costs: &Synthetic) -> f64 {
    let sleep = costs.worker_cpu[0] + costs.waiting[1].1 - costs.each[0];
    let first = costs.worker_cpu[0] - sleep;
    let most = most_at_once(costs.each[0]) as f64;
    (first + (most - 1.0) * costs.each[0]) / most
}

fn check(host: &ServerHost, nanos: f64) {
    let capacity = host.capacity();
    let expected = 1e9 / nanos;
    let error = (capacity.mean.0 - expected).abs();
    let policy = host.policy;
    assert!(capacity.half() < 0.01 * expected, "{policy}: {capacity:?}");
    assert!(error < 1.5 * capacity.half(), "seed {SEED}, {policy}: {capacity:?}, by hand {expected}");
}

#[test]
fn capacities_by_hand() {
    let costs = plain();
    let own = in_full_batch(&costs);
    for processors in [1, 2, 4] {
        let each = |worker: f64| (worker + costs.call[0]) / f64::from(processors);
        check(&host(&costs, ServerPolicy::ByCpu, processors, 16), each(own));
        check(&host(&costs, ServerPolicy::SharedFifo, processors, 16), each(costs.each[0]));
        check(&host(&costs, ServerPolicy::SharedLifo, processors, 16), each(costs.each[0]));
    }
}

/// All flows have the first worker, on whose processor half of the calls are.
#[test]
fn the_capacity_by_flow_is_that_of_the_busiest_worker() {
    let costs = plain();
    check(
        &placed(&costs, ServerPolicy::ByFlow, 2, &[0, 0, 0, 0]),
        in_full_batch(&costs) + costs.call[0] / 2.0,
    );
    // Of four flows three have the first worker: source 0 has flows 0 and 2, source 1 has flows 1 and 3.
    let busiest = 0.75 * in_full_batch(&costs) + costs.call[0] / 2.0;
    check(&placed(&costs, ServerPolicy::KernelHash, 2, &[0, 0, 0, 1]), busiest);
}

/// What moves costs capacity: every request takes socket and state from the other processor with a probability of one half.
#[test]
fn moving_costs_capacity() {
    let costs = Synthetic { socket: [300.0; 2], state: [900.0; 2], ..plain() };
    let [fixed, moving] =
        [plain(), costs].map(|costs| host(&costs, ServerPolicy::SharedFifo, 2, 16).capacity().mean.0);
    // Busy workers take turns at the socket nearly always, and meet a flow's state by chance.
    let (least, most) = (2e9 / (4_000.0 + 300.0 + 900.0), 2e9 / (4_000.0 + 450.0));
    assert!(fixed > moving && (least..most).contains(&moving), "{fixed} {moving}, from {least} to {most}");
}

#[test]
fn a_server_is_saturated_above_its_capacity_and_not_below() {
    for policy in ServerPolicy::BASIC {
        let host = host(&Synthetic::default(), policy, 2, 16);
        let capacity = host.capacity().mean.0;
        let saturated = [0.93, 1.1].map(|load| {
            let rate = PerSecond(load * capacity);
            host.simulate(rate, PRECISION).unwrap().is_saturated()
        });
        assert_eq!(saturated, [false, true], "{policy} at a capacity of {capacity}");
    }
}

#[test]
fn requests_that_cost_nothing_have_no_highest_rate() {
    let host = host(&Synthetic::constant(0.0), ServerPolicy::SharedFifo, 2, 2);
    assert_eq!(host.capacity().mean.0, f64::INFINITY);
}
