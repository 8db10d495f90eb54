//! The plan of a host with 128 cpus and 64 queues. If one of its changes fails, or the process is killed at
//! one of them, everything must be restored byte for byte.
//!
//! Changes include those of values and of the journal. A sample of them, spread evenly, is tested;
//! `WARMCORE_CHANGES=all` tests all of them.

use super::hosts::server_named as server;
use super::scene::{self, Scene};
use super::{observed, planned};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use tempfile::TempDir;
use warmcore_linux::Inventory;
use warmcore_linux::fake::{FaultInjector, InjectedFault, hosts};
use warmcore_linux::tuning::{Plan, Step};
use warmcore_study::placement::Goal;

/// How many changes are tested for each fault.
const TRIED: usize = 9;

/// Where a child process finds the host, and at which change it must die.
const PLACE: &str = "WARMCORE_TEST_PLACE";
const DEATH: &str = "WARMCORE_TEST_DEATH";
const PLAN: &str = "plan.toml";

/// The host in a folder of its own, with its plan beside it.
struct Large {
    place: TempDir,
    scene: Scene,
    steps: Vec<Step>,
}

fn look(place: &Path) -> (Scene, Vec<Step>) {
    let plan: Plan = toml::from_str(&fs::read_to_string(place.join(PLAN)).expect("a file")).expect("a plan");
    let scene = Scene::at(place, &plan);
    let steps = scene.steps(&here(place)).expect("a plan that may be applied");
    (scene, steps)
}

fn here(place: &Path) -> Inventory {
    warmcore_linux::Probe::new().root(place.join("root")).inventory().expect("a sound tree")
}

impl Large {
    fn new() -> Self {
        let tree = hosts::two_socket_server();
        let placement = planned(&observed(&tree), &server(), Goal::Throughput).expect("a plan");
        let place = tempfile::tempdir().expect("a temporary folder");
        scene::write(&tree, place.path());
        let text = toml::to_string(&placement.plan).expect("a plan is a document");
        fs::write(place.path().join(PLAN), text).expect("a file can be written");
        let (scene, steps) = look(place.path());
        assert!(steps.len() > 100, "{}", steps.len());
        Self { place, scene, steps }
    }

    /// The number of changes that applying the plan makes.
    fn changes(&self) -> usize {
        let whole = FaultInjector::once(self.scene.disk(), usize::MAX, InjectedFault::Refuse);
        self.scene.apply(self.steps.clone(), &whole).expect("it is applied");
        assert_eq!(self.scene.undo(), Ok(true));
        whole.changes()
    }

    /// Runs a child that applies the plan; panics unless it was killed.
    fn kill(&self, fault: InjectedFault, at: usize) {
        let output = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "faults::a_child_applies_the_plan"])
            .env(PLACE, self.place.path())
            .env(DEATH, format!("{fault:?} {at}"))
            .output()
            .expect("this program can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(9), "{fault:?} {at}: {said}");
    }
}

/// The changes from 0 to `count` that are tested, including the first and the last.
fn tried(count: usize) -> Vec<usize> {
    match env::var("WARMCORE_CHANGES").as_deref() {
        Ok("all") => (0..count).collect(),
        Ok(other) => panic!("WARMCORE_CHANGES is `{other}`; expected `all`"),
        Err(_) => (0..TRIED).map(|place| place * (count - 1) / (TRIED - 1)).collect(),
    }
}

#[test]
fn one_refusal_among_hundreds_of_changes_leaves_everything_as_it_was() {
    let large = Large::new();
    let (before, count) = (large.scene.files(), large.changes());
    for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
        for at in tried(count) {
            let told = format!("change {at} of {count}: {fault:?}");
            let jammed = FaultInjector::once(large.scene.disk(), at, fault);
            let refused = large.scene.apply(large.steps.clone(), &jammed);
            assert!(refused.is_err(), "{told}");
            assert_eq!(large.scene.files(), before, "{told}: {refused:?}");
            // A journal that could not be closed leaves something to undo.
            assert_eq!(large.scene.undo(), Ok(true), "{told}");
            assert!(!large.scene.is_applied() && large.scene.files() == before, "{told}");
        }
    }
}

#[test]
fn killed_among_hundreds_of_changes_the_plan_can_be_undone() {
    let large = Large::new();
    let (before, count) = (large.scene.files(), large.changes());
    for fault in [InjectedFault::Kill, InjectedFault::KillTorn] {
        for at in tried(count) {
            let told = format!("change {at} of {count}: {fault:?}");
            large.kill(fault, at);
            assert_eq!(large.scene.undo(), Ok(true), "{told}");
            assert!(!large.scene.is_applied(), "{told}");
            assert_eq!(large.scene.files(), before, "{told}");
        }
    }
}

/// Runs as a child that dies at a change, if the parent asks for that; otherwise runs the test.
#[test]
fn a_child_applies_the_plan() {
    let (Ok(place), Ok(death)) = (env::var(PLACE), env::var(DEATH)) else {
        assert!(Large::new().changes() > 3 * 100);
        return;
    };
    let (scene, steps) = look(Path::new(&place));
    let (fault, at) = death.split_once(' ').expect("two words");
    let fault = if fault == "Kill" { InjectedFault::Kill } else { InjectedFault::KillTorn };
    let jammed = FaultInjector::once(scene.disk(), at.parse().expect("a number"), fault);
    scene.apply(steps, &jammed).expect("it is applied or killed");
}
