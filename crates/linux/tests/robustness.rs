//! Trees that no kernel makes: whatever is in them, the probe answers with a sound machine or an
//! error, and does not panic.

use proptest::prelude::*;
use proptest::sample::Index;
use warmcore_linux::Probe;
use warmcore_linux::fake::{Cgroup, Tree};
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// One thing done to one file.
#[derive(Clone, Debug)]
enum Harm {
    Remove,
    Empty,
    Truncate(Index),
    Replace(String),
    Insert(Index, char),
    CopyFrom(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
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
        Just(Harm::Remove),
        Just(Harm::Empty),
        any::<Index>().prop_map(Harm::Truncate),
        plausible.prop_map(|text| Harm::Replace(text.to_owned())),
        ".{0,20}".prop_map(Harm::Replace),
        (any::<Index>(), any::<char>()).prop_map(|(at, c)| Harm::Insert(at, c)),
        any::<Index>().prop_map(Harm::CopyFrom),
    ]
}

fn inflict(tree: &mut Tree, victim: &Index, harm: Harm) {
    let files: Vec<String> = tree.files.keys().cloned().collect();
    let file = victim.get(&files).clone();
    let mut text: Vec<char> = tree.files.remove(&file).unwrap_or_default().chars().collect();
    match harm {
        Harm::Remove => return,
        Harm::Empty => text.clear(),
        Harm::Truncate(at) => text.truncate(at.index(text.len() + 1)),
        Harm::Replace(other) => text = other.chars().collect(),
        Harm::Insert(at, c) => text.insert(at.index(text.len() + 1), c),
        Harm::CopyFrom(other) => {
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
    fn a_mangled_tree_gives_a_sound_machine_or_an_error(
        machine in machine(),
        first_generation in any::<bool>(),
        harms in prop::collection::vec((any::<Index>(), harm()), 1..12),
    ) {
        let cgroup = if first_generation { Cgroup::V1InContainer } else { Cgroup::V2 };
        let mut tree = Tree::with_cgroup(&machine, cgroup);
        for (victim, harm) in harms {
            inflict(&mut tree, &victim, harm);
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
    fn any_part_of_a_machine_is_read_back_as_it_was_written(
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
