//! What one look shows by chance, or what is small beside the packets, moves nothing.

use super::interrupt_cores::{card as eight_queues, cpus, thread, two_sockets};
use super::steering::card;
use super::{observed, planned, request};
use warmcore_linux::fake::{FakeHost, Thread, Tree};
use warmcore_linux::inventory::Observation;
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};
use warmcore_topology::{CpuSet, synthetic};
use warmcore_units::{CpuId, PerSecond};

/// A machine of eight cpus with these queues and threads; a process of each name.
fn eight_cpus(queues: &[(u32, u64)], threads: Vec<Thread>) -> Tree {
    let mut host = FakeHost::new(synthetic::virtual_machine(8));
    host.devices = vec![card(0, queues, |queue| format!("eth0-TxRx-{queue}"))];
    host.threads = threads;
    host.tree().hiding("rps_flow_cnt")
}

/// The cpus that queues are moved to.
fn moved(placement: Result<HostPlacement, Unplaceable>) -> Vec<CpuId> {
    let lines = placement.map(|placement| placement.lines).unwrap_or_default();
    let cpus = lines.into_iter().filter(|line| line.changes).filter_map(|line| match line.set {
        Setting::Interrupt { cpus, .. } => cpus.first(),
        _ => None,
    });
    cpus.collect()
}

/// Two queues on each cpu, of which each look finds others to be busy by a fifth.
#[test]
fn queues_that_are_spread_evenly_stay_whichever_is_busy_in_one_look() {
    let target = Target::Evident;
    for look in 0..20_u64 {
        let rate = |queue: u64| 800 + (look * 7_919 + queue * 104_729) % 401;
        let queues: Vec<(u32, u64)> = (0..16).map(|queue| (queue / 2, rate(queue.into()))).collect();
        let seen = observed(&eight_cpus(&queues, Vec::new()));
        assert_eq!(moved(planned(&seen, &target, Goal::Throughput)), [], "look {look}");
        assert_eq!(moved(place(&seen, &request(&target, Goal::Throughput, None))), [], "look {look}");
    }
    // One cpu with four of them is no chance.
    let crowded: Vec<(u32, u64)> = (0..16).map(|queue| (queue / 4, 1_000)).collect();
    assert_eq!(
        moved(planned(&observed(&eight_cpus(&crowded, Vec::new())), &target, Goal::Throughput)).len(),
        8
    );
}

#[test]
fn cpus_that_restricted_threads_fill_take_no_queue_while_others_are_idle() {
    const SECONDS: u64 = 3_600;
    let mask: CpuSet = "0-3".parse().expect("a list");
    let worker = |number: u32| Thread {
        tid: 700 + number,
        ..Thread::alone(700, "qemu", 100 * SECONDS, number, &mask)
    };
    let queues = [(4, 1_000), (4, 1_000), (5, 1_000), (5, 1_000)];
    let seen = observed(&eight_cpus(&queues, (0..4).map(worker).collect()));
    let to = moved(place(&seen, &request(&Target::Evident, Goal::Throughput, None)));
    assert!(!to.is_empty() && to.iter().all(|cpu| cpu.0 > 3), "{to:?}");
}

/// A host that takes in 64,000 packets a second, and whose process on the other socket receives so many bytes a second.
fn receiving(bytes: f64) -> Observation {
    let threads = vec![thread(1000, 1000, 90, 44, &cpus("0-127"))];
    let mut seen = observed(&two_sockets(vec![eight_queues("eth0", "0000:01:00.0", 0)], threads, &[1000]));
    let rates = seen.rates.as_mut().expect("two looks");
    assert_eq!(rates.receivers.len(), 1, "10 MB/s are enough for 64,000 packets");
    rates.receivers[0].bytes = PerSecond(bytes);
    seen
}

#[test]
fn who_receives_a_trickle_beside_a_flood_is_not_whom_the_packets_are_for() {
    let confined = |seen: &Observation| {
        let placement = place(seen, &request(&Target::Evident, Goal::Throughput, None));
        let lines = placement.map(|placement| placement.lines).unwrap_or_default();
        lines.iter().any(|line| matches!(line.set, Setting::Thread { .. }))
    };
    assert!(confined(&receiving(1e7)));
    let tree = |bytes: u64| {
        let mut host = FakeHost::new(synthetic::two_socket_server());
        host.devices = vec![eight_queues("eth0", "0000:01:00.0", 0)];
        host.threads = vec![thread(1000, 1000, 90, 44, &cpus("0-127"))];
        host.tree().receiving(&[(1000, bytes * 3_600)])
    };
    assert!(confined(&observed(&tree(400_000))));
    assert!(!confined(&observed(&tree(12_000))), "a third of a byte for each packet");
}

#[test]
fn fewer_cores_for_interrupts_than_the_packets_need_are_refused() {
    let mut seen = receiving(1e7);
    for cpu in &mut seen.rates.as_mut().expect("two looks").cpus {
        cpu.softirq = Some(if cpu.cpu.0 < 8 { 0.5 } else { 0.0 });
    }
    let with = |cores| {
        let request =
            Request { interrupt_cores: Some(cores), ..request(&Target::Evident, Goal::Throughput, None) };
        place(&seen, &request)
    };
    let refused = with(2).unwrap_err();
    assert!(matches!(refused, Unplaceable::TooFewInterruptCores { asked: 2, needed: 6, .. }), "{refused}");
    assert!(refused.to_string().contains("take 4.0 cpus, more than 2 can do"), "{refused}");
    assert!(with(6).is_ok());
}

#[test]
fn what_is_not_decided_without_costs_is_not_called_right() {
    let tree = warmcore_linux::fake::hosts::crossed();
    let refused = place(&observed(&tree), &request(&Target::Evident, Goal::Throughput, None)).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("is not decided without costs") && !text.contains("where it should be"), "{text}");
}
