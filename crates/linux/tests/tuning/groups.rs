//! Places a real control group, which the test makes and removes.

use crate::scene::Scene;
use crate::threads::Sleeper;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{fs, io, process, thread};
use warmcore_linux::affinity;
use warmcore_linux::tuning::{
    AdmissionOptions, Disk, Fingerprint, Line, Plan, Setting, admit, apply, changes, steps, undo,
};
use warmcore_topology::CpuSet;

/// A control group with a cpuset, until this is dropped.
struct Group {
    mount: PathBuf,
    name: String,
}

impl Group {
    /// Makes a group that may use `cpus`, in the hierarchy of version 2 or 1.
    fn new(cpus: &CpuSet) -> io::Result<Self> {
        let is_second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let mount = if is_second { "/sys/fs/cgroup" } else { "/sys/fs/cgroup/cpuset" };
        let group = Self { mount: mount.into(), name: format!("/warmcore-test-{}", process::id()) };
        fs::create_dir(group.path(""))?;
        if !is_second {
            fs::write(group.path("cpuset.mems"), fs::read_to_string(group.mount.join("cpuset.mems"))?)?;
            fs::write(group.path("cpuset.cpus"), cpus.to_string())?;
        }
        fs::metadata(group.path("cpuset.cpus"))?;
        Ok(group)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.mount.join(&self.name[1..]).join(file)
    }

    fn take(&self, pid: u32) {
        fs::write(self.path("cgroup.procs"), pid.to_string()).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for pid in fs::read_to_string(self.path("cgroup.procs")).unwrap_or_default().lines() {
            let _ = fs::write(self.mount.join("cgroup.procs"), pid);
        }
        let _ = fs::remove_dir(self.path(""));
    }
}

#[test]
fn a_control_group_is_placed_with_what_starts_in_it_and_restored() {
    let before = affinity::mask().unwrap();
    let group = match Group::new(&before) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group with a cpuset can be made here: {error}"),
    };
    let (disk, scene, first) = (Disk::default(), Scene::new(), Sleeper::start());
    group.take(first.pid());
    let one: CpuSet = before.first().into_iter().collect();
    let set = Setting::Cpuset { group: group.name.clone(), cpus: one.clone() };
    let line = Line { set, reason: String::new(), expected_gain: String::new() };
    let machine = Fingerprint::read(&disk, []).unwrap();
    let plan = Plan { schema: Plan::SCHEMA, machine, promise: None, lines: vec![line] };
    plan.check().unwrap();
    let admission = AdmissionOptions { despite: vec!["tuned".to_owned(), "numad".to_owned()] };
    admit(&plan, &disk, &admission).unwrap();
    let steps = changes(steps(&plan, &disk).unwrap());
    if before.len() == 1 {
        return println!("skipped: on one cpu there is nothing to change");
    }
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    let later = Sleeper::start();
    group.take(later.pid());
    assert_eq!((first.mask(), later.mask()), (one.clone(), one));
    let undone = undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert_eq!((undone.restored(), undone.is_complete()), (1, true), "{undone:?}");
    assert_eq!((first.mask(), later.mask()), (before.clone(), before));
    drop((first, later));
    // The kernel takes a moment to take the ended processes out of the group.
    thread::sleep(Duration::from_millis(50));
}

#[test]
fn a_group_that_is_not_there_is_named_with_what_it_needs() {
    let scene = Scene::new();
    let mut plan = crate::scene::plan();
    for line in &mut plan.lines {
        if let Setting::Cpuset { group, .. } = &mut line.set {
            *group = "/system.slice/other.service".to_owned();
        }
    }
    let error = steps(&plan, &scene.disk()).unwrap_err().to_string();
    assert!(error.contains("lines.12.set.cpuset.group` is `/system.slice/other.service`"), "{error}");
    assert!(error.contains("AllowedCPUs="), "{error}");
}

#[test]
fn cpus_that_the_parent_has_not_are_refused() {
    let scene = Scene::new();
    let slice = scene.root.join("sys/fs/cgroup/system.slice");
    fs::write(slice.join("cpuset.cpus.effective"), "0-2\n").unwrap();
    let error =
        admit(&crate::scene::plan(), &scene.disk(), &AdmissionOptions::default()).unwrap_err().to_string();
    assert!(error.contains("lines.12.set.cpuset.cpus") && error.contains("cpus among 0-2"), "{error}");
}
