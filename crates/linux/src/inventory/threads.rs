//! Threads that use processors: where each may run, and where it ran last.
//!
//! The kernel sums up the processor time of a process, so that only those that used any are looked
//! into. A process or thread that ends while it is looked at was never there. Of what `/proc` tells of
//! a process, its arguments, its environment and its addresses are not kept.

use crate::pid_stat::{Stat, stat};
use crate::probe::Malformed;
use crate::probe::limits::{cpuset_of, hierarchies};
use crate::proc_stat::tick;
use crate::tree::{Tree, field_of};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Nanos};

/// A thread counts as busy from this share of a cpu on, over its life.
const BUSY: f64 = 0.001;

/// What tells a thread from every other, before and after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct ThreadKey {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// When it began, in ticks of the kernel since the machine started: numbers are used again.
    pub started: u64,
}

/// A thread that is busy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Thread {
    /// Which one.
    #[serde(flatten)]
    pub key: ThreadKey,
    /// Its name.
    pub name: String,
    /// The name of its process.
    pub process: String,
    /// Whether it is the kernel's own.
    pub kernel: bool,
    /// Whether it was running or waiting for a cpu.
    pub runnable: bool,
    /// For how long it has run.
    pub cpu_time: Nanos,
    /// That, relative to its life: 1 is a whole cpu. `None` where the kernel does not tell the time.
    pub share: Option<f64>,
    /// The cpu it ran on last.
    pub last_cpu: CpuId,
    /// The cpus it may run on.
    pub allowed: Option<CpuSet>,
    /// Its control group, as its line in `/proc/PID/cgroup` has it.
    pub group: Option<String>,
}

/// The cpus that a control group allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Cpuset {
    /// The group.
    pub group: String,
    /// Its cpus.
    pub cpus: CpuSet,
}

/// What was found out about processes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Processes {
    /// Every process by number: its name.
    pub(super) names: BTreeMap<u32, String>,
    /// For how long each has run, by number and start.
    pub(super) ran: BTreeMap<(u32, u64), Nanos>,
    /// Busy threads, the busiest first.
    pub(super) threads: Vec<Thread>,
    /// The cpusets of their groups.
    pub(super) cpusets: Vec<Cpuset>,
}

/// The processes of `tree`, at `uptime` after its start. `earlier` is what they had run at an
/// earlier look: a process that has run since then is looked into, however idle it was before.
/// The process that looks is left out.
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
        // A tick is all that is known of a younger one.
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

/// The groups met so far: many threads share few.
#[derive(Default)]
struct Groups {
    seen: BTreeMap<String, String>,
    cpusets: Vec<Cpuset>,
}

impl Groups {
    /// The group of the thread in `directory`, whose cpuset is noted.
    fn read(&mut self, tree: &Tree, directory: &str) -> Result<Option<String>, Malformed> {
        let Some(text) = tree.text(format!("{directory}/cgroup")) else { return Ok(None) };
        if let Some(group) = self.seen.get(&text) {
            return Ok(Some(group.clone()));
        }
        let Some(group) = binding(&text) else { return Ok(None) };
        let known = self.cpusets.iter().any(|cpuset| cpuset.group == group);
        if let Some(cpus) = cpuset_of(tree, &text)?.filter(|_| !known) {
            self.cpusets.push(Cpuset { group: group.clone(), cpus });
        }
        self.seen.insert(text, group.clone());
        Ok(Some(group))
    }
}

/// The path in the hierarchy that has the cpuset: that of version 1 if there is one, else the one
/// of version 2.
fn binding(text: &str) -> Option<String> {
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
    fn a_file_that_is_no_stat_is_refused() {
        for text in ["77", "77 (a", "77 (a) R 1", "x (a) R 1 77 77 0 -1 0 5 0 0 0 30 20"] {
            let mut tree = fake::Tree::default();
            tree.put("proc/77/stat", text);
            let error = read(&Tree::Fake(tree), None, &BTreeMap::new()).unwrap_err();
            assert!(error.to_string().contains("proc/77/stat` holds"), "{error}");
        }
    }

    #[test]
    fn the_group_is_that_of_the_hierarchy_with_cpusets() {
        assert_eq!(binding("0::/system.slice/a.service").as_deref(), Some("/system.slice/a.service"));
        assert_eq!(binding("3:cpu,cpuset:/docker/1\n0::/x").as_deref(), Some("/docker/1"));
        assert_eq!(binding("nothing"), None);
    }
}
