//! A fake machine with four cpus, a network card with two queues and a server with two threads, and a plan
//! for it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use warmcore_linux::fake::Tree;
use warmcore_linux::tuning::{
    AdmissionOptions, Disk, JournalDirectory, Plan, Step, System, UndoReport, admit, apply, changes, steps,
    undo,
};
use warmcore_topology::synthetic;

/// Every kind of setting, most of them twice.
const PLAN: &str = r#"
    schema = 1

    [machine]
    cpus = "0-3"
    nodes = ["0-3"]
    interfaces = [{ name = "eth0", driver = "virtio_net", receive_queues = 2, transmit_queues = 2 }]

    [[lines]]
    set = { interrupt = { device = "0000:00:03.0", queue = 0, cpus = "2" } }
    reason = "the server runs there"
    expected_gain = "8%"

    [[lines]]
    set = { interrupt = { device = "0000:00:03.0", action = "eth0-TxRx-1", cpus = "2-3" } }

    [[lines]]
    set = { default_interrupt = { cpus = "0-1" } }

    [[lines]]
    set = { rps_cpus = { interface = "eth0", queue = 0, cpus = "2-3" } }

    [[lines]]
    set = { rps_flows = { interface = "eth0", queue = 0, flows = 4096 } }

    [[lines]]
    set = { global_flows = { flows = 32768 } }

    [[lines]]
    set = { xps_cpus = { interface = "eth0", queue = 1, cpus = "1,3" } }

    [[lines]]
    set = { xps_queues = { interface = "eth0", queue = 0, receive_queues = [0, 1] } }

    [[lines]]
    set = { thread = { pid = 4242, started = 8311, name = "server", cpus = "2-3" } }

    [[lines]]
    set = { indirection = { interface = "eth0", queues = [1] } }

    [[lines]]
    set = { ntuple = { interface = "eth0", on = true } }

    [[lines]]
    set = { threaded_napi = { interface = "eth0", on = true } }

    [[lines]]
    set = { cpuset = { group = "/system.slice/server.service", cpus = "2-3" } }
"#;

/// What the driver of the network card says, as a capture writes it.
const DRIVER: &str = "indirection = [0, 1, 1, 1, 0, 1, 0, 1]
napi = []

[channels]
combined = 2
combined_max = 4

[features.ntuple]
on = false
fixed = false";

/// The contents of every file, by path.
pub(crate) type Snapshot = BTreeMap<PathBuf, Vec<u8>>;

/// The machine, in a directory of its own.
#[derive(Debug)]
pub(crate) struct Scene {
    _temporary: Option<TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) journals: JournalDirectory,
}

impl Scene {
    /// Creates a machine in a temporary directory.
    pub(crate) fn new() -> Self {
        Self::named("machine")
    }

    /// Creates a machine in a temporary directory whose name begins so.
    pub(crate) fn named(prefix: &str) -> Self {
        let directory = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
        let scene = Self::at(directory.path());
        tree().write_to(&scene.root).unwrap();
        let device = scene.root.join("sys/class/net/eth0/device");
        fs::create_dir_all(&device).unwrap();
        symlink("../../../bus/pci/drivers/virtio_net", device.join("driver")).unwrap();
        Self { _temporary: Some(directory), ..scene }
    }

    /// Opens a machine that another process created.
    pub(crate) fn at(directory: &Path) -> Self {
        let journals = JournalDirectory::at(directory.join("journals"));
        Self { _temporary: None, root: directory.join("root"), journals }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.root.parent().unwrap()
    }

