//! Kills the process with SIGKILL before and in the middle of every single change. The killed process is
//! this test program, started again as a child.

use crate::faults::changes;
use crate::scene::Scene;
use std::env;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use warmcore_linux::fake::{FaultInjector, InjectedFault};

/// Environment variables for the child: the directory of its machine, and at which change it is killed.
const DIRECTORY: &str = "WARMCORE_TEST_DIRECTORY";
const KILL_AT: &str = "WARMCORE_TEST_KILL_AT";

const FAULTS: [InjectedFault; 2] = [InjectedFault::Kill, InjectedFault::KillTorn];

/// Applies and undoes the plan. In a child process, runs until it is killed at the requested change.
#[test]
fn a_plan_is_applied_and_undone() {
    let (Ok(directory), Ok(kill_at)) = (env::var(DIRECTORY), env::var(KILL_AT)) else {
        let scene = Scene::new();
        let before = scene.snapshot();
        scene.apply_through(&scene.disk()).unwrap();
        assert_ne!(scene.snapshot(), before);
        return scene.assert_restorable(&before, "not killed");
    };
    let scene = Scene::at(Path::new(&directory));
    let mut words = kill_at.split(' ');
    let (task, fault, at) = (words.next(), words.next(), words.next());
    let fault = FAULTS.into_iter().find(|of| Some(format!("{of:?}").as_str()) == fault).unwrap();
    let injector = FaultInjector::once(scene.disk(), at.unwrap().parse().unwrap(), fault);
    match task {
        Some("apply") => scene.apply_through(&injector).unwrap(),
        _ => drop(scene.undo_through(&injector, false).unwrap()),
    }
}

/// Runs the child; panics unless it was killed.
fn kill(scene: &Scene, task: &str, fault: InjectedFault, at: usize) {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::a_plan_is_applied_and_undone"])
        .env(DIRECTORY, scene.directory())
        .env(KILL_AT, format!("{task} {fault:?} {at}"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "{task} {fault:?} {at}: {errors}");
}

#[test]
fn a_plan_killed_at_any_change_can_be_undone() {
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
fn an_undo_killed_at_any_change_can_be_repeated() {
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
