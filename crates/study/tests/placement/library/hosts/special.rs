//! Cards of few, laptops, isolated cpus, storage, cpusets and balancers.

use super::{Case, SECONDS, card, case, host, in_turn, process};
use warmcore_linux::fake::{Device, Tree, hosts};
use warmcore_study::placement::Target;
use warmcore_topology::{CpuSet, synthetic};
use warmcore_units::CpuId;

pub(super) fn all() -> Vec<Case> {
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