    pub(crate) fn disk(&self) -> Disk {
        Disk::below(&self.root)
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).unwrap()
    }

    /// Changes an existing file.
    pub(crate) fn write(&self, file: &str, text: &str) {
        assert!(self.root.join(file).exists(), "{file}");
        fs::write(self.root.join(file), text).unwrap();
    }

    /// Reads all files of the machine, without the journals.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        read_files(&self.root, &mut snapshot);
        snapshot
    }

    pub(crate) fn steps(&self, plan: &Plan) -> Vec<Step> {
        let disk = self.disk();
        admit(plan, &disk, &AdmissionOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        changes(steps(plan, &disk).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Applies the plan through `system`.
    pub(crate) fn apply_through(&self, system: &dyn System) -> Result<(), String> {
        self.apply_plan_through(&plan(), system)
    }

    /// Applies `plan` through `system`.
    pub(crate) fn apply_plan_through(&self, plan: &Plan, system: &dyn System) -> Result<(), String> {
        let steps = self.steps(plan);
        let journal = self.journals.begin(system, steps, false).map_err(|error| error.to_string())?;
        apply(journal, &AtomicBool::new(false)).map(drop).map_err(|error| error.to_string())
    }

    /// Undoes the applied plan through `system`; `None` if none is applied.
    pub(crate) fn undo_through(
        &self,
        system: &dyn System,
        force: bool,
    ) -> Result<Option<UndoReport>, String> {
        match self.journals.open(system, false).map_err(|error| error.to_string())? {
            Some(journal) => undo(journal, force).map(Some).map_err(|error| error.to_string()),
            None => Ok(None),
        }
    }

    /// Asserts that undoing restores the machine to `before`, with nothing left to undo.
    pub(crate) fn assert_restorable(&self, before: &Snapshot, context: &str) {
        let undone =
            self.undo_through(&self.disk(), false).unwrap_or_else(|error| panic!("{context}: {error}"));
        let complete = undone.is_none_or(|undone| undone.is_complete());
        assert!(complete && self.journals.active().unwrap().is_none(), "{context}");
        assert_eq!(&self.snapshot(), before, "{context}");
    }
}

/// Parses the plan.
pub(crate) fn plan() -> Plan {
    let plan: Plan = toml::from_str(PLAN).unwrap();
    plan.check().unwrap();
    plan
}

fn read_files(directory: &Path, snapshot: &mut Snapshot) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            snapshot
                .insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else if path.is_dir() {
            read_files(&path, snapshot);
        } else {
            snapshot.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Writes the files of the machine, without caches, which no setting needs.
fn tree() -> Tree {
    let mut tree = Tree::from_machine(&synthetic::virtual_machine(4)).hiding("/cache/");
    tree.put("sys/devices/system/cpu/present", "0-3");
    tree.put("proc/sys/kernel/random/boot_id", "4b1d");
    tree.put("proc/irq/default_smp_affinity", "f");
    tree.put("proc/sys/net/core/rps_sock_flow_entries", 0);
    tree.put("sys/class/net/eth0/threaded", 0);
    tree.put("sys/fs/cgroup/system.slice/server.service/cpuset.cpus", "");
    tree.put("sys/bus/pci/devices/0000:00:03.0/virtio0/net/eth0/ifindex", 2);
    tree.put("warmcore/ethtool/eth0.toml", DRIVER);
    for queue in 0..2 {
        let receive = format!("sys/class/net/eth0/queues/rx-{queue}");
        tree.put(format!("{receive}/rps_cpus"), "00000000");
        tree.put(format!("{receive}/rps_flow_cnt"), 0);
        let transmit = format!("sys/class/net/eth0/queues/tx-{queue}");
        tree.put(format!("{transmit}/xps_cpus"), "0,00000000");
        tree.put(format!("{transmit}/xps_rxqs"), 0);
        let number = 28 + queue;
        tree.put(format!("sys/bus/pci/devices/0000:00:03.0/msi_irqs/{number}"), "msix");
        tree.put(format!("sys/kernel/irq/{number}/actions"), format!("eth0-TxRx-{queue}"));
        tree.put(format!("sys/kernel/irq/{number}/per_cpu_count"), "17,0,0,4");
        tree.put(format!("proc/irq/{number}/smp_affinity_list"), "0-3");
        tree.put(format!("proc/irq/{number}/effective_affinity_list"), 0);
    }
    put_process(&mut tree, 4242, "server", &[4242, 4243]);
    tree
}

/// Adds a process that started at tick 8311, with these threads.
pub(crate) fn put_process(tree: &mut Tree, pid: u32, name: &str, threads: &[u32]) {
    tree.put(format!("proc/{pid}/comm"), name);
    let stat = format!("{pid} ({name}) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 8311 99");
    tree.put(format!("proc/{pid}/stat"), stat);
    for thread in threads {
        let status = format!("Name:\t{name}\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0");
        tree.put(format!("proc/{pid}/task/{thread}/status"), status);
    }
}
