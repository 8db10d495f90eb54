//! The hosts. Rates are made up; names of interrupts, numbers of queues and masks are as drivers choose them.

use super::Case;
use warmcore_linux::fake::{Device, FakeHost, Nic, Thread, Tree, Vector, hosts};
use warmcore_study::placement::Target;
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// Interrupts per second of a queue.
const RATE: u64 = 4_000;

/// How long fake hosts have been up.
const SECONDS: u64 = 3_600;

pub(super) fn all() -> Vec<Case> {
    [servers(), clouds(), special()].into_iter().flatten().collect()
}

/// A card whose queues have one interrupt each, named by `action`, on `cpus` in turn.
fn card(
    (address, name, driver): (&str, &str, &str),
    node: Option<u32>,
    queues: u32,
    action: impl Fn(u32) -> String,
    cpus: &[u32],
) -> Device {
    let vector = |(queue, &cpu): (u32, &u32)| vector(&action(queue), cpu, RATE);
    Device {
        address: address.to_owned(),
        driver: driver.to_owned(),
        node,
        virtio: None,
        nic: Some(Nic { name: name.to_owned(), receive: queues, transmit: queues, driver_settings: None }),
        vectors: (0..queues).zip(cpus.iter().cycle()).map(vector).collect(),
    }
}

fn vector(action: &str, cpu: u32, rate: u64) -> Vector {
    Vector {
        action: action.to_owned(),
        allowed: [CpuId(cpu)].into_iter().collect(),
        effective: CpuId(cpu),
        count: rate * SECONDS,
        managed: false,
    }
}

/// The threads of one process, each using `percent` of a cpu, on `cpus`; they may run on `allowed`.
fn process(pid: u32, name: &str, percent: u64, cpus: &[u32], allowed: &CpuSet) -> Vec<Thread> {
    let thread = |(tid, &cpu): (u32, &u32)| Thread {
        pid,
        tid,
        name: name.to_owned(),
        ticks: percent * SECONDS,
        last_cpu: CpuId(cpu),
        allowed: allowed.clone(),
        group: format!("/system.slice/{name}.service"),
    };
    (pid..).zip(cpus).map(thread).collect()
}

fn host(machine: Machine, devices: Vec<Device>, threads: Vec<Thread>) -> Tree {
    let mut host = FakeHost::new(machine);
    host.devices = devices;
    host.threads = threads;
    host.tree()
}

fn case(name: &'static str, source: &'static str, tree: Tree, expert: &'static str) -> Case {
    Case {
        name,
        source,
        tree,
        reader: Target::Evident,
        spread: &[],
        expert,
        queues: Vec::new(),
        others: Vec::new(),
    }
}

/// Queue `n` of `interface` goes to `cpus[n]`.
fn in_turn(interface: &'static str, cpus: impl IntoIterator<Item = u32>) -> Vec<(&'static str, u32, u32)> {
    (0..).zip(cpus).map(|(queue, cpu)| (interface, queue, cpu)).collect()
}

const MLX5: &str = "kernel: drivers/net/ethernet/mellanox/mlx5/core/pci_irq.c (mlx5_comp%d@pci:%s)";
const I40E: &str = "kernel: drivers/net/ethernet/intel/i40e/i40e_main.c (i40e-%s-TxRx-%d); Documentation/networking/scaling.rst";
const ENA: &str = "kernel: drivers/net/ethernet/amazon/ena/ena_netdev.c (%s-Tx-Rx-%d); AWS: ENA Linux driver best practices";
const VIRTIO: &str = "kernel: drivers/virtio/virtio_pci_common.c (virtio%d-input.%d), drivers/net/virtio_net.c (virtnet_set_affinity)";

