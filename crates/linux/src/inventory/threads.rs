//! Busy threads: where each may run, and where it ran last.
//!
//! The kernel sums up the processor time of a process, so that only the threads of busy processes
//! must be read. A process or thread that ends meanwhile is left out. The arguments, environment and
//! addresses of a process are not kept.

use crate::pid_stat::{Stat, stat};
use crate::probe::Malformed;
use crate::probe::limits::{cpuset_of, hierarchies};
use crate::proc_stat::tick;
use crate::tree::{Tree, field_of};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos};

/// A thread counts as busy from this share of a cpu over its lifetime.
const BUSY: f64 = 0.001;

/// Identifies a thread uniquely since boot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct ThreadKey {
    /// The number of the process.
    pub pid: u32,
    /// The number of the thread.
    pub tid: u32,
    /// When it started, in kernel ticks since boot. Needed because numbers are reused.
    pub started: u64,
}

/// A busy thread.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Thread {
    /// Its identity.
    #[serde(flatten)]
    pub key: ThreadKey,
    /// Its name.
    pub name: String,
    /// The name of its process.
    pub process: String,
    /// Whether it is a kernel thread.
    pub kernel: bool,
    /// Whether it was running or waiting for a cpu.
    pub runnable: bool,
    /// Its processor time.
    pub cpu_time: Nanos,
    /// Its processor time divided by its age: 1 is a whole cpu. `None` where the uptime is unknown.
    pub share: Option<f64>,
    /// The cpu it ran on last.
    pub last_cpu: CpuId,
    /// The cpus it may run on.
    pub allowed: Option<CpuSet>,
    /// Its control group, as in `/proc/PID/cgroup`.
    pub group: Option<String>,
}

/// The cpus that a control group allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cpuset {
    /// The group.
    pub group: String,
    /// Its cpus.
    pub cpus: CpuSet,
    /// Those that were set for the group itself, perhaps none; `None` if they cannot be set.
    pub own: Option<CpuSet>,
}

/// The processes of a machine and their busy threads.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Processes {
    /// The name of every process, by number.
    pub(super) names: BTreeMap<u32, String>,
    /// The processor time of every process, by number and start.
    pub(super) ran: BTreeMap<(u32, u64), Nanos>,
    /// Busy threads, the busiest first.
    pub(super) threads: Vec<Thread>,
    /// The cpusets of the threads' control groups.
    pub(super) cpusets: Vec<Cpuset>,
}

/// Reads the processes of `tree`, at `uptime` after boot. `earlier` holds the processor times of an
/// earlier inventory: the threads of a process that has run since then are read, however idle it was
/// before. The calling process is left out.
pub(super) fn read(
    tree: &Tree,
    uptime: Option<Nanos>,
    earlier: &BTreeMap<(u32, u64), Nanos>,
) -> Result<Processes, Malformed> {
    let own = stat(tree, "proc/self")?.map(|stat| stat.number);
    let mut found = Processes::default();
    let mut groups = Groups::default();
    for pid in tree.numbered("proc", "") {
        let directory = format!("proc/{pid}");
        let Some(process) = stat(tree, &directory)?.filter(|stat| Some(stat.number) != own) else { continue };
        let key = (pid, process.started);
        found.names.insert(pid, process.name.clone());
        found.ran.insert(key, process.cpu_time);
        let has_run = earlier.get(&key).is_some_and(|&before| process.cpu_time > before);
        if !has_run && !process.is_busy(uptime) {
            continue;
        }
        for tid in tree.numbered(format!("{directory}/task"), "") {
            let directory = format!("{directory}/task/{tid}");
            let Some(stat) = stat(tree, &directory)? else { continue };
            if has_run || stat.is_busy(uptime) {
                let key = ThreadKey { pid, tid, started: stat.started };
                let allowed = allowed(tree, &directory)?;
                let group = groups.read(tree, &directory)?;
                found.threads.push(stat.thread(key, &process.name, uptime, allowed, group));
            }
        }
    }
    found.threads.sort_by(|one, other| other.cpu_time.total_cmp(&one.cpu_time).then(one.key.cmp(&other.key)));
    found.cpusets = groups.cpusets;
    Ok(found)
}

impl Stat {
    fn share(&self, uptime: Option<Nanos>) -> Option<f64> {
        let age = uptime? - tick() * self.started as f64;
        // Ages below a tick cannot be distinguished.
        Some(self.cpu_time / age.max(tick()))
    }

