//! The process is really killed, with SIGKILL, before and in every single change: a child
//! process that is this program again.

use crate::faults::changes;
use crate::scene::Scene;
use std::env;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use warmcore_linux::fake::{FaultInjector, InjectedFault};

/// Where the child finds its machine, and how it is to die.
const PLACE: &str = "WARMCORE_TEST_PLACE";
const DEATH: &str = "WARMCORE_TEST_DEATH";

const FAULTS: [InjectedFault; 2] = [InjectedFault::Kill, InjectedFault::KillTorn];

/// As what the parent wants it, a child that dies on its way; else the way itself.
#[test]
fn a_plan_is_applied_and_undone() {
    let (Ok(place), Ok(death)) = (env::var(PLACE), env::var(DEATH)) else {
        let scene = Scene::new();
        let before = scene.snapshot();
        scene.apply_through(&scene.disk()).unwrap();
        assert_ne!(scene.snapshot(), before);
        return scene.assert_restorable(&before, "unharmed");
    };
    let scene = Scene::at(Path::new(&place));
    let mut words = death.split(' ');
    let (task, fault, at) = (words.next(), words.next(), words.next());
    let fault = FAULTS.into_iter().find(|of| Some(format!("{of:?}").as_str()) == fault).unwrap();
    let jammed = FaultInjector::once(scene.disk(), at.unwrap().parse().unwrap(), fault);
    match task {
        Some("apply") => scene.apply_through(&jammed).unwrap(),
        _ => drop(scene.undo_through(&jammed, false).unwrap()),
    }
}

/// Runs the child; panics unless it was killed.
fn kill(scene: &Scene, task: &str, fault: InjectedFault, at: usize) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::a_plan_is_applied_and_undone"])
        .env(PLACE, scene.place())
        .env(DEATH, format!("{task} {fault:?} {at}"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "{task} {fault:?} {at}: {said}");
}

#[test]
fn killed_at_any_change_the_plan_can_be_undone() {
    let (count, _) = changes();
    for fault in FAULTS {
        for at in 0..count {
            let scene = Scene::new();
            let before = scene.snapshot();
            kill(&scene, "apply", fault, at);
            scene.assert_restorable(&before, &format!("change {at} of {count}: {fault:?}"));
        }
    }
}

#[test]
fn killed_at_any_change_of_an_undo_it_can_be_undone_again() {
    let (_, count) = changes();
    for fault in FAULTS {
        for at in 0..count {
            let scene = Scene::new();
            let before = scene.snapshot();
            scene.apply_through(&scene.disk()).unwrap();
            kill(&scene, "undo", fault, at);
            scene.assert_restorable(&before, &format!("change {at} of {count} of the undo: {fault:?}"));
        }
    }
}
