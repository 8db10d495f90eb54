//! What is done only if its user asks for it, or names who is meant.

use super::{Case, card, case, host, process};
use warmcore_linux::ethtool::{Channels, DriverSettings, Indirection};
use warmcore_study::placement::Target;
use warmcore_topology::synthetic;
use warmcore_units::CpuId;

pub(super) fn all() -> Vec<Case> {
    let ice = |name: &'static str, node, queues: u32, cpus: &[u32]| {
        let action = move |queue| format!("ice-{name}-TxRx-{queue}");
        card(("0000:81:00.0", name, "ice"), Some(node), queues, action, cpus)
    };
    let with_channels = |queues: u32, cpus: &[u32]| {
        let mut card = ice("eth0", 1, queues, cpus);
        let channels = Channels { combined: Some(queues), combined_max: Some(128), ..Channels::default() };
        let settings = DriverSettings {
            channels: Some(channels),
            indirection: Some(Indirection((0..128).map(|entry| entry % queues).collect())),
            ..DriverSettings::default()
        };
        card.nic.as_mut().expect("a card").driver_settings = Some(settings);
        card
    };
    let two = synthetic::two_socket_server;
    let all = two().online();
    let node1: Vec<u32> = (32..64).collect();
    let ethtool = "kernel: Documentation/networking/ethtool-netlink.rst (CHANNELS, RSS)";
    let mut polling = process(2000, "dpdk-lcore", 100, &[33], &[CpuId(33)].into_iter().collect());
    polling.extend(process(4000, "other", 10, &[5], &all));
    let mut grouped =
        host(two(), vec![ice("eth0", 1, 32, &node1)], process(2000, "server", 25, &[0, 1, 2], &all));
    let group = "sys/fs/cgroup/system.slice/server.service";
    grouped.put(format!("{group}/cpuset.cpus"), "");
    grouped.put(format!("{group}/cpuset.cpus.effective"), "0-127");
    vec![
        Case {
            queues: vec![("eth0", 1, 48)],
            ..case(
                "a_pinned_thread_polls_on_a_queues_core",
                "DPDK: Programmer's Guide, Environment Abstraction Layer (lcores poll on one cpu each)",
                host(two(), vec![ice("eth0", 1, 16, &node1[..16])], polling),
                "the queue on the polling core to a core of the node that is free",
            )
        },
        Case {
            spread: &["eth0"],
            channels: true,
            others: vec![
                ("channels of eth0", "combined 32"),
                ("RSS table of eth0", "evenly over 0-31"),
                ("interrupt of queue 31 of 0000:81:00.0", "63"),
                ("XPS cpus of eth0 tx-31", "63,79,95,127"),
            ],
            ..case(
                "fewer_channels_than_cores",
                ethtool,
                host(two(), vec![with_channels(8, &node1[..8])], Vec::new()),
                "32 channels, one for each core of the card's node, then a core for each",
            )
        },
        Case {
            spread: &["eth0"],
            channels: true,
            others: vec![("channels of eth0", "combined 32"), ("interrupt of queue 0 of 0000:81:00.0", "32")],
            ..case(
                "more_channels_than_the_node_has_cpus",
                ethtool,
                host(two(), vec![with_channels(128, &(0..128).collect::<Vec<_>>())], Vec::new()),
                "32 channels: 128 share cpus, half of them far from the card",
            )
        },
        Case {
            reader: Target::Group("/system.slice/server.service".to_owned()),
            others: vec![("cpus of control group /system.slice/server.service", "32-63,96-127")],
            ..case(
                "a_control_group_read_on_the_other_node",
                "kernel: Documentation/admin-guide/cgroup-v2.rst (cpuset.cpus); systemd.resource-control(5), AllowedCPUs=",
                grouped,
                "the queues are right; the group belongs on the card's node, by its cpuset",
            )
        },
    ]
}
