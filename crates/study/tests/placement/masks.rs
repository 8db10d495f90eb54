//! What a process keeps: the mask that somebody gave it, time for its work, and cores on which nobody polls.

use super::interrupt_cores::{card, cpus, thread, two_sockets};
use super::{GOALS, observed, request};
use warmcore_costs::Profile;
use warmcore_linux::fake::{Device, Tree};
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, PerSecond};

fn planned(tree: &Tree, goal: Goal) -> Result<HostPlacement, Unplaceable> {
    place(&observed(tree), &request(&Target::Evident, goal, None))
}

/// The cpus that the plan gives to processes.
fn readers(placement: &Result<HostPlacement, Unplaceable>) -> Vec<CpuSet> {
    let lines = placement.iter().flat_map(|placement| &placement.lines).filter(|line| line.changes);
    let readers = lines.filter_map(|line| match &line.set {
        Setting::Thread { cpus, .. } => Some(cpus.clone()),
        _ => None,
    });
    readers.collect()
}

/// Where the plan has the interrupts that it names.
fn interrupted(placement: &HostPlacement) -> Vec<u32> {
    let lines = placement.plan.lines.iter();
    let cpus = lines.filter_map(|line| match &line.set {
        Setting::Interrupt { cpus, .. } => cpus.first(),
        _ => None,
    });
    cpus.map(|cpu| cpu.0).collect()
}

fn on_node_1() -> Vec<Device> {
    vec![card("eth0", "0000:81:00.0", 1)]
}

/// A process of so many threads, of this part of a cpu in percent each, that may run on `allowed`.
fn process(threads: u32, percent: u64, allowed: &str) -> Tree {
    let allowed = cpus(allowed);
    let threads = (0..threads).map(|at| thread(1000, 1000 + at, percent, at, &allowed));
    // Packets cannot follow their readers.
    two_sockets(on_node_1(), threads.collect(), &[1000]).hiding("rps_flow_cnt")
}

#[test]
fn readers_go_to_a_node_only_if_their_own_mask_has_time_for_them_there() {
    // 32 cores, of which 70% is 22.4; their second hardware threads are no cores.
    for (threads, percent, allowed, moves) in
        [(20, 95, "0-33", false), (2, 50, "0-33", true), (27, 80, "0-127", true), (29, 80, "0-127", false)]
    {
        let tree = process(threads, percent, allowed);
        for goal in [Goal::Throughput, Goal::Latency] {
            let plan = planned(&tree, goal);
            assert_eq!(!readers(&plan).is_empty(), moves, "{threads} at {percent}%, {allowed}: {plan:?}");
        }
    }
}

#[test]
fn no_goal_takes_a_reader_out_of_the_mask_that_somebody_gave_it() {
    let allowed = cpus("0-31,64-95");
    let tree = process(4, 60, "0-31,64-95");
    for goal in GOALS {
        for cpus in readers(&planned(&tree, goal)) {
            assert!(cpus.difference(&allowed).is_empty(), "{goal}: {cpus}");
        }
    }
}

#[test]
fn a_core_on_which_a_pinned_thread_polls_takes_no_queue_though_readers_may_run_there() {
    let mut threads: Vec<_> = (0..4).map(|at| thread(1000, 1000 + at, 60, 40 + at, &cpus("0-127"))).collect();
    threads.push(thread(2000, 2000, 100, 35, &cpus("35")));
    let tree = two_sockets(on_node_1(), threads, &[1000]);
    let placement = planned(&tree, Goal::Throughput).expect("a plan");
    let on = interrupted(&placement);
    assert!(on.len() == 8 && !on.contains(&35) && !on.contains(&99), "{on:?}");
    let [mask] = &readers(&Ok(placement))[..] else { panic!("one process moves") };
    assert_eq!(*mask, cpus("32-34,36-63,96-98,100-127"));
}

#[test]
fn queues_that_crowd_a_cpu_are_spread_before_packets_are_handed_over() {
    let mut crowded = card("eth0", "0000:01:00.0", 0);
    for vector in &mut crowded.vectors {
        (vector.allowed, vector.effective) = (cpus("0"), CpuId(0));
    }
    let near = cpus("0-31,64-95");
    let threads = (0..8).map(|at| thread(1000, 1000 + at, 50, at, &near)).collect();
    let placement = planned(&two_sockets(vec![crowded], threads, &[1000]), Goal::Throughput).expect("a plan");
    let mut on = interrupted(&placement);
    on.sort_unstable();
    on.dedup();
    assert_eq!(on.len(), 8, "{on:?}");
    assert!(!placement.plan.lines.iter().any(|line| matches!(line.set, Setting::RpsFlows { .. })));
}

#[test]
fn twice_the_packets_are_twice_the_work_of_their_readers() {
    let profile = Profile::sgi_challenge_xl();
    let observed = observed(&process(2, 20, "0-127"));
    let headroom = |rate: f64| {
        let asked = request(&Target::Evident, Goal::Isolation, Some(&profile));
        let placement = place(&observed, &Request { rate: Some(PerSecond(rate)), ..asked }).expect("a plan");
        placement.now.expect("a profile").headroom.expect("a rate").mean
    };
    let [once, twice] = [16_000.0, 32_000.0].map(headroom);
    assert!((once / twice - 2.0).abs() < 1e-6, "{once} {twice}");
}

#[test]
fn an_idle_card_is_spread_over_its_own_node_wherever_its_queues_are() {
    let mut idle = card("eth0", "0000:01:00.0", 0);
    for (at, vector) in idle.vectors.iter_mut().enumerate() {
        let cpu = CpuId(if at < 4 { at as u32 } else { 32 + at as u32 });
        (vector.allowed, vector.effective, vector.count) = (CpuSet::from_iter([cpu]), cpu, 0);
    }
    let tree = two_sockets(vec![idle], vec![thread(1000, 1000, 5, 1, &cpus("0-127"))], &[]);
    let interfaces = ["eth0".to_owned()];
    let asked = request(&Target::Evident, Goal::Throughput, None);
    let placement = place(&observed(&tree), &Request { interfaces: &interfaces, ..asked }).expect("a plan");
    assert!(interrupted(&placement).iter().all(|cpu| cpus("0-31").contains(CpuId(*cpu))));
}
