//! Fake hosts, one of each kind that placement must handle.
//!
//! | host | what is special about it |
//! |---|---|
//! | [`two_socket_server`] | 128 cpus with SMT; 64 queues on the second NUMA node, a second NIC on the first |
//! | [`storage_server`] | NVMe interrupts that the kernel manages, as debugfs shows |
//! | [`arm_server`] | interrupts named by number only, 16 queues |
//! | [`container`] | a cpuset, hidden interrupts, read-only settings |
//! | [`unplugged`] | offline cpus, one of them still in the mask of an interrupt |
//! | [`hybrid_laptop`] | two kinds of core, four queues |
//! | [`small_vm`] | virtio with one queue, two cpus |
//! | [`balanced`] | irqbalance and TuneD running, and a `.link` file |
//! | [`steered`] | RPS, RFS and XPS set up |
//! | [`isolated`] | cpus without scheduling and timer ticks |
//! | [`crossed`] | the host of Foong, Fung & Newell 2004: two cpus, eight NICs, and every process on the cpu that does not take its interrupts |
//! | [`eight_socket_server`] | 512 cpus and 1,024 interrupts; not among [`ALL`], for it takes long |
//! | [`bare`] | a kernel that shows cpus and nothing else |

use super::{Device, FakeHost, InterruptNaming, Nic, Thread, Tree, Vector, mask};
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// A function that creates the files of a fake host.
pub type HostFn = fn() -> Tree;

/// Every fake host by name.
pub const ALL: [(&str, HostFn); 12] = [
    ("two_socket_server", two_socket_server),
    ("storage_server", storage_server),
    ("arm_server", arm_server),
    ("container", container),
    ("unplugged", unplugged),
    ("hybrid_laptop", hybrid_laptop),
    ("small_vm", small_vm),
    ("balanced", balanced),
    ("steered", steered),
    ("isolated", isolated),
    ("crossed", crossed),
    ("bare", bare),
];

/// 128 cpus in two sockets. The NIC `eth0` is on the second socket and has a queue for each of its
/// cpus; `eth1`, on the first, has eight. A server's threads run on the first socket.
#[must_use]
pub fn two_socket_server() -> Tree {
    let machine = synthetic::two_socket_server();
    let [first, second] = [0, 1].map(|node| on_node(&machine, node));
    let mut host = FakeHost::new(machine.clone());
    host.devices = vec![
        nic("0000:01:00.0", "eth1", 8, Some(0), &first),
        nic("0000:81:00.0", "eth0", 64, Some(1), &second),
    ];
    let thread = |tid| Thread {
        pid: 2000,
        tid,
        name: "server".to_owned(),
        ticks: 90_000,
        last_cpu: CpuId(tid - 2000),
        allowed: machine.online(),
        group: "/system.slice/server.service".to_owned(),
    };
    host.threads = (2000..2032).map(thread).collect();
    host.tree().receiving(&[(2000, 250_000_000_000)])
}

/// 64 cpus, two NVMe devices with a managed interrupt per eight cpus, and a NIC.
#[must_use]
pub fn storage_server() -> Tree {
    let machine = synthetic::arm_server();
    let mut host = FakeHost::new(machine.clone());
    host.debugfs = true;
    let nvme = |number: u32| Device {
        address: format!("0000:0{}:00.0", number + 1),
        driver: "nvme".to_owned(),
        node: Some(0),
        virtio: None,
        nic: None,
        vectors: (0..=8).map(|queue| nvme_queue(number, queue, &machine)).collect(),
    };
    host.devices = vec![nvme(0), nvme(1), nic("0000:05:00.0", "eth0", 8, Some(0), &machine.online())];
    host.tree()
}

/// 64 cpus in one socket and a NIC with 16 queues, whose interrupts are named without an address.
#[must_use]
pub fn arm_server() -> Tree {
    let machine = synthetic::arm_server();
    let mut host = FakeHost::new(machine.clone());
    host.interrupt_naming = InterruptNaming::ByNumber;
    host.devices = vec![nic("0000:01:00.0", "eth0", 16, Some(0), &machine.online())];
    host.tree()
}

/// Eight cpus, of which the container may use three with a quota of one and a half cpus.
/// `/proc/irq` and the PCI bus are hidden, and `/sys` is read-only.
#[must_use]
pub fn container() -> Tree {
    let allowed: CpuSet = set([2, 5, 6]);
    let machine = synthetic::virtual_machine(8).limited_to(allowed.clone(), Some(1.5));
    let mut host = FakeHost::new(machine);
    host.cgroup = super::Cgroup::V1InContainer;
    host.threads =
        vec![Thread { group: "/docker/0123".to_owned(), ..Thread::alone(1, "worker", 200_000, 5, &allowed) }];
    let mut tree = host.tree().hiding("proc/irq").hiding("proc/interrupts");
    tree.put(".dockerenv", "");
    tree.put("proc/1/cgroup", "4:cpuset:/docker/0123\n0::/");
    tree.put(
        "proc/self/mounts",
        "proc /proc proc rw 0 0\nsysfs /sys sysfs ro,nosuid 0 0\nproc /proc/sys proc ro 0 0",
    );
    tree
}

