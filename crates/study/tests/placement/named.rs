//! Plans for cards that their user names (`--nic`), beside others that are busy.

use super::steering::{card, of_cards};
use super::{observed, request};
use std::collections::BTreeSet;
use warmcore_costs::Profile;
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};
use warmcore_topology::CpuSet;

/// The plan for the queues of eth1, where those of eth0 are as they are.
fn planned(eth0: &[(u32, u64)], eth1: &[(u32, u64)]) -> Result<HostPlacement, Unplaceable> {
    let profile = Profile::sgi_challenge_xl();
    let name = |number: u32| move |queue| format!("eth{number}-TxRx-{queue}");
    let tree = of_cards(vec![card(0, eth0, name(0)), card(1, eth1, name(1))]);
    let interfaces = ["eth1".to_owned()];
    let request = request(&Target::Evident, Goal::Throughput, Some(&profile));
    place(&observed(&tree), &Request { interfaces: &interfaces, ..request })
}

/// The cpus that the plan's interrupts go to.
fn interrupted(placement: &HostPlacement) -> CpuSet {
    let lines = placement.plan.lines.iter();
    let cpus = lines.filter_map(|line| match &line.set {
        Setting::Interrupt { cpus, .. } => cpus.first(),
        _ => None,
    });
    cpus.collect()
}

#[test]
fn queues_of_the_named_card_go_where_those_of_others_leave_time() {
    let eth0 = [0, 1, 2, 3].map(|cpu| (cpu, 50_000));
    let placement = planned(&eth0, &[(0, 100); 4]).expect("a plan");
    let taken: BTreeSet<u32> = interrupted(&placement).iter().map(|cpu| cpu.0).collect();
    assert_eq!(taken.len(), 4);
    assert!(taken.is_disjoint(&BTreeSet::from([0, 1, 2, 3])), "{taken:?}");
    let words = placement.plan.lines.iter().map(|line| line.set.to_string());
    let others: Vec<String> = words.filter(|set| set.contains("eth0")).collect();
    assert!(others.is_empty(), "the plan is about eth1: {others:?}");
    assert_eq!(placement.plan.machine.interfaces.len(), 1);
}

#[test]
fn the_forecast_counts_the_packets_of_all_cards() {
    let eth0 = [(0, 50_000)];
    let placement = planned(&eth0, &[(1, 1_000), (1, 1_000)]).expect("a plan");
    let [now, then] = [placement.now, placement.then].map(|it| it.expect("a profile").busiest);
    assert!((now - 50.0 / 52.0).abs() < 1e-6 && now == then, "the busiest cpu is that of eth0: {now} {then}");
}
