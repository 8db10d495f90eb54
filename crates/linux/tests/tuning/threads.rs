//! Places real threads, of processes that the test has started.

use crate::scene::Scene;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use warmcore_linux::affinity;
use warmcore_linux::tuning::{
    AdmissionOptions, Disk, Fingerprint, Line, Plan, Setting, System, UndoOutcome, admit, apply, changes,
    steps, undo,
};
use warmcore_topology::CpuSet;

/// A process that sleeps until this is dropped.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn mask(&self) -> CpuSet {
        Disk::default().mask(self.pid(), self.pid()).unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
}

fn plan(pid: u32, started: u64, cpus: CpuSet) -> Plan {
    let set = Setting::Thread { pid, started, name: "sleep".to_owned(), thread: None, cpus };
    let line = Line { set, reason: String::new(), expected_gain: String::new() };
    let machine = Fingerprint::read(&Disk::default(), []).unwrap();
    Plan { schema: Plan::SCHEMA, machine, lines: vec![line] }
}

#[test]
fn a_process_is_placed_and_restored() {
    let (sleeper, disk, scene) = (Sleeper::start(), Disk::default(), Scene::new());
    let before = affinity::mask().unwrap();
    assert_eq!(sleeper.mask(), before);
    let one: CpuSet = before.first().into_iter().collect();
    let plan = plan(sleeper.pid(), started(sleeper.pid()), one.clone());
    let admission = AdmissionOptions { despite: vec!["tuned".to_owned(), "numad".to_owned()] };
    admit(&plan, &disk, &admission).unwrap();
    let steps = changes(steps(&plan, &disk).unwrap());
    if before.len() == 1 {
        return assert!(steps.is_empty(), "on one cpu there is nothing to change");
    }
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    assert_eq!(sleeper.mask(), one);
    let undone = undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert_eq!((undone.restored(), undone.is_complete()), (1, true), "{undone:?}");
    assert_eq!(sleeper.mask(), before);
}

#[test]
fn a_process_that_has_ended_leaves_nothing_to_restore() {
    let (sleeper, disk, scene) = (Sleeper::start(), Disk::default(), Scene::new());
    let before = affinity::mask().unwrap();
    let one: CpuSet = before.first().into_iter().collect();
    let plan = plan(sleeper.pid(), started(sleeper.pid()), one);
    let steps: Vec<_> = steps(&plan, &disk).unwrap().into_iter().map(|proposal| proposal.step).collect();
    apply(scene.journals.begin(&disk, steps.clone(), false).unwrap(), &AtomicBool::new(false)).unwrap();
    drop(sleeper);
    let undone = undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert!(undone.is_complete() && undone.outcomes[0].1 == UndoOutcome::Gone, "{undone:?}");

    // It can no longer be placed.
    let journal = scene.journals.begin(&disk, steps, false).unwrap();
    let error = apply(journal, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.contains("sleep has ended") && error.contains("as it was before"), "{error}");
}

/// Threads that start after the plan was read are placed and restored too. Threads that start after it was
/// applied are restored if they inherited the placement.
#[test]
fn threads_that_start_later_are_placed_and_restored_with_the_rest() {
    let scene = Scene::new();
    let plan = crate::scene::plan();
    let disk = scene.disk();
    let steps = scene.steps(&plan);
    let start = |thread: u32, cpus: &str| {
        let mut tree = warmcore_linux::fake::Tree::default();
        let status = format!("Name:\tserver\nCpus_allowed_list:\t{cpus}");
        tree.put(format!("proc/4242/task/{thread}/status"), status);
        tree.write_to(&scene.root).unwrap();
    };
    let mask = |thread: u32| disk.mask(4242, thread).unwrap().to_string();
    start(4244, "1-3");
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    assert_eq!(mask(4244), "2-3");
    start(4245, "2-3");
    start(4246, "1");
    assert!(scene.undo_through(&disk, false).unwrap().unwrap().is_complete());
    assert_eq!([4242, 4243, 4244].map(mask), ["0-3", "0-3", "1-3"].map(str::to_owned));
    assert_eq!(mask(4245), "0-3", "it had inherited the placement");
    assert_eq!(mask(4246), "1", "it had placed itself");
}
