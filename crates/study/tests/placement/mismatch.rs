//! Where packets come in and who reads them, on hosts of every kind.

use super::observed;
use warmcore_linux::Probe;
use warmcore_linux::fake::{Tree, hosts};
use warmcore_linux::inventory::Observation;
use warmcore_study::placement::{FindingKind, Mismatch, QueueSteering, Reach, ReaderEvidence, mismatch};

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
