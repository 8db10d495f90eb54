//! When packets are spread over cpus (RPS): where one queue brings more than its cpu can take, and nowhere else.

use super::{observed, request};
use warmcore_costs::Profile;
use warmcore_linux::fake::{Device, FakeHost, Nic, Thread, Tree, Vector};
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Target, place};
use warmcore_topology::{CpuSet, synthetic};
use warmcore_units::CpuId;

/// How long the host has been up.
const SECONDS: u64 = 3_600;

/// A card whose queues bring these packets a second, on these cpus, and a server for them. `name` gives the names of the
/// card's interrupts.
pub(crate) fn host(queues: &[(u32, u64)], name: impl Fn(usize) -> String) -> Tree {
    of_cards(vec![card(0, queues, name)])
}

/// The card with this number, which is that of its interface.
pub(crate) fn card(number: u32, queues: &[(u32, u64)], name: impl Fn(usize) -> String) -> Device {
    let vector = |(queue, &(cpu, rate)): (usize, &(u32, u64))| Vector {
        action: name(queue),
        allowed: CpuSet::from_iter([CpuId(cpu)]),
        effective: CpuId(cpu),
        count: rate * SECONDS,
        managed: false,
    };
    let count = queues.len() as u32;
    Device {
        address: format!("0000:0{}:00.0", 3 + number),
        driver: "ice".to_owned(),
        node: Some(0),
        virtio: None,
        nic: Some(Nic {
            name: format!("eth{number}"),
            receive: count,
            transmit: count,
            driver_settings: None,
        }),
        vectors: queues.iter().enumerate().map(vector).collect(),
    }
}

/// A host with these cards and a server for their packets.
pub(crate) fn of_cards(devices: Vec<Device>) -> Tree {
    let mut host = FakeHost::new(synthetic::arm_server());
    host.devices = devices;
    let all = host.machine.online();
    host.threads = vec![Thread::alone(600, "server", 20 * SECONDS, 40, &all)];
    // No queue remembers flows: packets cannot follow their readers.
    host.tree().hiding("rps_flow_cnt")
}

fn planned(queues: &[(u32, u64)]) -> HostPlacement {
    let profile = Profile::sgi_challenge_xl();
    let target = Target::Name("server".to_owned());
    let tree = host(queues, |queue| format!("eth0-TxRx-{queue}"));
    place(&observed(&tree), &request(&target, Goal::Throughput, Some(&profile))).expect("a plan")
}

/// The queues whose packets are spread.
fn spread(placement: &HostPlacement) -> Vec<u32> {
    let lines = placement.plan.lines.iter();
    let spread = lines.filter_map(|line| match &line.set {
        Setting::RpsCpus { queue, cpus, .. } if !cpus.is_empty() => Some(*queue),
        _ => None,
    });
    spread.collect()
}

/// The cpus that queues are moved to.
fn interrupted(placement: &HostPlacement) -> CpuSet {
    let lines = placement.lines.iter().filter(|line| line.changes);
    let cpus = lines.filter_map(|line| match &line.set {
        Setting::Interrupt { cpus, .. } => cpus.first(),
        _ => None,
    });
    cpus.collect()
}

#[test]
fn queues_that_crowd_one_cpu_are_spread_and_their_packets_are_not() {
    let placement = planned(&[(0, 1_000); 16]);
    assert_eq!(spread(&placement), [0_u32; 0], "one cpu would have time for a queue");
    assert_eq!(interrupted(&placement).len(), 15);
    let [now, then] = [placement.now, placement.then].map(|it| it.expect("a profile").capacity.mean.0);
    assert!((then / now - 16.0).abs() < 1.0, "{now} {then}");
}

#[test]
fn packets_of_a_queue_that_is_too_much_for_one_cpu_are_spread_and_those_of_others_are_not() {
    let queues: Vec<(u32, u64)> =
        (0..16).map(|queue| (queue, if queue == 3 { 20_000 } else { 100 })).collect();
    let placement = planned(&queues);
    assert_eq!(spread(&placement), [3]);
    let reason = &placement.lines.iter().find(|line| matches!(line.set, Setting::RpsCpus { .. }));
    let reason = &reason.expect("a line").reason;
    assert!(reason.contains("the packets that interrupt cpu 3 take"), "{reason}");
    // The cpu that hands them over has work with each: the more cpus process them, the more that is what limits.
    let then = placement.then.expect("a profile");
    assert!(then.capacity.mean.0 * then.busiest * then.cost.mean.secs() < 0.99, "{then:?}");
}
