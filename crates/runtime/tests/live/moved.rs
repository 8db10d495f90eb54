//! A worker whose affinity another program changes.

use super::numbered::Numbered;
use super::support::*;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use warmcore_runtime::Options;
use warmcore_runtime::run;
use warmcore_scenario::Scheduling;

/// Finds the thread id of a worker of this process by thread name.
fn thread_of(worker: u32) -> String {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let named = |task: &std::path::PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == format!("worker {worker}"))
    };
    let task = tasks.into_iter().find(named).expect("the worker is at work");
    task.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A worker that is moved to another processor reports it.
#[test]
fn a_worker_that_is_moved_is_noticed() {
    let _lock = lock_processors();
    let [first, second] = cpus()[..] else {
        println!("skipped: one cpu only, nowhere to move to");
        return;
    };
    if Command::new("taskset").arg("--version").output().is_err() {
        println!("skipped: needs taskset");
        return;
    }
    let one = options(Scheduling::default(), 2);
    let options = Options { cpus: vec![first], ..one };
    let seen = AtomicU32::new(0);
    let report = run(&options, &mut Numbered::new(2, 10), &flows(2), &ignoring, |watch| {
        assert_eq!(watch.totals()[0].moved, None);
        let moving = ["-c", "-p", &second.0.to_string(), &thread_of(0)].map(str::to_owned);
        let moved = Command::new("taskset").args(moving).output().unwrap();
        assert!(moved.status.success(), "{moved:?}");
        wait_until(watch, || watch.totals()[0].moved == Some(second));
        seen.store(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!((report.total().moved, seen.into_inner()), (Some(second), 1));
}
