//! Probes fake machines and compares the result with what was written.

use std::path::Path;
use warmcore_linux::fake::{Cgroup, Tree};
use warmcore_linux::{Probe, ProbeError, Probed, Shortfall};
use warmcore_topology::{CacheKind, CpuSet, Machine, synthetic};
use warmcore_units::{Bytes, CpuId};

fn try_probe(tree: &Tree) -> Result<Probed, ProbeError> {
    Probe::fake(tree.clone()).machine()
}

/// Probes `tree`, which must give a valid machine.
fn probe(tree: &Tree) -> Probed {
    let probed = try_probe(tree).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(probed.machine.validate(), Ok(()));
    probed
}

fn shortfalls(probed: &Probed) -> Vec<Shortfall> {
    probed.warnings.iter().map(|warning| warning.shortfall).collect()
}

fn set(list: &str) -> CpuSet {
    list.parse().expect("a list of cpus")
}

fn cache_file(cpu: u32, index: u32, name: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}")
}

#[test]
fn every_synthetic_machine_is_read_back_as_it_was_written() {
    let server = synthetic::two_socket_server();
    let machines: Vec<Machine> = vec![
        synthetic::virtual_machine(2),
        synthetic::hybrid_laptop(),
        synthetic::arm_server(),
        synthetic::single_cpu(),
        synthetic::sgi_challenge_xl(8),
        synthetic::virtual_machine(8).limited_to(set("2,5-6"), Some(1.5)),
        synthetic::hybrid_laptop().without(&set("1,8-11")),
        server.clone().without(&set("0,3-40,64")),
        server.clone().limited_to(set("127"), None),
        server,
    ];
    for machine in machines {
        for cgroup in [Cgroup::V2, Cgroup::V1InContainer] {
            let probed = probe(&Tree::with_cgroup(&machine, cgroup));
            assert_eq!(probed.warnings, [], "{}, {cgroup:?}", machine.name);
            assert_eq!(probed.machine, machine, "{cgroup:?}");
        }
    }
}

#[test]
fn a_tree_on_disk_is_read_like_one_in_memory() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let machine = synthetic::hybrid_laptop().limited_to(set("0-9"), Some(2.5));
    Tree::from_machine(&machine).write_to(root.path()).expect("the tree is written");
    let probed = Probe::new().root(root.path()).machine();
    assert_eq!(probed, Ok(Probed { machine, warnings: vec![] }));

    let online = root.path().join("sys/devices/system/cpu/online");
    std::fs::write(&online, [0xff, 0x00, 0xc3]).expect("the file is replaced");
    let Err(ProbeError::Malformed(error)) = Probe::new().root(root.path()).machine() else {
        panic!("invalid UTF-8 went unnoticed");
    };
    assert_eq!(error.file, online);
}

#[test]
fn a_machine_without_cache_information_gives_a_warning() {
    let probed = probe(&Tree::from_machine(&synthetic::virtual_machine(2)).hiding("/cache/"));
    assert!(probed.machine.caches.is_empty());
    assert_eq!(shortfalls(&probed), [Shortfall::Caches]);
    assert_eq!(
        probed.warnings[0].to_string(),
        "cpu 0-1: cache information is hidden; the machine is described without caches"
    );
}

#[test]
fn a_kernel_without_numa_is_one_node() {
    let probed = probe(&Tree::from_machine(&synthetic::two_socket_server()).hiding("/node/"));
    assert!(probed.machine.cpus.iter().all(|cpu| cpu.node == 0));
    assert_eq!(shortfalls(&probed), [Shortfall::Nodes]);
}

#[test]
fn missing_ways_are_computed_from_the_sets_or_assumed_fully_associative() {
    let machine = synthetic::arm_server();
    let tree = Tree::from_machine(&machine).hiding("ways_of_associativity");
    let probed = probe(&tree);
    assert_eq!((&probed.machine, probed.warnings.len()), (&machine, 0), "computed from the sets");

    let probed = probe(&tree.hiding("number_of_sets"));
    assert_eq!(shortfalls(&probed), [Shortfall::CacheWays]);
    assert!(probed.machine.caches.iter().all(|cache| cache.geometry.sets() == 1));
}

#[test]
fn zero_ways_in_one_set_is_a_fully_associative_cache() {
    let mut tree = Tree::from_machine(&synthetic::single_cpu());
    tree.put(cache_file(0, 2, "ways_of_associativity"), 0);
    tree.put(cache_file(0, 2, "number_of_sets"), 1);
    let probed = probe(&tree);
    assert_eq!(probed.warnings, []);
    assert_eq!(probed.machine.caches[2].geometry.ways, 512 * 1024 / 64);
}