    fn is_busy(&self, uptime: Option<Nanos>) -> bool {
        self.runnable || self.share(uptime).map_or(self.cpu_time > Nanos::ZERO, |share| share >= BUSY)
    }

    fn thread(
        self,
        key: ThreadKey,
        process: &str,
        uptime: Option<Nanos>,
        allowed: Option<CpuSet>,
        group: Option<String>,
    ) -> Thread {
        Thread {
            key,
            share: self.share(uptime),
            name: self.name,
            process: process.to_owned(),
            kernel: self.kernel,
            runnable: self.runnable,
            cpu_time: self.cpu_time,
            last_cpu: self.last_cpu,
            allowed,
            group,
        }
    }
}

fn allowed(tree: &Tree, directory: &str) -> Result<Option<CpuSet>, Malformed> {
    const KEY: &str = "Cpus_allowed_list";
    let file = format!("{directory}/status");
    let line = |text: &str| text.lines().find(|line| line.starts_with(KEY)).unwrap_or_default().to_owned();
    let Some(line) = tree.filtered(&file, line) else { return Ok(None) };
    let list = field_of(&line, KEY).unwrap_or_default();
    let cpus = list.parse().map(Some);
    cpus.map_err(|_| {
        tree.malformed(&file, &list, "a list of cpus such as `0-3,8` after `Cpus_allowed_list:`")
    })
}

/// The control groups read so far. Many threads share few groups.
#[derive(Default)]
struct Groups {
    seen: BTreeMap<String, String>,
    cpusets: Vec<Cpuset>,
}

impl Groups {
    /// Returns the control group of the thread in `directory`, and remembers its cpuset.
    fn read(&mut self, tree: &Tree, directory: &str) -> Result<Option<String>, Malformed> {
        let Some(text) = tree.text(format!("{directory}/cgroup")) else { return Ok(None) };
        if let Some(group) = self.seen.get(&text) {
            return Ok(Some(group.clone()));
        }
        let Some(group) = cpuset_group(&text) else { return Ok(None) };
        let known = self.cpusets.iter().any(|cpuset| cpuset.group == group);
        if let Some(cpus) = cpuset_of(tree, &text)?.filter(|_| !known) {
            let own = own_cpuset(tree, &group)?;
            self.cpusets.push(Cpuset { group: group.clone(), cpus, own });
        }
        self.seen.insert(text, group.clone());
        Ok(Some(group))
    }
}

/// The files that may hold the cpus that were set for `group`: in version 2, and in version 1.
pub(crate) fn cpuset_files(group: &str) -> [String; 2] {
    ["", "/cpuset"].map(|mount| format!("sys/fs/cgroup{mount}{group}/cpuset.cpus"))
}

fn own_cpuset(tree: &Tree, group: &str) -> Result<Option<CpuSet>, Malformed> {
    for file in cpuset_files(group) {
        // An empty file reads as none: the group has the cpus of its parent.
        if let Some(cpus) = tree.cpus(&file)?.or_else(|| tree.has(&file).then(CpuSet::default)) {
            return Ok(Some(cpus));
        }
    }
    Ok(None)
}

/// Returns the path of the control group that has the cpuset: the one of version 1 if there is one, or
/// else that of version 2.
pub(crate) fn cpuset_group(text: &str) -> Option<String> {
    let entries = hierarchies(text);
    let first = entries.iter().find(|(controllers, _)| controllers.split(',').any(|c| c == "cpuset"));
    let second = entries.iter().find(|(controllers, _)| controllers.is_empty());
    first.or(second).map(|(_, path)| (*path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn malformed_stat_files_are_refused() {
        for text in ["77", "77 (a", "77 (a) R 1", "x (a) R 1 77 77 0 -1 0 5 0 0 0 30 20"] {
            let mut tree = fake::Tree::default();
            tree.put("proc/77/stat", text);
            let error = read(&Tree::Fake(tree), None, &BTreeMap::new()).unwrap_err();
            assert!(error.to_string().contains("proc/77/stat` holds"), "{error}");
        }
    }

    #[test]
    fn the_group_is_taken_from_the_hierarchy_with_cpusets() {
        assert_eq!(cpuset_group("0::/system.slice/a.service").as_deref(), Some("/system.slice/a.service"));
        assert_eq!(cpuset_group("3:cpu,cpuset:/docker/1\n0::/x").as_deref(), Some("/docker/1"));
        assert_eq!(cpuset_group("nothing"), None);
    }
}
