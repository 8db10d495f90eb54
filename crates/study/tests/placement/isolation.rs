//! Who leaves the cores of the threads that are meant, who stays, and how many cores these are.

use super::interrupt_cores::{card, cpus, thread, two_sockets};
use super::{observed, request};
use std::collections::BTreeMap;
use warmcore_linux::fake::Tree;
use warmcore_linux::tuning::Setting;
use warmcore_study::placement::{Goal, HostPlacement, Request, Target, Unplaceable, place};
use warmcore_topology::CpuSet;

fn planned(tree: &Tree, pin: bool) -> HostPlacement {
    let request = Request { pin, ..request(&Target::Evident, Goal::Isolation, None) };
    place(&observed(tree), &request).expect("a plan")
}

/// The cpus that lines give to processes, by process.
fn processes(placement: &HostPlacement) -> BTreeMap<u32, CpuSet> {
    let mut found: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for line in &placement.lines {
        if let Setting::Thread { pid, cpus, .. } = &line.set {
            found.entry(*pid).or_default().extend(cpus.iter());
        }
    }
    found
}

#[test]
fn threads_get_as_many_cores_as_they_have_work_for_and_one_each_if_pinned() {
    let all = cpus("0-127");
    // A core is full at 70%.
    for (threads, percent, cores) in [(16, 3, 1), (16, 10, 3), (4, 90, 4)] {
        let threads = (0..threads).map(|at| thread(1000, 1000 + at, percent, 40 + at, &all)).collect();
        let tree = two_sockets(vec![card("eth1", "0000:81:00.0", 1)], threads, &[1000]);
        let own = &processes(&planned(&tree, false))[&1000];
        assert_eq!(own.len(), 2 * cores, "{percent}%: {own}");
        assert!(own.difference(&cpus("32-63,96-127")).is_empty(), "{own}");
    }
    let threads = (0..16).map(|at| thread(1000, 1000 + at, 3, 40 + at, &all)).collect();
    let tree = two_sockets(vec![card("eth1", "0000:81:00.0", 1)], threads, &[1000]);
    assert_eq!(processes(&planned(&tree, true))[&1000].len(), 16);
}

#[test]
fn a_queue_far_from_its_card_goes_to_free_cores_of_the_cards_node() {
    let mut far = card("eth0", "0000:01:00.0", 0);
    far.node = Some(1);
    let tree = two_sockets(vec![far], vec![thread(1000, 1000, 60, 40, &cpus("0-127"))], &[1000]);
    let placement = planned(&tree, false);
    let lines = placement.lines.iter().filter(|line| line.changes);
    let moved = lines.filter_map(|line| match &line.set {
        Setting::Interrupt { cpus, .. } => Some((cpus.first().expect("a cpu").0, line.reason.as_str())),
        _ => None,
    });
    let moved: BTreeMap<u32, &str> = moved.collect();
    assert_eq!(moved.len(), 8, "{moved:?}");
    for (cpu, reason) in moved {
        assert!((32..64).contains(&cpu) && cpu != 40, "{cpu}");
        assert_eq!(reason, "to the node of eth0: its packets came in on another one");
    }
}

#[test]
fn who_is_kept_on_a_core_by_its_user_stays_and_is_named() {
    let own = cpus("40,104");
    let threads = vec![
        thread(1000, 1000, 60, 40, &own),
        thread(2000, 2000, 20, 104, &cpus("104")),
        thread(3000, 3000, 20, 41, &cpus("40-41")),
    ];
    let tree = two_sockets(vec![card("eth1", "0000:81:00.0", 1)], threads, &[1000]);
    let mut tree = tree;
    tree.put("sys/fs/cgroup/system.slice/server1000.service/cpuset.cpus.effective", "40,104");
    let placement = planned(&tree, false);
    let found = processes(&placement);
    assert_eq!(found.get(&2000), None, "{found:?}");
    assert_eq!(found.get(&3000), Some(&cpus("41")));
    let said = "stays who may run nowhere else, as somebody has set it: server2000 (104).";
    assert!(placement.notes.iter().any(|note| note.ends_with(said)), "{:?}", placement.notes);
    let leaves = placement.notes.iter().any(|note| note.contains("the node that it leaves"));
    assert!(!leaves, "nothing leaves a node: {:?}", placement.notes);
}

#[test]
fn a_core_to_which_another_is_pinned_is_not_chosen() {
    let all = cpus("0-127");
    let threads = vec![thread(1000, 1000, 60, 40, &all), thread(2000, 2000, 20, 104, &cpus("104"))];
    let tree = two_sockets(vec![card("eth1", "0000:81:00.0", 1)], threads, &[1000]);
    let found = processes(&planned(&tree, false));
    assert!(found[&1000].intersection(&cpus("40,104")).is_empty(), "{found:?}");
}

#[test]
fn with_named_cards_there_is_nobody_to_isolate() {
    let tree = two_sockets(
        vec![card("eth0", "0000:01:00.0", 0)],
        vec![thread(1000, 1000, 60, 40, &cpus("0-127"))],
        &[1000],
    );
    let named = ["eth0".to_owned()];
    let asked = |goal| {
        let request = Request { interfaces: &named, ..request(&Target::Evident, goal, None) };
        place(&observed(&tree), &request)
    };
    assert_eq!(asked(Goal::Isolation).err(), Some(Unplaceable::ReadersNotSought));
}
