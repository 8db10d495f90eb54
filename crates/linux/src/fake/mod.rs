//! Fake machines: writes the files that a kernel would show. The inverse of
//! [`probe`](crate::probe) and [`inventory`](crate::inventory). The files can be probed in memory
//! ([`Probe::fake`](crate::Probe::fake)) or from a directory.
//!
//! [`Tree::from_machine`] writes a [`Machine`] alone; a [`FakeHost`] adds devices, interrupts, steering and
//! threads, and [`hosts`] has one of each important kind. Its [`counters`] are not files. A
//! [`FaultInjector`] makes changes to such a machine fail.
//!
//! Values are rounded to the precision of the kernel's files: cache sizes to 1 KiB, the quota to
//! 10⁻⁵ of a cpu.
//!
//! ```
//! use warmcore_linux::{Probe, fake};
//! use warmcore_topology::synthetic;
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! fake::Tree::from_machine(&synthetic::hybrid_laptop()).write_to(directory)?;
//! let probed = Probe::new().root(directory).machine().expect("a valid tree");
//! assert_eq!(probed.machine, synthetic::hybrid_laptop());
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod counters;
pub mod hosts;
pub mod interrupts;

mod earlier;
mod fault_injector;
mod host;
mod processes;

pub use fault_injector::{FaultInjector, InjectedFault};
pub use host::{Device, FakeHost, InterruptNaming, Nic, Vector, mask};
pub use processes::Thread;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{fs, io};
use warmcore_topology::{Cache, CacheKind, Cpu, CpuSet, Machine};

const CPUS: &str = "sys/devices/system/cpu";

/// The files of a fake machine: text by path, without a leading slash. Change the files to create a
/// tree with faults.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    /// The files.
    pub files: BTreeMap<String, String>,
    /// Those of them that nobody may write. By this the kernel marks interrupts that it manages.
    pub read_only: BTreeSet<String>,
}

/// Which generation of control groups limits the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cgroup {
    /// One hierarchy; the process is in `/warmcore`.
    V2,
    /// One hierarchy for each controller, as seen from inside a container: the process's group
    /// has the host's path, which does not exist here.
    V1InContainer,
}

impl Tree {
    /// Writes the files of `machine`, with control groups of version 2.
    #[must_use]
    pub fn from_machine(machine: &Machine) -> Self {
        Self::with_cgroup(machine, Cgroup::V2)
    }

    /// Writes the files of `machine`. The affinity mask allows every online cpu, so that only the
    /// control group limits it.
    #[must_use]
    pub fn with_cgroup(machine: &Machine, cgroup: Cgroup) -> Self {
        let mut tree = Self::default();
        let online = machine.online();
        tree.put(format!("{CPUS}/online"), &online);
        tree.put("proc/self/status", format!("Name:\twarmcore\nCpus_allowed_list:\t{online}"));
        let block = |cpu: &Cpu| format!("processor\t: {}\nmodel name\t: {}\n\n", cpu.id.0, machine.name);
        tree.put("proc/cpuinfo", machine.cpus.iter().map(block).collect::<String>());
        for cpu in &machine.cpus {
            tree.put_cpu(cpu);
            let in_path = machine.caches.iter().filter(|cache| cache.shared_by.contains(cpu.id));
            for (index, cache) in in_path.enumerate() {
                tree.put_cache(&format!("{CPUS}/cpu{}/cache/index{index}", cpu.id.0), cache);
            }
        }
        tree.put_nodes(machine);
        for set in ["possible", "present"] {
            tree.put(format!("{CPUS}/{set}"), machine.online());
        }
        match cgroup {
            Cgroup::V2 => tree.put_cgroup_v2(machine),
            Cgroup::V1InContainer => tree.put_cgroup_v1(machine),
        }
        tree
    }

    /// Adds or replaces a file, and ends it with a newline as the kernel does.
    pub fn put(&mut self, file: impl Into<String>, text: impl ToString) {
        self.files.insert(file.into(), text.to_string() + "\n");
    }

    /// Adds running `threads`, in control groups of version 2.
    #[must_use]
    pub fn running(mut self, threads: &[Thread]) -> Self {
        processes::put_all(&mut self, threads, Cgroup::V2);
        self
    }

