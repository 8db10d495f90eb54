//! Virtual machines of clouds.

use super::{Case, RATE, card, case, host, in_turn, process, vector};
use warmcore_linux::fake::{Device, Nic, Vector};
use warmcore_topology::synthetic;

const ENA: &str = "kernel: drivers/net/ethernet/amazon/ena/ena_netdev.c (%s-Tx-Rx-%d); AWS: ENA Linux driver best practices";
const VIRTIO: &str = "kernel: drivers/virtio/virtio_pci_common.c (virtio%d-input.%d), drivers/net/virtio_net.c (virtnet_set_affinity)";

pub(super) fn all() -> Vec<Case> {
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
