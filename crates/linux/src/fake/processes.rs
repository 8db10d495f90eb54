//! Fake threads: writes their files in `/proc`.

use super::{Cgroup, Tree};
use std::collections::BTreeSet;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A fake thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The number of its process.
    pub pid: u32,
    /// Its number; the first thread of a process has the number of the process.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its processor time, in hundredths of a second.
    pub ticks: u64,
    /// The cpu it ran on last.
    pub last_cpu: CpuId,
    /// The cpus it may run on.
    pub allowed: CpuSet,
    /// Its control group.
    pub group: String,
}

impl Thread {
    /// Creates the only thread of process `pid`.
    #[must_use]
    pub fn alone(pid: u32, name: &str, ticks: u64, last_cpu: u32, allowed: &CpuSet) -> Self {
        let group = format!("/system.slice/{name}.service");
        Self {
            pid,
            tid: pid,
            name: name.to_owned(),
            ticks,
            last_cpu: CpuId(last_cpu),
            allowed: allowed.clone(),
            group,
        }
    }
}

/// The number of the probing process.
const OWN: u32 = 4321;

/// Writes `threads` and the probing process into `tree`.
pub(super) fn put(tree: &mut Tree, threads: &[Thread], cgroup: Cgroup, allowed: &CpuSet) {
    let own = Thread::alone(OWN, "warmcore", 1, 0, allowed);
    tree.put("proc/self/stat", stat(OWN, &own.name, own.ticks, own.last_cpu));
    put_all(tree, &[own], cgroup);
    put_all(tree, threads, cgroup);
}

/// Writes the processes that `threads` belong to into `tree`.
pub(super) fn put_all(tree: &mut Tree, threads: &[Thread], cgroup: Cgroup) {
    let pids: BTreeSet<u32> = threads.iter().map(|thread| thread.pid).collect();
    for pid in pids {
        let of_process: Vec<&Thread> = threads.iter().filter(|thread| thread.pid == pid).collect();
        let ticks = of_process.iter().map(|thread| thread.ticks).sum();
        let Some(first) = of_process.first() else { continue };
        tree.put(format!("proc/{pid}/stat"), stat(pid, &first.name, ticks, first.last_cpu));
        tree.put(format!("proc/{pid}/comm"), &first.name);
        for thread in of_process {
            put_thread(tree, thread, cgroup);
        }
    }
}

fn put_thread(tree: &mut Tree, thread: &Thread, cgroup: Cgroup) {
    let directory = format!("proc/{}/task/{}", thread.pid, thread.tid);
    tree.put(format!("{directory}/stat"), stat(thread.tid, &thread.name, thread.ticks, thread.last_cpu));
    let status = format!("Name:\t{}\nCpus_allowed_list:\t{}", thread.name, thread.allowed);
    tree.put(format!("{directory}/status"), status);
    let group = match cgroup {
        Cgroup::V2 => format!("0::{}", thread.group),
        Cgroup::V1InContainer => format!("4:cpuset:{}\n0::/", thread.group),
    };
    tree.put(format!("{directory}/cgroup"), group);
}

/// Writes the columns of `proc_pid_stat(5)`, for a sleeping thread that started at boot.
fn stat(number: u32, name: &str, ticks: u64, last_cpu: CpuId) -> String {
    let addresses = "94000000000000 94000000000001 140000000000000 140000000000001 94000000000002";
    let last = last_cpu.0;
    format!(
        "{number} ({name}) S 1 {number} {number} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0 0 1000 10 \
         18446744073709551615 {addresses} 0 0 0 0 0 0 0 17 {last} 0 0 0 0 0"
    )
}