    /// Adds TCP sockets through which processes have received data since the start: the number of each process and
    /// of bytes.
    #[must_use]
    pub fn receiving(mut self, processes: &[(u32, u64)]) -> Self {
        let inode = |pid: &u32| 10_000 + pid;
        let pairs: Vec<String> =
            processes.iter().map(|(pid, bytes)| format!("[{}, {bytes}]", inode(pid))).collect();
        self.put("warmcore/received.toml", format!("sockets = [{}]", pairs.join(", ")));
        for (pid, _) in processes {
            self.put(format!("warmcore/sockets/{pid}.toml"), format!("sockets = [{}]", inode(pid)));
        }
        self
    }

    /// Returns the names of the entries of `directory`, repeated for every file below them.
    pub(crate) fn entries<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a str> {
        let directory = format!("{directory}/");
        let below = self.files.range(directory.clone()..).map(|(file, _)| file);
        below.map_while(move |file| file.strip_prefix(&directory)?.split('/').next())
    }

    /// Whether `path` is a file, or a directory with files.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.entries(path).next().is_some()
    }

    /// Removes every file whose path contains `part`.
    #[must_use]
    pub fn hiding(mut self, part: &str) -> Self {
        self.files.retain(|file, _| !file.contains(part));
        self.read_only.retain(|file| !file.contains(part));
        self
    }

    /// Writes the files below `directory`, creating directories as needed.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn write_to(&self, directory: &Path) -> io::Result<()> {
        for (file, text) in &self.files {
            let path = directory.join(file);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, text)?;
            if self.read_only.contains(file) {
                fs::set_permissions(path, Permissions::from_mode(0o444))?;
            }
        }
        Ok(())
    }

    fn put_cpu(&mut self, cpu: &Cpu) {
        let topology = format!("{CPUS}/cpu{}/topology", cpu.id.0);
        self.put(format!("{topology}/core_id"), cpu.core);
        self.put(format!("{topology}/physical_package_id"), cpu.package);
        self.put(format!("{topology}/core_cpus_list"), &cpu.smt_siblings);
    }

    fn put_cache(&mut self, index: &str, cache: &Cache) {
        let kind = match cache.kind {
            CacheKind::Data => "Data",
            CacheKind::Instruction => "Instruction",
            CacheKind::Unified => "Unified",
        };
        self.put(format!("{index}/level"), cache.level);
        self.put(format!("{index}/type"), kind);
        self.put(format!("{index}/size"), format!("{}K", cache.geometry.size.0 / 1024));
        self.put(format!("{index}/coherency_line_size"), cache.geometry.line.0);
        self.put(format!("{index}/ways_of_associativity"), cache.geometry.ways);
        self.put(format!("{index}/number_of_sets"), cache.geometry.sets());
        self.put(format!("{index}/shared_cpu_list"), &cache.shared_by);
    }

    fn put_nodes(&mut self, machine: &Machine) {
        let mut nodes: BTreeMap<u32, CpuSet> = BTreeMap::new();
        for cpu in &machine.cpus {
            nodes.entry(cpu.node).or_default().extend([cpu.id]);
        }
        for (node, cpus) in nodes {
            self.put(format!("sys/devices/system/node/node{node}/cpulist"), cpus);
        }
    }

    fn put_cgroup_v2(&mut self, machine: &Machine) {
        let quota = quota_micros(machine).map_or("max".to_owned(), |micros| micros.to_string());
        self.put("proc/self/cgroup", "0::/warmcore");
        self.put("sys/fs/cgroup/cpuset.cpus.effective", machine.online());
        self.put("sys/fs/cgroup/warmcore/cpuset.cpus.effective", &machine.limits.allowed);
        self.put("sys/fs/cgroup/warmcore/cpu.max", format!("{quota} {PERIOD_MICROS}"));
    }

    fn put_cgroup_v1(&mut self, machine: &Machine) {
        let quota = quota_micros(machine).unwrap_or(-1);
        self.put("proc/self/cgroup", "4:cpuset:/docker/0123\n3:cpu,cpuacct:/docker/0123\n0::/");
        self.put("sys/fs/cgroup/cpuset/cpuset.cpus", &machine.limits.allowed);
        self.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", quota);
        self.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", PERIOD_MICROS);
    }
}

const PERIOD_MICROS: i64 = 100_000;

/// The cpu quota of the machine in microseconds per period.
fn quota_micros(machine: &Machine) -> Option<i64> {
    machine.limits.cpu_quota.map(|cpus| (cpus * PERIOD_MICROS as f64).round() as i64)
}
