//! Probes corrupted files: the result must be a valid machine or an error, never a panic.

use proptest::prelude::*;
use proptest::sample::Index;
use warmcore_linux::Probe;
use warmcore_linux::fake::{Cgroup, Tree};
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// A corruption of one file.
#[derive(Clone, Debug)]
enum Corruption {
    Remove,
    Empty,
    Truncate(Index),
    Replace(String),
    Insert(Index, char),
    CopyFrom(Index),
}

fn corruption() -> impl Strategy<Value = Corruption> {
    let plausible = prop::sample::select(vec![
        "0",
        "-1",
        "1",
        "65535",
        "4294967295",
        "18446744073709551616",
        "0-3",
        "1,3",
        "5-2",
        "0-65535",
        "max",
        "0K",
        "4194303K",
        "99999999999K",
        "Data",
        "Unified",
        "0 0",
        "max 0",
        "1 0",
        "nan",
        ",",
        "-",
    ]);
    prop_oneof![
        Just(Corruption::Remove),
        Just(Corruption::Empty),
        any::<Index>().prop_map(Corruption::Truncate),
        plausible.prop_map(|text| Corruption::Replace(text.to_owned())),
        ".{0,20}".prop_map(Corruption::Replace),
        (any::<Index>(), any::<char>()).prop_map(|(at, c)| Corruption::Insert(at, c)),
        any::<Index>().prop_map(Corruption::CopyFrom),
    ]
}

fn corrupt(tree: &mut Tree, victim: &Index, corruption: Corruption) {
    let files: Vec<String> = tree.files.keys().cloned().collect();
    let file = victim.get(&files).clone();
    let mut text: Vec<char> = tree.files.remove(&file).unwrap_or_default().chars().collect();
    match corruption {
        Corruption::Remove => return,
        Corruption::Empty => text.clear(),
        Corruption::Truncate(at) => text.truncate(at.index(text.len() + 1)),
        Corruption::Replace(other) => text = other.chars().collect(),
        Corruption::Insert(at, c) => text.insert(at.index(text.len() + 1), c),
        Corruption::CopyFrom(other) => {
            text = tree.files.get(other.get(&files)).cloned().unwrap_or_default().chars().collect();
        }
    }
    tree.files.insert(file, text.into_iter().collect());
}

fn machine() -> impl Strategy<Value = Machine> {
    prop_oneof![
        Just(synthetic::hybrid_laptop()),
        Just(synthetic::single_cpu()),
        (1..5_u32).prop_map(synthetic::virtual_machine),
        (1..5_u32).prop_map(synthetic::sgi_challenge_xl),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_corrupted_tree_gives_a_valid_machine_or_an_error(
        machine in machine(),
        first_generation in any::<bool>(),
        corruptions in prop::collection::vec((any::<Index>(), corruption()), 1..12),
    ) {
        let cgroup = if first_generation { Cgroup::V1InContainer } else { Cgroup::V2 };
        let mut tree = Tree::with_cgroup(&machine, cgroup);
        for (victim, corruption) in corruptions {
            corrupt(&mut tree, &victim, corruption);
        }
        let probe = Probe::fake(tree);
        if let Ok(probed) = probe.machine() {
            prop_assert_eq!(probed.machine.validate(), Ok(()));
            for cpu in &probed.machine.cpus {
                for level in probed.machine.unified_levels(cpu.id) {
                    prop_assert!(level.cores >= 1 && level.geometry.sets() >= 1);
                }
            }
        }
        let _ = (probe.host(), probe.steal());
    }

    #[test]
    fn a_machine_with_any_limits_is_read_back_as_it_was_written(
        offline in prop::collection::btree_set(1..128_u32, 0..100),
        denied in prop::collection::btree_set(1..128_u32, 0..100),
        quota in prop::option::of(1..12_800_000_u32),
    ) {
        let cpus = |numbers: std::collections::BTreeSet<u32>| -> CpuSet {
            numbers.into_iter().map(CpuId).collect()
        };
        let machine = synthetic::two_socket_server().without(&cpus(offline));
        let allowed = machine.online().difference(&cpus(denied));
        let machine = machine.limited_to(allowed, quota.map(|micros| f64::from(micros) / 100_000.0));
        prop_assert_eq!(machine.validate(), Ok(()));
        let probed = Probe::fake(Tree::from_machine(&machine)).machine();
        prop_assert_eq!(probed.map(|probed| (probed.machine, probed.warnings)), Ok((machine, vec![])));
    }
}
