//! Reads the limits of this process: affinity mask, cgroup cpuset and cgroup quota.
//!
//! A limit of a cgroup applies to all its descendants, so the quota is the smallest on the way from
//! the process's group to the root. In a container the group's path may be that on the host, which
//! does not exist there; its ancestors lead to the mounted root, which is the container's group.

use super::{Malformed, ProbeError, Shortfall, Warnings};
use crate::tree::{Tree, field_of};
use std::path::{Component, Path, PathBuf};
use warmcore_topology::{CpuSet, Limits};

/// Reads the limits of the process, restricted to the cpus of `online`.
pub(super) fn read(tree: &Tree, online: &CpuSet, warnings: &mut Warnings) -> Result<Limits, ProbeError> {
    let groups = groups(&tree.text("proc/self/cgroup").unwrap_or_default());
    let mask = affinity(tree)?;
    if mask.is_none() {
        warnings.add(Shortfall::Affinity);
    }
    let mut allowed = mask.unwrap_or_else(|| online.clone());
    if let Some(cpuset) = cpuset(tree, &groups)? {
        allowed = allowed.intersection(&cpuset);
    }
    let usable = allowed.intersection(online);
    if usable.is_empty() {
        return Err(ProbeError::NothingUsable { online: online.clone(), allowed });
    }
    Ok(Limits { allowed: usable, cpu_quota: quota(tree, &groups)? })
}

/// Reads the affinity mask of the process's first thread; `None` if hidden.
pub(super) fn affinity(tree: &Tree) -> Result<Option<CpuSet>, Malformed> {
    const STATUS: &str = "proc/self/status";
    let Some(list) = tree.text(STATUS).and_then(|text| field_of(&text, "Cpus_allowed_list")) else {
        return Ok(None);
    };
    let expected = "a list of cpus such as `0-3,8` after `Cpus_allowed_list:`";
    list.parse().map(Some).map_err(|_| tree.malformed(STATUS, &list, expected))
}

/// Returns the cpus of the nearest cpuset of a process whose `/proc/PID/cgroup` is `text`.
pub(crate) fn cpuset_of(tree: &Tree, text: &str) -> Result<Option<CpuSet>, Malformed> {
    cpuset(tree, &groups(text))
}

/// The process's group in one hierarchy and its ancestors, nearest first.
struct Lineage {
    directories: Vec<PathBuf>,
}

/// The process's groups by controller.
struct Groups {
    /// Version 2: one hierarchy for all controllers.
    unified: Option<Lineage>,
    /// Version 1: the hierarchy with the controller `cpu`.
    cpu: Option<Lineage>,
    /// Version 1: the hierarchy with the controller `cpuset`.
    cpuset: Option<Lineage>,
}

/// Parses the controllers and path of each hierarchy in `/proc/PID/cgroup`. Its lines are
/// `hierarchy:controllers:path`; the controllers are empty in version 2.
pub(crate) fn hierarchies(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        Some((parts.next()?, parts.next()?))
    });
    lines.collect()
}

/// Parses the groups in `/proc/PID/cgroup`.
fn groups(text: &str) -> Groups {
    let entries = hierarchies(text);
    let controlling = |controller: &str| {
        let is = |(controllers, _): &&(&str, &str)| controllers.split(',').any(|c| c == controller);
        entries.iter().find(is)
    };
    let first_version = |controller| {
        controlling(controller).map(|(controllers, path)| Lineage::new(&[controllers, controller], path))
    };
    Groups {
        unified: controlling("").map(|(_, path)| Lineage::new(&["", "unified"], path)),
        cpu: first_version("cpu"),
        cpuset: first_version("cpuset"),
    }
}

impl Lineage {
    /// Returns the group `path` and its ancestors, below each possible mount point of the hierarchy.
    fn new(mounts: &[&str], path: &str) -> Self {
        let normal = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let path: PathBuf = Path::new(path).components().filter(normal).collect();
        let directories = mounts.iter().flat_map(|mount| {
            let mount = Path::new("sys/fs/cgroup").join(mount);
            path.ancestors().map(move |group| mount.join(group)).collect::<Vec<_>>()
        });
        Self { directories: directories.collect() }
    }

    fn files<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        self.directories.iter().map(move |directory| directory.join(name))
    }
}

/// Reads the cpus of the nearest cpuset that is not empty.
fn cpuset(tree: &Tree, groups: &Groups) -> Result<Option<CpuSet>, Malformed> {
    let second = groups.unified.iter().flat_map(|lineage| lineage.files("cpuset.cpus.effective"));
    let first = groups
        .cpuset
        .iter()
        .flat_map(|lineage| lineage.files("cpuset.effective_cpus").chain(lineage.files("cpuset.cpus")));
    for file in second.chain(first) {
        if let Some(cpus) = tree.cpus(file)?.filter(|cpus| !cpus.is_empty()) {
            return Ok(Some(cpus));
        }
    }
    Ok(None)
}

/// Reads the smallest quota on the way to the root, in cpus.
fn quota(tree: &Tree, groups: &Groups) -> Result<Option<f64>, Malformed> {
    let mut smallest: Option<f64> = None;
    let mut limit = |quota: Option<f64>| {
        smallest = [smallest, quota].into_iter().flatten().min_by(f64::total_cmp);
    };
    for file in groups.unified.iter().flat_map(|lineage| lineage.files("cpu.max")) {
        limit(unified_quota(tree, &file)?);
    }
    for directory in groups.cpu.iter().flat_map(|lineage| &lineage.directories) {
        limit(first_version_quota(tree, directory)?);
    }
    Ok(smallest)
}

/// Reads the quota of version 2: `cpu.max` holds `150000 100000` (time and period in microseconds), or
/// `max 100000`.
fn unified_quota(tree: &Tree, file: &Path) -> Result<Option<f64>, Malformed> {
    let Some(text) = tree.text(file) else { return Ok(None) };
    let mut words = text.split_whitespace();
    let (time, period) = (words.next().unwrap_or_default(), words.next().unwrap_or("100000"));
    if time == "max" {
        return Ok(None);
    }
    let number = |word: &str| word.parse::<u64>().ok().filter(|&micros| micros > 0);
    match (number(time), number(period)) {
        (Some(time), Some(period)) => Ok(Some(time as f64 / period as f64)),
        _ => Err(tree.malformed(file, &text, "`max` or two positive numbers of microseconds")),
    }
}

/// Reads the quota of version 1: time and period are in two files, and a negative time is unlimited.
fn first_version_quota(tree: &Tree, directory: &Path) -> Result<Option<f64>, Malformed> {
    let micros = "a number of microseconds";
    let time: Option<i64> = tree.value(directory.join("cpu.cfs_quota_us"), micros)?;
    let period: Option<i64> = tree.value(directory.join("cpu.cfs_period_us"), micros)?;
    let positive = |number: Option<i64>| number.filter(|&number| number > 0);
    Ok(positive(time).zip(positive(period)).map(|(time, period)| time as f64 / period as f64))
}