fn servers() -> Vec<Case> {
    let two = synthetic::two_socket_server;
    let all = two().online();
    let mlx5 = |cpus: &[u32]| {
        let action = |queue| format!("mlx5_comp{queue}@pci:0000:81:00.0");
        card(("0000:81:00.0", "eth0", "mlx5_core"), Some(1), 32, action, cpus)
    };
    let node1: Vec<u32> = (32..64).collect();
    let i40e = |name: &'static str, address: &'static str, node, queues, cpus: &[u32]| {
        card(
            (address, name, "i40e"),
            Some(node),
            queues,
            move |queue| format!("i40e-{name}-TxRx-{queue}"),
            cpus,
        )
    };
    let busy = process(3000, "batch", 6, &[33], &all);
    let server = process(2000, "server", 25, &(0..32).collect::<Vec<_>>(), &all);
    let both: Vec<u32> = (0..32).chain(64..96).collect();
    let stacked = i40e("eth0", "0000:01:00.0", 0, 8, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let second = i40e("eth1", "0000:02:00.0", 0, 8, &[0, 1, 2, 3, 4, 5, 6, 7]);
    vec![
        case(
            "mlx5_spread_beside_a_busy_thread",
            MLX5,
            host(two(), vec![mlx5(&node1)], busy),
            "nothing: each queue has a core of the card's node; a busy thread is no reader",
        ),
        Case {
            queues: in_turn("eth0", 32..64),
            ..case(
                "mlx5_all_on_cpu_0",
                MLX5,
                host(two(), vec![mlx5(&[0])], Vec::new()),
                "one queue on each core of the card's node",
            )
        },
        Case {
            reader: Target::Name("server".to_owned()),
            others: vec![("all threads of server (2000)", "32-63,96-127")],
            ..case(
                "mlx5_read_on_the_other_node",
                MLX5,
                host(two(), vec![mlx5(&node1)], server),
                "the queues are right; the server belongs on the card's node, as one mask",
            )
        },
        case(
            "i40e_a_queue_for_each_hardware_thread",
            I40E,
            host(two(), vec![i40e("eth0", "0000:01:00.0", 0, 64, &both)], Vec::new()),
            "nothing: 64 queues on the 64 cpus of the card's node",
        ),
        Case {
            queues: in_turn("eth0", 32..48),
            ..case(
                "i40e_on_the_wrong_node",
                I40E,
                host(
                    two(),
                    vec![i40e("eth0", "0000:81:00.0", 1, 16, &(0..16).collect::<Vec<_>>())],
                    Vec::new(),
                ),
                "each queue to a core of the card's node",
            )
        },
        Case {
            queues: in_turn("eth1", 8..16),
            ..case(
                "two_cards_on_the_same_cores",
                I40E,
                host(two(), vec![stacked, second], Vec::new()),
                "the second card's queues to cores that the first leaves free",
            )
        },
        Case {
            spread: &["eth0"],
            queues: in_turn("eth0", 32..64),
            ..case(
                "mlx5_idle_to_be_spread",
                MLX5,
                host(two(), vec![idle(mlx5(&[32]))], Vec::new()),
                "before the load comes: one queue on each core of the card's node",
            )
        },
    ]
}

fn idle(mut card: Device) -> Device {
    card.vectors.iter_mut().for_each(|vector| vector.count = 0);
    card
}

fn clouds() -> Vec<Case> {
    let vm = synthetic::virtual_machine;
    let ena = |queues, cpus: &[u32]| {
        card(("0000:00:05.0", "ens5", "ena"), None, queues, |queue| format!("ens5-Tx-Rx-{queue}"), cpus)
    };
    let all = vm(16).online();
    let mut web = process(2000, "web", 12, &[0, 1, 2, 3, 4, 5, 6, 7], &all);
    web.extend(process(4000, "ci-runner", 7, &[9], &all));
    let mana = |cpus: &[u32]| {
        card(
            ("7870:00:00.0", "eth0", "mana"),
            None,
            8,
            |queue| format!("mana_q{queue}@pci:7870:00:00.0"),
            cpus,
        )
    };
    vec![
        case(
            "ena_web_workers_and_a_ci_runner",
            ENA,
            host(vm(16), vec![ena(8, &[0, 1, 2, 3, 4, 5, 6, 7])], web),
            "nothing: each queue has a core of its own",
        ),
        Case {
            queues: in_turn("ens5", [0, 1, 2, 3, 4, 5, 6, 7]),
            ..case(
                "ena_all_on_two_cpus",
                ENA,
                host(vm(16), vec![ena(8, &[0, 1])], Vec::new()),
                "one queue on each of eight cores; two may stay",
            )
        },
        Case {
            queues: in_turn("ens5", 0..32),
            ..case(
                "graviton_queues_on_eight_cores",
                ENA,
                host(synthetic::arm_server(), vec![ena(32, &[0, 1, 2, 3, 4, 5, 6, 7])], Vec::new()),
                "one queue on each of 32 cores; eight may stay",
            )
        },
        Case {
            queues: in_turn("eth0", 0..8),
            ..case(
                "gve_all_on_cpu_0",
                "kernel: drivers/net/ethernet/google/gve/gve_main.c (gve-ntfy-blk%d@pci:%s; first transmit, then receive)",
                host(vm(16), vec![gve(8)], Vec::new()),
                "receive queue n and transmit queue n together, on a cpu of their own",
            )
        },
        Case {
            queues: in_turn("eth0", 0..8),
            ..case(
                "mana_all_on_cpu_0",
                "kernel: drivers/net/ethernet/microsoft/mana/gdma_main.c (mana_q%d@pci:%s, mana_hwc@pci:%s)",
                host(vm(16), vec![mana(&[0])], Vec::new()),
                "one queue on each of eight cores",
            )
        },
        case(
            "virtio_a_queue_for_each_cpu",
            VIRTIO,
            host(vm(8), vec![virtio(8, &[0, 1, 2, 3, 4, 5, 6, 7])], Vec::new()),
            "nothing: the driver has bound each pair of queues to its cpu",
        ),
        Case {
            queues: in_turn("eth0", 0..4),
            ..case(
                "virtio_four_queues_on_one_cpu",
                VIRTIO,
                host(vm(8), vec![virtio(4, &[3])], Vec::new()),
                "each pair of queues on a cpu of its own; one may stay",
            )
        },
    ]
}

/// gve: for each queue an interrupt of its transmit side, then as many of the receive side, then administration.
fn gve(queues: u32) -> Device {
    let block = |block: u32| vector(&format!("gve-ntfy-blk{block}@pci:0000:00:04.0"), 0, RATE);
    let mut vectors: Vec<Vector> = (0..2 * queues).map(block).collect();
    vectors.push(vector("gve-mgmnt@pci:0000:00:04.0", 0, 0));
    Device {
        address: "0000:00:04.0".to_owned(),
        driver: "gve".to_owned(),
        node: None,
        virtio: None,
        nic: Some(Nic { name: "eth0".to_owned(), receive: queues, transmit: queues, driver_settings: None }),
        vectors,
    }
}

/// virtio: an interrupt for the configuration, then one for each receive and transmit queue in turn.
fn virtio(queues: u32, cpus: &[u32]) -> Device {
    let mut vectors = vec![vector("virtio1-config", 0, 0)];
    for (queue, &cpu) in (0..queues).zip(cpus.iter().cycle()) {
        vectors.push(vector(&format!("virtio1-input.{queue}"), cpu, RATE));
        vectors.push(vector(&format!("virtio1-output.{queue}"), cpu, RATE / 2));
    }
    Device {
        address: "0000:00:03.0".to_owned(),
        driver: "virtio_net".to_owned(),
        node: None,
        virtio: Some(1),
        nic: Some(Nic { name: "eth0".to_owned(), receive: queues, transmit: queues, driver_settings: None }),
        vectors,
    }
}

fn special() -> Vec<Case> {
    let vm = synthetic::virtual_machine;
    let named =
        |name: &'static str, driver: &'static str, queues, action: fn(u32) -> String, cpus: &[u32]| {
            card(("0000:03:00.0", name, driver), None, queues, action, cpus)
        };
    let mut isolated = host(
        vm(8),
        vec![named("eth0", "ice", 4, |queue| format!("ice-eth0-TxRx-{queue}"), &[2, 3, 4, 5])],
        Vec::new(),
    );
    isolated.put("sys/devices/system/cpu/isolated", "4-7");
    let mut hybrid = host(
        synthetic::hybrid_laptop(),
        vec![named("enp3s0", "igc", 4, |queue| format!("enp3s0-TxRx-{queue}"), &[8, 9, 10, 11])],
        Vec::new(),
    );
    hybrid.put("sys/devices/cpu_core/cpus", "0-7");
    hybrid.put("sys/devices/cpu_atom/cpus", "8-15");
    vec![
        Case {
            queues: in_turn("eth0", 0..8),
            ..case(
                "sfc_all_on_cpu_0",
                "kernel: drivers/net/ethernet/sfc/efx_channels.c (%s-%d)",
                host(
                    vm(16),
                    vec![named("eth0", "sfc", 8, |queue| format!("eth0-{queue}"), &[0])],
                    Vec::new(),
                ),
                "one queue on each of eight cores",
            )
        },
        Case {
            queues: in_turn("eth0", 0..4),
            ..case(
                "be2net_all_on_cpu_0",
                "kernel: drivers/net/ethernet/emulex/benet/be_main.c (%s-q%d)",
                host(
                    vm(8),
                    vec![named("eth0", "be2net", 4, |queue| format!("eth0-q{queue}"), &[0])],
                    Vec::new(),
                ),
                "one queue on each of four cores",
            )
        },
        case(
            "iwlwifi_on_a_quiet_laptop",
            "kernel: drivers/net/wireless/intel/iwlwifi/pcie (iwlwifi:queue_%d)",
            host(
                synthetic::hybrid_laptop(),
                vec![quiet(named("wlp3s0", "iwlwifi", 2, |queue| format!("iwlwifi:queue_{queue}"), &[0, 1]))],
                Vec::new(),
            ),
            "nothing: 20 packets a second are no load",
        ),
        Case {
            queues: in_turn("enp3s0", [0, 2, 4, 6]),
            ..case(
                "hybrid_laptop_queues_on_slow_cores",
                "kernel: drivers/net/ethernet/intel/igc (%s-TxRx-%d), sysfs-devices-system-cpu (cpu_core, cpu_atom)",
                hybrid,
                "the queues to the fast cores, one each",
            )
        },
        Case {
            queues: vec![("eth0", 2, 0), ("eth0", 3, 1)],
            ..case(
                "isolated_cpus_with_interrupts",
                "kernel: Documentation/admin-guide/kernel-parameters.txt (isolcpus), sysfs: cpu/isolated",
                isolated,
                "the two queues on isolated cpus to the cpus that are left",
            )
        },
        case(
            "nvme_beside_a_card",
            "kernel: drivers/nvme/host/pci.c (nvme%dq%d, managed), Documentation/core-api/irq",
            hosts::storage_server(),
            "nothing: the card is spread; interrupts of storage are the kernel's to place",
        ),
        Case {
            reader: Target::Name("server".to_owned()),
            ..case(
                "cpuset_of_the_reader_on_the_other_node",
                "kernel: Documentation/admin-guide/cgroup-v2.rst (cpuset.cpus)",
                cpuset(),
                "nothing: the queues are near the card, and the reader's cpuset holds it where it is",
            )
        },
        case(
            "balanced_by_irqbalance",
            "irqbalance(1)",
            hosts::balanced(),
            "nothing while irqbalance moves interrupts: each queue has a cpu",
        ),
    ]
}

fn quiet(mut card: Device) -> Device {
    card.vectors.iter_mut().for_each(|vector| vector.count = 10 * SECONDS);
    card
}

/// A server whose control group has cpus of the first node only, and a card on the second.
fn cpuset() -> Tree {
    let machine = synthetic::two_socket_server();
    let action = |queue| format!("ice-eth0-TxRx-{queue}");
    let cpus: Vec<u32> = (32..64).collect();
    let card = card(("0000:81:00.0", "eth0", "ice"), Some(1), 32, action, &cpus);
    let allowed: CpuSet = (0..32).chain(64..96).map(CpuId).collect();
    let threads = process(2000, "server", 25, &[0, 1, 2, 3], &allowed);
    let mut tree = host(machine, vec![card], threads);
    tree.put("sys/fs/cgroup/system.slice/server.service/cpuset.cpus.effective", "0-31,64-95");
    tree
}
