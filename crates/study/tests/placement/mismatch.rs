//! Where packets come in and who reads them, on hosts of every kind.

use super::steering::host;
use super::{observed, planned};
use warmcore_linux::Probe;
use warmcore_linux::fake::{Tree, hosts};
use warmcore_linux::inventory::Observation;
use warmcore_study::placement::{
    FindingKind, Goal, Mismatch, QueueSteering, Reach, ReaderEvidence, Target, mismatch,
};

fn kinds(mismatch: &Mismatch) -> Vec<FindingKind> {
    mismatch.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn each_host_has_the_findings_that_are_special_about_it() {
    use FindingKind as Kind;
    let on_isolated = || {
        let mut tree = hosts::isolated();
        tree.put("sys/devices/system/cpu/isolated", "3-5");
        tree
    };
    // The card is on the second node, and its eight queues are on two cores of the first.
    let far_and_crowded = || {
        let mut tree = hosts::two_socket_server();
        for queue in 0..8 {
            tree.put(format!("proc/irq/{}/effective_affinity_list", 24 + queue), queue % 2);
        }
        tree.put("sys/bus/pci/devices/0000:01:00.0/numa_node", 1);
        tree
    };
    let expected: [(&str, Tree, Vec<Kind>); 8] = [
        (
            "two_socket_server",
            hosts::two_socket_server(),
            vec![Kind::ReadersOnOtherNode, Kind::ReadersOnOtherCores],
        ),
        (
            "far and crowded",
            far_and_crowded(),
            vec![
                Kind::ReadersOnOtherNode,
                Kind::QueuesFarFromCard,
                Kind::QueuesOnOneCore,
                Kind::ReadersOnOtherCores,
            ],
        ),
        ("arm_server", hosts::arm_server(), vec![]),
        ("container", hosts::container(), vec![]),
        ("hybrid_laptop", hosts::hybrid_laptop(), vec![Kind::QueuesOnSlowCpus]),
        ("isolated", on_isolated(), vec![Kind::InterruptsOnIsolatedCpus]),
        ("balanced", hosts::balanced(), vec![Kind::Rival, Kind::Rival]),
        ("crossed", hosts::crossed(), vec![Kind::ReadersOnOtherCores]),
    ];
    for (name, tree, expected) in expected {
        assert_eq!(kinds(&mismatch(&observed(&tree))), expected, "{name}");
    }
}

#[test]
fn the_parts_of_a_queue_sum_to_one_and_rfs_takes_packets_to_their_reader() {
    for (name, host) in hosts::ALL {
        let found = mismatch(&observed(&host()));
        assert_eq!(found.evidence == ReaderEvidence::None, found.readers.is_empty(), "{name}");
        for queue in &found.queues {
            let sum: f64 = queue.readers.values().sum();
            let expected = if found.readers.is_empty() { 0.0 } else { 1.0 };
            assert!((sum - expected).abs() < 1e-9, "{name}: {queue:?}");
        }
    }
    let followed = mismatch(&observed(&hosts::steered().receiving(&[(4321, 10_000_000_000)])));
    assert!(followed.queues.iter().all(|queue| queue.steering == QueueSteering::Rfs), "{followed:?}");
}

#[test]
fn a_single_look_takes_the_holders_of_open_connections_for_readers() {
    let look = Observation::once(&Probe::fake(hosts::two_socket_server())).expect("a sound tree");
    let found = mismatch(&look);
    assert_eq!(found.evidence, ReaderEvidence::SinceConnected);
    assert_eq!((found.readers[0].pid, found.readers[0].bytes.map(|of| of.0)), (2000, Some(250_000_000_000)));
    let queue = &found.queues[0];
    assert_eq!((queue.interrupts_per_s, queue.share), (None, None));
    assert_eq!(queue.readers.get(&Reach::OtherNode), Some(&1.0));
    let single = Observation::single(Probe::fake(hosts::two_socket_server()).inventory().expect("sound"));
    assert_eq!(mismatch(&single).evidence, ReaderEvidence::None);
}

/// Cpu 0 handled interrupt 24 of a host for days, and cpu 5, which has the other queue, within the interval. The kernel says
/// so if `says`.
fn moved(says: bool) -> [Probe; 2] {
    let mut later = host(&[(0, 1_000), (5, 1_000)], |queue| format!("eth0-TxRx-{queue}"));
    later.put("proc/irq/24/smp_affinity_list", "0-63");
    later.put("proc/irq/24/effective_affinity_list", 5);
    if !says {
        later = later.hiding("effective_affinity_list");
    }
    let mut earlier = later.earlier(10.0);
    let counts = |last: u64| [vec![9_000_000, 0, 0, 0, 0, last], vec![0; 58]].concat();
    earlier.put_interrupt_counts(24, &counts(10));
    later.put_interrupt_counts(24, &counts(10_010));
    [earlier, later].map(Probe::fake)
}

#[test]
fn an_interrupt_is_where_it_came_meanwhile_if_the_kernel_does_not_say_where_it_goes() {
    let [said, unsaid] = [true, false].map(|says| {
        let [earlier, later] = moved(says);
        Observation::of_probes(&earlier, &later).expect("sound trees")
    });
    let cpu = |observed: &Observation| mismatch(observed).queues[0].cpu.0;
    assert_eq!((cpu(&said), cpu(&unsaid)), (5, 5));
    let target = Target::Name("server".to_owned());
    let plan = |observed: &Observation| planned(observed, &target, Goal::Throughput).expect("a plan");
    assert_eq!(plan(&unsaid), plan(&said));
    let [_, later] = moved(false);
    let look = Observation::once(&later).expect("a sound tree");
    assert_eq!(cpu(&look), 0, "a single look knows only counts since boot");
}

#[test]
fn a_queue_that_takes_most_packets_of_its_card_is_found_and_an_even_or_idle_card_is_none() {
    let hot = |rates: &[u64]| -> Vec<(Option<u32>, String, f64)> {
        let queues: Vec<(u32, u64)> = (0..).zip(rates.iter().copied()).collect();
        let found = mismatch(&observed(&host(&queues, |queue| format!("eth0-TxRx-{queue}"))));
        let found = found.findings.into_iter().filter(|finding| finding.kind == FindingKind::OneHotQueue);
        found.map(|of| (of.queue, of.cpus.to_string(), of.share.expect("a share"))).collect()
    };
    let [(Some(2), cpu, share)] = &hot(&[100, 100, 9_000, 100, 100, 100, 100, 0])[..] else { panic!("one") };
    assert!(cpu == "2" && (share - 0.9375).abs() < 0.001, "{cpu} {share}");
    assert_eq!(hot(&[1_000; 8]), []);
    assert_eq!(hot(&[4_000, 1_000, 1_000, 1_000]), [], "more than half, and not three times an even share");
    assert_eq!(hot(&[1_000, 2_000]), []);
    assert_eq!(hot(&[9_000]), [], "the only queue is not one of several");
    assert_eq!(hot(&[1, 1, 90, 1, 1, 1, 1, 0]), [], "too few packets to matter");
}
