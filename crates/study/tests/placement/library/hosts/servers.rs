//! Servers with one or two sockets.

use super::{Case, SECONDS, card, case, host, in_turn, process};
use warmcore_linux::fake::Device;
use warmcore_study::placement::Target;
use warmcore_topology::synthetic;

const MLX5: &str = "kernel: drivers/net/ethernet/mellanox/mlx5/core/pci_irq.c (mlx5_comp%d@pci:%s)";
const I40E: &str = "kernel: drivers/net/ethernet/intel/i40e/i40e_main.c (i40e-%s-TxRx-%d); Documentation/networking/scaling.rst";

pub(super) fn all() -> Vec<Case> {
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
    let mut seldom = i40e("eth1", "0000:81:00.0", 1, 16, &node1);
    seldom.vectors.iter_mut().for_each(|vector| vector.count = 500 * SECONDS);
    let often = i40e("eth0", "0000:01:00.0", 0, 16, &(0..16).collect::<Vec<_>>());
    let mut moderated = host(two(), vec![often, seldom], server.clone());
    moderated.put("sys/class/net/eth1/statistics/rx_packets", 16 * 50_000 * SECONDS);
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
            reader: Target::Name("server".to_owned()),
            others: vec![("all threads of server (2000)", "32-63,96-127")],
            ..case(
                "few_interrupts_with_many_packets_each",
                "kernel: Documentation/networking/napi.rst (interrupt moderation, polling)",
                moderated,
                "the server to the node of the card with most packets, though the other one interrupts more often",
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
