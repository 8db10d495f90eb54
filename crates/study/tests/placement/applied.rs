//! A plan is admitted unchanged, applied, and taken back, on the files of the host it was made for.

use super::{GOALS, all, picture, planned};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use warmcore_linux::Inventory;
use warmcore_linux::tuning::{
    Admission, Directory, Disk, Plan, admit, apply, changes, rivals, rivals::Hand, steps, undo,
};
use warmcore_study::placement::Placement;

/// Lines of a plan that is applied: each change is forced to the disk.
const LINES: usize = 80;

/// What stands in every file below `folder`.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let text = fs::read(&path).expect("a file");
            files.insert(path, text);
        }
    }
    files
}

/// The host below `place`, with its plan as it is written, applied and taken back.
fn try_out(told: &str, place: &TempDir, picture: &Inventory, placement: &Placement) {
    let root = place.path().join("root");
    let before = files(&root);
    let text = toml::to_string(&placement.plan).expect("a plan is a document");
    let plan: Plan = toml::from_str(&text).expect("a document is a plan");
    assert_eq!(plan, placement.plan, "{told}");
    let disk = Disk::below(&root);
    let despite = rivals::of_picture(&plan, picture).into_iter().filter_map(|hand| match hand {
        Hand::Undoes(rival) => Some(rival.name.to_owned()),
        _ => None,
    });
    let admission = Admission { partial: false, despite: despite.collect() };
    admit(&plan, &disk, &admission).unwrap_or_else(|error| panic!("{told}: {error}"));
    let steps = changes(steps(&plan, &disk).unwrap_or_else(|error| panic!("{told}: {error}")));
    assert!(!steps.is_empty(), "{told}");

    let journals = Directory::at(place.path().join("journals"));
    let journal = journals.begin(&disk, steps, false).expect("a journal");
    apply(journal, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{told}: {error}"));
    assert_ne!(files(&root), before, "{told}");
    let journal = journals.open(&disk, false).expect("a journal").expect("a plan that is applied");
    assert!(undo(journal, false).expect("it is undone").is_complete(), "{told}");
    assert_eq!(files(&root), before, "{told}");
}

#[test]
fn every_plan_is_admitted_as_it_is_written_applied_and_taken_back() {
    let mut applied = 0;
    for host in all() {
        let picture = picture(host.tree.clone());
        let plans = GOALS.map(|goal| (goal, planned(&picture, &host.subject, goal)));
        let plans = plans.into_iter().filter_map(|(goal, plan)| Some((goal, plan.ok()?)));
        let mut plans = plans.filter(|(_, plan)| plan.lines.len() <= LINES).peekable();
        if plans.peek().is_none() {
            continue;
        }
        let place = tempfile::tempdir().expect("a temporary folder");
        host.tree.write_to(&place.path().join("root")).expect("a tree can be written");
        for (goal, placement) in plans {
            try_out(&format!("{} for {goal}", host.name), &place, &picture, &placement);
            applied += 1;
        }
    }
    assert!(applied >= 15, "{applied} plans");
}
