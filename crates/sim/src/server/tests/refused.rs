//! Costs and numbers that do not suffice.

use super::*;
use crate::server::{MissingCosts, ServerError};
use warmcore_costs::ServerCosts;
use warmcore_costs::server::Waiting;
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_units::Transport;

fn missing(costs: &ServerCosts, policy: ServerPolicy, processors: u32) -> Option<MissingCosts> {
    match ServerHost::new(costs, setup(policy, processors, 8)) {
        Ok(_) => None,
        Err(ServerError::Costs(missing)) => Some(missing),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn missing_rows_are_named() {
    let mut costs = Synthetic::default().costs();
    costs.alone.retain(|row| {
        let key = (row.waiting, row.softirq_cpu, row.socket, row.state);
        key != (Waiting::Fifo, SoftirqCpu::OtherCore, LastUsed::Elsewhere, LastUsed::Elsewhere)
    });
    let expected = MissingCosts::Alone {
        waiting: Waiting::Fifo,
        softirq_cpu: SoftirqCpu::OtherCore,
        socket: LastUsed::Elsewhere,
        state: LastUsed::Elsewhere,
    };
    for policy in [ServerPolicy::SharedFifo, ServerPolicy::SharedLifo] {
        assert_eq!(missing(&costs, policy, 2), Some(expected), "{policy}");
        assert_eq!(missing(&costs, policy, 1), None, "{policy}");
    }
    assert_eq!(missing(&costs, ServerPolicy::ByFlow, 2), None);
    assert_eq!(
        expected.to_string(),
        "the costs lack single requests (shared socket, first in first out, softirq on another core, socket last used \
         elsewhere, state last used elsewhere); measure them again on as many processors"
    );

    costs.bursts.retain(|row| row.waiting != Waiting::Lifo);
    let expected = MissingCosts::Burst { waiting: Waiting::Lifo, softirq_cpu: SoftirqCpu::Reader };
    assert_eq!(missing(&costs, ServerPolicy::SharedLifo, 1), Some(expected));
}

#[test]
fn one_processor_and_requests_by_cpu_need_nothing_from_elsewhere() {
    let mut costs = Synthetic::default().costs();
    costs.alone.retain(|row| row.softirq_cpu == SoftirqCpu::Reader);
    costs.bursts.retain(|row| row.softirq_cpu == SoftirqCpu::Reader);
    for policy in ServerPolicy::BASIC {
        assert_eq!(missing(&costs, policy, 1), None, "{policy}");
    }
    assert_eq!(missing(&costs, ServerPolicy::ByCpu, 4), None);
    let expected = MissingCosts::Alone {
        waiting: Waiting::Own,
        softirq_cpu: SoftirqCpu::OtherCore,
        socket: LastUsed::Here,
        state: LastUsed::Here,
    };
    assert_eq!(missing(&costs, ServerPolicy::KernelHash, 2), Some(expected));
}

/// Without bursts from another processor to a worker's own socket, the difference of those to a shared socket says what they
/// take; without rows of another core, those of a sibling stand for it.
#[test]
fn other_rows_stand_for_missing_ones() {
    let synthetic = Synthetic::default();
    let complete = host(&synthetic, ServerPolicy::ByFlow, 2, 8);
    let mut costs = synthetic.costs();
    costs.bursts.retain(|row| (row.waiting, row.softirq_cpu) != (Waiting::Own, SoftirqCpu::OtherCore));
    let estimated = ServerHost::new(&costs, setup(ServerPolicy::ByFlow, 2, 8)).unwrap();
    // The made-up slopes and calls differ between places by the same for all ways of waiting.
    let elsewhere = |host: &ServerHost| (host.rates.elsewhere.each, host.rates.elsewhere.call);
    let (known, guessed) = (elsewhere(&complete), elsewhere(&estimated));
    assert!(
        (known.0 - guessed.0).abs() < 1e-9 && (known.1 - guessed.1).abs() < 1e-9,
        "{known:?} {guessed:?}"
    );

    let mut costs = synthetic.costs();
    let to_sibling = |place: &mut SoftirqCpu| {
        if *place == SoftirqCpu::OtherCore {
            *place = SoftirqCpu::Sibling;
        }
    };
    costs.alone.iter_mut().for_each(|row| to_sibling(&mut row.softirq_cpu));
    costs.bursts.iter_mut().for_each(|row| to_sibling(&mut row.softirq_cpu));
    assert_eq!(ServerHost::new(&costs, setup(ServerPolicy::ByFlow, 2, 8)).unwrap(), complete);
}

#[test]
fn what_stealing_workers_do_is_not_predicted() {
    let refused = ServerHost::new(&Synthetic::default().costs(), setup(ServerPolicy::Stealing, 2, 8));
    assert!(matches!(&refused, Err(ServerError::Setup(fault)) if fault.field == "policy"), "{refused:?}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let costs = Synthetic::default().costs();
    let field =
        |processors, flows| match ServerHost::new(&costs, setup(ServerPolicy::ByCpu, processors, flows)) {
            Err(ServerError::Setup(fault)) => fault.field,
            result => panic!("{result:?}"),
        };
    assert_eq!([field(0, 8), field(4, 3), field(2, 1 << 30)], ["processors", "flows", "flows"]);
    let host = host(&Synthetic::default(), ServerPolicy::ByCpu, 2, 2);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(host.simulate(PerSecond(rate), PRECISION).unwrap_err().field, "rate", "{rate}");
    }
}

/// Of connections, workers wait last in, first out where the costs of datagrams come from those that wait first in, first out.
#[test]
fn connections_need_no_costs_of_workers_in_turn() {
    let mut costs = Synthetic::default().costs();
    costs.transport = Transport::Tcp;
    costs.alone.retain(|row| row.waiting != Waiting::Fifo);
    costs.bursts.retain(|row| row.waiting != Waiting::Fifo);
    for policy in ServerPolicy::compared(Transport::Tcp) {
        assert_eq!(missing(&costs, policy, 4), None, "{policy}");
    }
    for policy in [ServerPolicy::Exclusive, ServerPolicy::SharedLifo, ServerPolicy::Adaptive] {
        let refused = ServerHost::new(&costs, setup(policy, 2, 8));
        assert!(matches!(&refused, Err(ServerError::Setup(fault)) if fault.field == "policy"), "{policy}");
    }
}
