//! Compares the probe of this machine with the output of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use warmcore_linux::{Probe, Steal, affinity};
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// Returns the output of `program`; prints a note and returns `None` if it is not installed.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            println!("skipped: no usable `{program}` here");
            None
        }
    }
}

fn this_machine() -> Machine {
    Probe::new().machine().unwrap_or_else(|error| panic!("{error}")).machine
}

#[test]
fn this_machine_is_valid() {
    let machine = this_machine();
    assert_eq!(machine.validate(), Ok(()));
    assert!(!machine.usable_cores().is_empty());
}

#[test]
fn the_usable_cpus_are_those_of_the_affinity_mask() {
    assert_eq!(this_machine().limits.allowed, affinity::mask().expect("a mask"));
}

#[test]
fn nproc_counts_the_same_cpus() {
    // These two OpenMP variables would change the output of nproc.
    let plain = ["-u", "OMP_NUM_THREADS", "-u", "OMP_THREAD_LIMIT", "nproc"];
    let Some(text) = output_of("env", &plain) else { return };
    let counted: usize = text.trim().parse().expect("nproc prints a number");
    let machine = this_machine();
    let usable = machine.usable().count();
    // Some versions of nproc also apply the control group's quota.
    let quota = machine.limits.cpu_quota.unwrap_or(f64::INFINITY);
    let within_quota = (quota.floor() as usize).clamp(1, usable)..=(quota.ceil() as usize).clamp(1, usable);
    assert!(counted == usable || within_quota.contains(&counted), "{counted} of {usable}");
}

#[test]
fn lscpu_sees_the_same_cores_sockets_and_nodes() {
    let columns = "-p=CPU,CORE,SOCKET,NODE";
    let Some(text) = output_of("lscpu", &[columns]) else { return };
    let machine = this_machine();
    let rows: Vec<Vec<u32>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').map(|field| field.parse().unwrap_or(0)).collect())
        .collect();
    let online: Vec<u32> = machine.cpus.iter().map(|cpu| cpu.id.0).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), online);
    let cores: BTreeSet<u32> = rows.iter().map(|row| row[1]).collect();
    let ours: BTreeSet<_> = machine.cpus.iter().map(|cpu| (cpu.package, cpu.core)).collect();
    assert_eq!(ours.len(), cores.len(), "cores");
    let distinct = |column: usize| rows.iter().map(|row| row[column]).collect::<BTreeSet<_>>().len();
    let packages: BTreeSet<u32> = machine.cpus.iter().map(|cpu| cpu.package).collect();
    assert_eq!(packages.len(), distinct(2), "sockets");
    let nodes: BTreeSet<u32> = machine.cpus.iter().map(|cpu| cpu.node).collect();
    assert_eq!(nodes.len(), distinct(3), "nodes");
}

#[test]
fn lscpu_sees_the_same_groups_of_cpus_behind_caches() {
    let Some(text) = output_of("lscpu", &["-p=CPU,CACHE"]) else { return };
    // Rows such as `1,,1,1,1,0` or `1,1:1:1:0`: the cpu, and the number of its cache of each kind. The
    // order of the kinds depends on the version.
    let mut groups: BTreeMap<(usize, &str), CpuSet> = BTreeMap::new();
    for (cpu, caches) in text.lines().filter_map(|line| line.split_once(',')) {
        let Ok(cpu) = cpu.parse() else { continue };
        for cache in caches.split([',', ':']).enumerate().filter(|(_, number)| !number.is_empty()) {
            groups.entry(cache).or_default().extend([CpuId(cpu)]);
        }
    }
    let theirs: BTreeSet<String> = groups.values().map(ToString::to_string).collect();
    let machine = this_machine();
    let ours: BTreeSet<String> = machine.caches.iter().map(|cache| cache.shared_by.to_string()).collect();
    if ours.is_empty() || theirs.is_empty() {
        println!("skipped: no cache information here");
        return;
    }
    assert_eq!(ours, theirs);
}

#[test]
fn getconf_shows_the_same_first_level_cache() {
    let asked = |name| output_of("getconf", &[name]).and_then(|text| text.trim().parse::<u64>().ok());
    let machine = this_machine();
    let Some(first) = machine.data_caches(CpuId(0)).next() else {
        println!("skipped: no cache information here");
        return;
    };
    // The C library prints 0 or nothing for an unknown value.
    for (name, ours) in [
        ("LEVEL1_DCACHE_SIZE", first.geometry.size.0),
        ("LEVEL1_DCACHE_LINESIZE", first.geometry.line.0),
        ("LEVEL1_DCACHE_ASSOC", u64::from(first.geometry.ways)),
    ] {
        match asked(name).filter(|&theirs| theirs > 0) {
            Some(theirs) => assert_eq!(ours, theirs, "{name}"),
            None => println!("skipped: {name} is unknown to getconf"),
        }
    }
}

#[test]
fn the_conditions_of_this_host_are_read() {
    let host = Probe::new().host();
    if let Some(release) = output_of("uname", &["-r"]) {
        assert_eq!(host.kernel.as_deref(), Some(release.trim()));
    }
    assert!(host.memory.is_some_and(|memory| memory.0 > 1 << 20), "{host:?}");
    assert!(host.load.is_some(), "{host:?}");
}

#[test]
fn stolen_time_never_runs_backwards() {
    let earlier = Steal::now().expect("a kernel's /proc/stat");
    let stolen = Steal::now().expect("a kernel's /proc/stat").since(&earlier);
    assert!(stolen.total().0 >= 0.0, "{stolen:?}");
}
