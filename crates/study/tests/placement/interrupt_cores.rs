//! Readers leave the cores that are for interrupts, and nothing else of what they have.

use super::{observed, request};
use warmcore_linux::fake::{Device, FakeHost, Nic, Thread, Tree, Vector};
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, place};
use warmcore_topology::{CpuSet, synthetic};
use warmcore_units::CpuId;

const SECONDS: u64 = 3_600;

/// Eight queues on the first cpus of `node`, as busy each.
pub(crate) fn card(name: &str, address: &str, node: u32) -> Device {
    let vector = |queue: u32| {
        let cpu = CpuId(node * 32 + queue);
        Vector {
            action: format!("{name}-TxRx-{queue}"),
            allowed: CpuSet::from_iter([cpu]),
            effective: cpu,
            count: 4_000 * SECONDS,
            managed: false,
        }
    };
    Device {
        address: address.to_owned(),
        driver: "ice".to_owned(),
        node: Some(node),
        virtio: None,
        nic: Some(Nic { name: name.to_owned(), receive: 8, transmit: 8, driver_settings: None }),
        vectors: (0..8).map(vector).collect(),
    }
}

/// A thread of process `pid` that uses `percent` of `cpu`.
pub(crate) fn thread(pid: u32, tid: u32, percent: u64, cpu: u32, allowed: &CpuSet) -> Thread {
    Thread { tid, ..Thread::alone(pid, &format!("server{pid}"), percent * SECONDS, cpu, allowed) }
}

/// Two sockets with these cards and threads; the processes `readers` receive as much each.
pub(crate) fn two_sockets(devices: Vec<Device>, threads: Vec<Thread>, readers: &[u32]) -> Tree {
    let mut host = FakeHost::new(synthetic::two_socket_server());
    (host.devices, host.threads) = (devices, threads);
    let readers: Vec<(u32, u64)> = readers.iter().map(|&pid| (pid, 10_000_000 * SECONDS)).collect();
    host.tree().receiving(&readers)
}

fn cards() -> Vec<Device> {
    vec![card("eth0", "0000:01:00.0", 0), card("eth1", "0000:81:00.0", 1)]
}

fn planned(tree: &Tree, cores: usize) -> HostPlacement {
    let request =
        Request { interrupt_cores: Some(cores), ..request(&Target::Evident, Goal::Throughput, None) };
    place(&observed(tree), &request).expect("a plan")
}

/// The cpus of each process that a line moves, and why.
fn readers(placement: &HostPlacement) -> Vec<(u32, CpuSet, &str)> {
    let lines = placement.lines.iter();
    let readers = lines.filter_map(|line| match &line.set {
        Setting::Thread { pid, cpus, .. } => Some((*pid, cpus.clone(), line.reason.as_str())),
        _ => None,
    });
    readers.collect()
}

pub(crate) fn cpus(text: &str) -> CpuSet {
    text.parse().expect("a list of cpus")
}

const AWAY: &str = "away from the cores for interrupts";

#[test]
fn readers_of_two_nodes_lose_the_interrupt_cores_and_stay_where_they_are() {
    for masks in [["0-127"; 2], ["0-31,64-95", "32-63,96-127"]] {
        let [one, other] = masks.map(cpus);
        let threads = vec![thread(1000, 1000, 80, 12, &one), thread(2000, 2000, 80, 44, &other)];
        let placement = planned(&two_sockets(cards(), threads, &[1000, 2000]), 2);
        let interrupts = cpus("0,32,64,96");
        let expected =
            vec![(1000, one.difference(&interrupts), AWAY), (2000, other.difference(&interrupts), AWAY)];
        assert_eq!(readers(&placement), expected);
    }
}

#[test]
fn readers_move_to_the_node_of_the_only_card_if_they_fit_there_together() {
    let all = cpus("0-127");
    let planned = |threads: u32| {
        let of = |pid, cpu: u32| (0..threads).map(move |tid| (pid, pid + tid, cpu + tid % 32));
        let threads: Vec<_> = of(1000, 0).chain(of(2000, 32)).collect();
        let threads = threads.into_iter().map(|(pid, tid, cpu)| thread(pid, tid, 80, cpu, &cpus("0-127")));
        planned(&two_sockets(vec![card("eth0", "0000:01:00.0", 0)], threads.collect(), &[1000, 2000]), 2)
    };
    // 30 cores are left near the card, and 70% of them may be used: 21; 26 threads of 80% use 20.8.
    let (near, why) = (
        cpus("2-31,66-95"),
        "to the node of eth0, where 100% of the packets arrive: it may run on others now",
    );
    assert_eq!(readers(&planned(13)), [(1000, near.clone(), why), (2000, near, why)]);
    let left = all.difference(&cpus("0-1,64-65"));
    assert_eq!(readers(&planned(14)), [(1000, left.clone(), AWAY), (2000, left, AWAY)]);
}

#[test]
fn an_isolated_hardware_thread_of_an_interrupt_core_takes_no_later_interrupts() {
    let threads = vec![thread(1000, 1000, 80, 12, &cpus("0-127"))];
    let mut tree = two_sockets(cards(), threads, &[1000]);
    tree.put("sys/devices/system/cpu/isolated", "64,96");
    let placement = planned(&tree, 2);
    let default = placement.lines.iter().find_map(|line| match &line.set {
        Setting::DefaultInterrupt { cpus } => Some(cpus.clone()),
        _ => None,
    });
    assert_eq!(default, Some(cpus("0,32")));
}
