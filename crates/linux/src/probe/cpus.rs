//! Reads the online cpus, and the core, package and node of each.

use super::claims::{Claim, Groups};
use super::{Malformed, Shortfall, Warnings};
use crate::tree::Tree;
use std::collections::BTreeMap;
use warmcore_topology::{Cpu, CpuSet};
use warmcore_units::CpuId;

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Reads the online cpus, or if that list is hidden the cpus that the process may run on; `None` if
/// neither is known.
pub(super) fn online(tree: &Tree, warnings: &mut Warnings) -> Result<Option<CpuSet>, Malformed> {
    let listed = tree.cpus(format!("{CPUS}/online"))?;
    if listed.is_some() {
        return Ok(listed.filter(|cpus| !cpus.is_empty()));
    }
    warnings.add(Shortfall::Online);
    Ok(super::limits::affinity(tree)?.filter(|cpus| !cpus.is_empty()))
}

/// The contents of one cpu's topology directory.
struct CpuTopology {
    core: Option<u32>,
    package: u32,
    siblings: Option<CpuSet>,
}

/// Reads every cpu of `online` with its core, package and node, in order of number.
pub(super) fn read(tree: &Tree, online: &CpuSet, warnings: &mut Warnings) -> Result<Vec<Cpu>, Malformed> {
    let mut topologies = BTreeMap::new();
    for cpu in online.iter() {
        topologies.insert(cpu, topology(tree, cpu, online, warnings)?);
    }
    let cores = cores(&topologies, warnings);
    let nodes = nodes(tree, online, warnings)?;
    let mut cpus: Vec<Cpu> = topologies
        .iter()
        .map(|(&id, topology)| {
            let smt_siblings = cores.get(id).cloned().unwrap_or_else(|| CpuSet::from_iter([id]));
            let first = smt_siblings.first().unwrap_or(id);
            let core_topology = topologies.get(&first).unwrap_or(topology);
            Cpu {
                id,
                core: core_topology.core.unwrap_or(first.0),
                package: core_topology.package,
                node: nodes.get(&id).copied().unwrap_or(0),
                smt_siblings,
            }
        })
        .collect();
    renumber_repeated_cores(&mut cpus, warnings);
    Ok(cpus)
}

fn topology(
    tree: &Tree,
    cpu: CpuId,
    online: &CpuSet,
    warnings: &mut Warnings,
) -> Result<CpuTopology, Malformed> {
    let file = |name: &str| format!("{CPUS}/cpu{}/topology/{name}", cpu.0);
    let core = known(tree.value(file("core_id"), "the number of a core")?);
    let package = known(tree.value(file("physical_package_id"), "the number of a socket")?);
    let siblings = match tree.cpus(file("core_cpus_list"))? {
        None => tree.cpus(file("thread_siblings_list"))?, // its name before Linux 5.3
        found => found,
    };
    for (missing, shortfall) in [
        (core.is_none(), Shortfall::Core),
        (package.is_none(), Shortfall::Package),
        (siblings.is_none(), Shortfall::Siblings),
    ] {
        if missing {
            warnings.add_at(shortfall, cpu);
        }
    }
    let siblings = siblings.map(|siblings| siblings.intersection(online));
    Ok(CpuTopology { core, package: package.unwrap_or(0), siblings })
}

/// Returns `None` for an unknown number, which the kernel writes as -1 (some versions: 65535).
fn known(number: Option<i64>) -> Option<u32> {
    number.filter(|&n| n != 65_535).and_then(|n| u32::try_from(n).ok())
}

/// Groups hardware threads into cores.
fn cores(topologies: &BTreeMap<CpuId, CpuTopology>, warnings: &mut Warnings) -> Groups<()> {
    let mut same_number: BTreeMap<(u32, u32), CpuSet> = BTreeMap::new();
    for (&cpu, topology) in topologies {
        if let (None, Some(core)) = (&topology.siblings, topology.core) {
            same_number.entry((topology.package, core)).or_default().extend([cpu]);
        }
    }
    let mut cores = Groups::new();
    for (&cpu, topology) in topologies {
        let by_number = || same_number.get(&(topology.package, topology.core?)).cloned();
        let members =
            topology.siblings.clone().or_else(by_number).unwrap_or_else(|| [cpu].into_iter().collect());
        if cores.claim(cpu, &members, ()) == Claim::Disagrees {
            warnings.add_at(Shortfall::SiblingsDisagree, cpu);
        }
    }
    cores
}

/// Renumbers the cores of every package in which two cores have the same number.
fn renumber_repeated_cores(cpus: &mut [Cpu], warnings: &mut Warnings) {
    let mut seen: BTreeMap<(u32, u32), CpuSet> = BTreeMap::new();
    let mut ambiguous: BTreeMap<u32, BTreeMap<CpuId, u32>> = BTreeMap::new();
    for cpu in cpus.iter() {
        let siblings = seen.entry((cpu.package, cpu.core)).or_insert_with(|| cpu.smt_siblings.clone());
        if *siblings != cpu.smt_siblings {
            ambiguous.entry(cpu.package).or_default();
        }
    }
    for cpu in cpus {
        let Some(numbers) = ambiguous.get_mut(&cpu.package) else { continue };
        let first = cpu.smt_siblings.first().unwrap_or(cpu.id);
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        cpu.core = *numbers.entry(first).or_insert(next);
        warnings.add_at(Shortfall::CoreRepeated, cpu.id);
    }
}

/// Reads the cpus that each NUMA node lists, in order of node number.
pub(crate) fn node_lists(tree: &Tree) -> Result<Vec<(u32, CpuSet)>, Malformed> {
    let list = |node| Ok(tree.cpus(format!("{NODES}/node{node}/cpulist"))?.map(|cpus| (node, cpus)));
    let lists: Result<Vec<_>, _> = tree.numbered(NODES, "node").into_iter().map(list).collect();
    Ok(lists?.into_iter().flatten().collect())
}

/// Returns the NUMA node of each cpu that a node lists. A cpu listed by several nodes is in the first.
fn nodes(tree: &Tree, online: &CpuSet, warnings: &mut Warnings) -> Result<BTreeMap<CpuId, u32>, Malformed> {
    let mut node_of = BTreeMap::new();
    let lists = node_lists(tree)?;
    for (node, cpus) in &lists {
        for cpu in cpus.intersection(online).iter() {
            node_of.entry(cpu).or_insert(*node);
        }
    }
    if lists.is_empty() {
        warnings.add(Shortfall::Nodes);
        return Ok(node_of);
    }
    for cpu in online.iter().filter(|cpu| !node_of.contains_key(cpu)) {
        warnings.add_at(Shortfall::NodeOfCpu, cpu);
    }
    Ok(node_of)
}