#[test]
fn more_ways_than_lines_are_ignored() {
    let mut tree = Tree::from_machine(&synthetic::single_cpu());
    tree.put(cache_file(0, 2, "ways_of_associativity"), 4_000_000_000_u64);
    assert_eq!(probe(&tree).machine, synthetic::single_cpu(), "the sets are used");
}

#[test]
fn a_cache_whose_size_is_unknown_is_left_out() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(2)).hiding("index3/size");
    tree.put(cache_file(1, 2, "size"), "0K");
    let probed = probe(&tree);
    let levels = |cpu| probed.machine.unified_levels(CpuId(cpu)).iter().map(|l| l.level).collect::<Vec<_>>();
    assert_eq!((levels(0), levels(1)), (vec![1, 2], vec![1]));
    assert_eq!(shortfalls(&probed), [Shortfall::CacheGeometry]);
}

#[test]
fn caches_shared_with_hidden_cpus_are_restricted_to_visible_ones() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(2));
    for cpu in 0..2 {
        tree.put(cache_file(cpu, 3, "shared_cpu_list"), "0-63");
    }
    assert_eq!(probe(&tree).machine, synthetic::virtual_machine(2));
}

#[test]
fn hidden_siblings_are_ignored() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(2));
    for cpu in 0..2 {
        tree.put(
            format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"),
            format!("{cpu},{}", cpu + 64),
        );
    }
    assert_eq!(probe(&tree), Probed { machine: synthetic::virtual_machine(2), warnings: vec![] });
}

#[test]
fn a_cache_without_sharing_information_is_taken_as_private() {
    let tree = Tree::from_machine(&synthetic::hybrid_laptop()).hiding("shared_cpu_list");
    let probed = probe(&tree);
    assert_eq!(shortfalls(&probed), [Shortfall::CacheSharing]);
    assert!(probed.machine.caches.iter().all(|cache| probed.machine.is_private(cache)));
    assert_eq!(probed.machine.caches.iter().filter(|cache| cache.level == 3).count(), 12);
}

#[test]
fn cpus_that_disagree_on_sharing_end_up_in_one_cache_each() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(4));
    tree.put(cache_file(0, 3, "shared_cpu_list"), "0-1");
    tree.put(cache_file(1, 3, "shared_cpu_list"), "1-2");
    let probed = probe(&tree);
    let shared: Vec<String> =
        probed.machine.caches.iter().filter(|c| c.level == 3).map(|c| c.shared_by.to_string()).collect();
    assert_eq!(shared, ["0-1", "2-3"]);
    assert_eq!(shortfalls(&probed), [Shortfall::CacheSharingDisagrees]);
}

#[test]
fn file_names_and_units_of_other_kernels_are_parsed() {
    let machine = synthetic::hybrid_laptop();
    let mut tree = Tree::from_machine(&machine);
    tree.files = tree
        .files
        .into_iter()
        .map(|(file, text)| (file.replace("core_cpus_list", "thread_siblings_list"), text))
        .collect();
    tree.put(cache_file(0, 3, "size"), "12M");
    assert_eq!(probe(&tree).machine, machine);
}

#[test]
fn siblings_are_found_by_core_number_where_they_are_not_listed() {
    let machine = synthetic::two_socket_server();
    let probed = probe(&Tree::from_machine(&machine).hiding("core_cpus_list"));
    assert_eq!(probed.machine, machine);
    assert_eq!(shortfalls(&probed), [Shortfall::Siblings]);
}

#[test]
fn unknown_core_and_package_numbers_are_replaced() {
    let mut tree = Tree::from_machine(&synthetic::arm_server());
    for cpu in 0..64 {
        tree.put(format!("sys/devices/system/cpu/cpu{cpu}/topology/core_id"), -1);
        let unknown = if cpu == 0 { 65_535 } else { -1 };
        tree.put(format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"), unknown);
    }
    let probed = probe(&tree);
    assert_eq!(probed.machine, synthetic::arm_server());
    assert_eq!(shortfalls(&probed), [Shortfall::Package, Shortfall::Core]);
    let bare = probe(&Tree::from_machine(&synthetic::arm_server()).hiding("/topology/"));
    assert_eq!(bare.machine, synthetic::arm_server());
    assert_eq!(shortfalls(&bare), [Shortfall::Package, Shortfall::Core, Shortfall::Siblings]);
}

#[test]
fn core_numbers_that_repeat_within_a_package_are_replaced() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(4));
    for (cpu, core) in [(0, 0), (1, 1), (2, 0), (3, 1)] {
        tree.put(format!("sys/devices/system/cpu/cpu{cpu}/topology/core_id"), core);
    }
    let probed = probe(&tree);
    assert_eq!(probed.machine, synthetic::virtual_machine(4));
    assert_eq!(shortfalls(&probed), [Shortfall::CoreRepeated]);
}