/// Eight cpus, of which 3 and 5 are offline. The mask of one interrupt still names cpu 3.
#[must_use]
pub fn unplugged() -> Tree {
    let offline: CpuSet = set([3, 5]);
    let machine = synthetic::virtual_machine(8).without(&offline);
    let mut host = FakeHost::new(machine.clone());
    host.devices = vec![nic("0000:00:04.0", "eth0", 4, None, &machine.online())];
    host.devices[0].vectors[2].allowed = set([3]);
    let mut tree = host.tree();
    tree.put("sys/devices/system/cpu/offline", &offline);
    for set in ["possible", "present"] {
        tree.put(format!("sys/devices/system/cpu/{set}"), "0-7");
    }
    tree
}

/// Four fast cores with two threads each and eight slow cores; a NIC with four queues, all handled on
/// slow cores.
#[must_use]
pub fn hybrid_laptop() -> Tree {
    let machine = synthetic::hybrid_laptop();
    let mut host = FakeHost::new(machine);
    host.devices = vec![nic("0000:02:00.0", "enp2s0", 4, None, &set(8..16))];
    let mut tree = host.tree();
    tree.put("sys/devices/cpu_core/cpus", "0-7");
    tree.put("sys/devices/cpu_atom/cpus", "8-15");
    tree
}

/// Two cpus and a virtio NIC with one queue. Its interrupts are on cpu 1, and so is the program that
/// reads from it.
#[must_use]
pub fn small_vm() -> Tree {
    let machine = synthetic::virtual_machine(2);
    let mut host = FakeHost::new(machine.clone());
    let vector = |action: &str, count| Vector {
        action: action.to_owned(),
        allowed: machine.online(),
        effective: CpuId(1),
        count,
        managed: false,
    };
    let vectors = vec![
        vector("virtio2-config", 0),
        vector("virtio2-input.0", 99_831),
        vector("virtio2-output.0", 74_713),
    ];
    let nic = Nic { name: "eth0".to_owned(), receive: 1, transmit: 1, driver_settings: None };
    host.devices = vec![Device {
        address: "0000:00:03.0".to_owned(),
        driver: "virtio_net".to_owned(),
        node: None,
        virtio: Some(2),
        nic: Some(nic),
        vectors,
    }];
    host.threads = vec![Thread::alone(700, "reader", 60_000, 1, &machine.online())];
    host.tree()
}

/// 16 cpus with irqbalance and a TuneD profile; systemd sets the number of queues.
#[must_use]
pub fn balanced() -> Tree {
    let machine = synthetic::virtual_machine(16);
    let mut host = FakeHost::new(machine.clone());
    host.devices = vec![nic("0000:00:04.0", "eth0", 8, None, &machine.online())];
    host.threads = vec![
        Thread::alone(801, "irqbalance", 40, 3, &machine.online()),
        Thread::alone(802, "tuned", 60, 4, &machine.online()),
    ];
    let mut tree = host.tree();
    tree.put("run/irqbalance.pid", 801);
    tree.put("run/tuned/tuned.pid", 802);
    tree.put("etc/tuned/active_profile", "network-latency");
    for unit in ["irqbalance", "tuned"] {
        tree.put(format!("sys/fs/cgroup/system.slice/{unit}.service/cgroup.procs"), "");
    }
    tree.put("etc/systemd/network/10-fast.link", "[Match]\nDriver=ice\n[Link]\nCombinedChannels=8");
    tree
}

/// Eight cpus and a NIC with two queues. RPS spreads both queues over four cpus, RFS tracks 32768
/// flows, and each transmit queue serves half of the cpus.
#[must_use]
pub fn steered() -> Tree {
    let machine = synthetic::virtual_machine(8);
    let mut host = FakeHost::new(machine.clone());
    host.devices = vec![nic("0000:00:04.0", "eth0", 2, None, &machine.online())];
    let mut tree = host.tree();
    tree.put("proc/sys/net/core/rps_sock_flow_entries", 32_768);
    for (queue, senders) in [(0, set(0..4)), (1, set(4..8))] {
        let directory = "sys/class/net/eth0/queues";
        tree.put(format!("{directory}/rx-{queue}/rps_cpus"), mask(&set(2..6)));
        tree.put(format!("{directory}/rx-{queue}/rps_flow_cnt"), 16_384);
        tree.put(format!("{directory}/tx-{queue}/xps_cpus"), mask(&senders));
        tree.put(format!("{directory}/tx-{queue}/xps_rxqs"), mask(&set([queue])));
    }
    tree
}

/// Eight cpus, of which 4 to 7 are reserved for the threads of one program, without timer ticks and
/// interrupts.
#[must_use]
pub fn isolated() -> Tree {
    let machine = synthetic::virtual_machine(8);
    let mut host = FakeHost::new(machine);
    host.devices = vec![nic("0000:00:04.0", "eth0", 4, None, &set(0..4))];
    let busy = |cpu: u32| Thread {
        pid: 900,
        tid: 896 + cpu,
        name: format!("poll-{cpu}"),
        ticks: 350_000,
        last_cpu: CpuId(cpu),
        allowed: set([cpu]),
        group: "/isolated.slice".to_owned(),
    };
    host.threads = (4..8).map(busy).collect();
    let mut tree = host.tree();
    tree.put("sys/devices/system/cpu/isolated", "4-5");
    tree.put("sys/fs/cgroup/cpuset.cpus.isolated", "6-7");
    tree.put("sys/devices/system/cpu/nohz_full", "4-7");
    tree.put("sys/fs/cgroup/isolated.slice/cpuset.cpus.effective", "4-7");
    tree
}

/// Two cpus and eight NICs with one queue each. The first four interrupt cpu 0, the others cpu 1, and
/// each NIC's process is pinned to the other cpu.
#[must_use]
pub fn crossed() -> Tree {
    let machine = synthetic::virtual_machine(2);
    let mut host = FakeHost::new(machine);
    let cpu = |number: u32| number / 4;
    let card = |number: u32| {
        nic(&format!("0000:00:1{number}.0"), &format!("eth{number}"), 1, None, &set([cpu(number)]))
    };
    host.devices = (0..8).map(card).collect();
    let process = |number: u32| {
        Thread::alone(
            600 + number,
            &format!("ttcp{number}"),
            80_000,
            1 - cpu(number),
            &set([1 - cpu(number)]),
        )
    };
    host.threads = (0..8).map(process).collect();
    let received: Vec<(u32, u64)> = (600..608).map(|pid| (pid, 15_000_000_000)).collect();
    host.tree().receiving(&received)
}

/// 512 cpus in eight sockets, each with a NIC of 128 queues: 1,024 interrupts.
#[must_use]
pub fn eight_socket_server() -> Tree {
    let machine = synthetic::eight_socket_server();
    let card = |node: u32| {
        let cpus = on_node(&machine, node);
        nic(&format!("0000:{node}1:00.0"), &format!("eth{node}"), 128, Some(node), &cpus)
    };
    let mut host = FakeHost::new(machine.clone());
    host.devices = (0..8).map(card).collect();
    host.tree()
}

/// Two cpus on a kernel that shows nothing else.
#[must_use]
pub fn bare() -> Tree {
    Tree::from_machine(&synthetic::virtual_machine(2))
}

/// A NIC with one interrupt per pair of queues, distributed round-robin over `cpus`.
fn nic(address: &str, name: &str, queues: u32, node: Option<u32>, cpus: &CpuSet) -> Device {
    let vector = |(queue, cpu): (u32, CpuId)| Vector {
        action: format!("{name}-TxRx-{queue}"),
        allowed: [cpu].into_iter().collect(),
        effective: cpu,
        count: 10_000_000 + u64::from(queue),
        managed: false,
    };
    let in_turn: Vec<CpuId> = cpus.iter().collect();
    Device {
        address: address.to_owned(),
        driver: "ice".to_owned(),
        node,
        virtio: None,
        nic: Some(Nic { name: name.to_owned(), receive: queues, transmit: queues, driver_settings: None }),
        vectors: (0..queues).zip(in_turn.into_iter().cycle()).map(vector).collect(),
    }
}

/// The interrupt of an NVMe queue. That of the admin queue (0) may be moved; each of the others is
/// managed and serves eight cpus.
fn nvme_queue(device: u32, queue: u32, machine: &Machine) -> Vector {
    let allowed = match queue {
        0 => machine.online(),
        queue => set(8 * (queue - 1)..8 * queue),
    };
    let effective = allowed.first().unwrap_or_default();
    Vector { action: format!("nvme{device}q{queue}"), allowed, effective, count: 5_000, managed: queue > 0 }
}

fn on_node(machine: &Machine, node: u32) -> CpuSet {
    machine.cpus.iter().filter(|cpu| cpu.node == node).map(|cpu| cpu.id).collect()
}

fn set(cpus: impl IntoIterator<Item = u32>) -> CpuSet {
    cpus.into_iter().map(CpuId).collect()
}