#[test]
fn both_the_affinity_mask_and_the_cpuset_limit_the_process() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(8).limited_to(set("2-6"), None));
    tree.put("proc/self/status", "Cpus_allowed_list:\t0-3,7");
    assert_eq!(probe(&tree).machine.limits.allowed, set("2-3"));

    tree.put("proc/self/status", "Cpus_allowed_list:\t0-1");
    let error = try_probe(&tree).unwrap_err();
    assert!(matches!(error, ProbeError::NothingUsable { .. }), "{error}");
}

#[test]
fn hidden_limits_are_ignored() {
    let probed =
        probe(&Tree::from_machine(&synthetic::virtual_machine(2)).hiding("proc/self").hiding("cgroup"));
    assert_eq!(probed.machine, synthetic::virtual_machine(2));
    assert_eq!(shortfalls(&probed), [Shortfall::Affinity]);
}

#[test]
fn the_smallest_quota_on_the_way_to_the_root_is_used() {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(8).limited_to(set("0-7"), Some(3.0)));
    tree.put("proc/self/cgroup", "0::/../warmcore/inner");
    tree.put("sys/fs/cgroup/warmcore/inner/cpu.max", "600000 100000");
    assert_eq!(probe(&tree).machine.limits.cpu_quota, Some(3.0));
    tree.put("sys/fs/cgroup/warmcore/inner/cpu.max", "25000 50000");
    assert_eq!(probe(&tree).machine.limits.cpu_quota, Some(0.5));
}

#[test]
fn without_a_list_of_online_cpus_the_affinity_mask_is_used() {
    let tree = Tree::from_machine(&synthetic::virtual_machine(4)).hiding("cpu/online");
    let probed = probe(&tree);
    assert_eq!(probed.machine, synthetic::virtual_machine(4));
    assert_eq!(shortfalls(&probed), [Shortfall::Online]);
    let error = try_probe(&tree.hiding("proc/self")).unwrap_err();
    assert!(matches!(error, ProbeError::NoCpus { .. }), "{error}");
    let nowhere = Probe::new().root(Path::new("/nonexistent")).machine().unwrap_err();
    assert!(nowhere.to_string().contains("/nonexistent"), "{nowhere}");
}

#[test]
fn malformed_files_are_refused_with_file_contents_and_expectation() {
    let faults = [
        ("sys/devices/system/cpu/online", "0-x", "a list of cpus such as `0-3,8`"),
        ("sys/devices/system/cpu/cpu1/topology/core_id", "one", "the number of a core"),
        ("sys/devices/system/cpu/cpu1/cache/index0/size", "32k", "a size such as `32K`"),
        ("sys/devices/system/cpu/cpu1/cache/index0/type", "Trace", "`Data`, `Instruction` or `Unified`"),
        ("sys/devices/system/cpu/cpu1/cache/index0/level", "-3", "a level from 1"),
        ("sys/devices/system/node/node0/cpulist", "\u{7}", "a list of cpus such as `0-3,8`"),
        ("sys/fs/cgroup/warmcore/cpu.max", "lots", "`max` or two positive numbers of microseconds"),
    ];
    for (file, found, expected) in faults {
        let mut tree = Tree::from_machine(&synthetic::virtual_machine(2));
        tree.put(file, found);
        let Err(ProbeError::Malformed(error)) = try_probe(&tree) else {
            panic!("`{found}` in {file} went unnoticed");
        };
        assert!(error.file.ends_with(file), "{error}");
        assert_eq!((error.found, error.expected), (found.escape_debug().to_string(), expected.to_owned()));
    }
}

#[test]
fn first_level_caches_for_instructions_and_data_are_distinguished() {
    let laptop = probe(&Tree::from_machine(&synthetic::hybrid_laptop())).machine;
    let instructions = laptop.instruction_cache(CpuId(9)).expect("efficiency cores have one");
    assert_eq!((instructions.kind, instructions.geometry.size), (CacheKind::Instruction, Bytes::kib(64)));
}
