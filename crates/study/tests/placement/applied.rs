//! A plan is admitted unchanged, applied, and taken back, on the files of the host it was made for.

use super::plans;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use warmcore_linux::tuning::{
    Admission, Directory, Disk, Plan, admit, apply, changes, rivals, rivals::Hand, steps, undo,
};

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

#[test]
fn every_plan_is_admitted_as_it_is_written_applied_and_taken_back() {
    let mut applied = 0;
    for (host, picture, goal, placement) in plans() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let root = place.path().join("root");
        host.tree.write_to(&root).expect("a tree can be written");
        let before = files(&root);

        let text = toml::to_string(&placement.plan).expect("a plan is a document");
        let plan: Plan = toml::from_str(&text).expect("a document is a plan");
        assert_eq!(plan, placement.plan, "{}", host.name);
        let disk = Disk::below(&root);
        let despite = rivals::of_picture(&plan, &picture).into_iter().filter_map(|hand| match hand {
            Hand::Undoes(rival) => Some(rival.name.to_owned()),
            _ => None,
        });
        let admission = Admission { partial: false, despite: despite.collect() };
        let told = |error: &dyn std::fmt::Display| format!("{} for {goal}: {error}", host.name);
        admit(&plan, &disk, &admission).unwrap_or_else(|error| panic!("{}", told(&error)));
        let steps = changes(steps(&plan, &disk).unwrap_or_else(|error| panic!("{}", told(&error))));
        assert!(!steps.is_empty(), "{} for {goal}", host.name);

        let journals = Directory::at(place.path().join("journals"));
        let journal = journals.begin(&disk, steps, false).expect("a journal");
        apply(journal, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{}", told(&error)));
        assert_ne!(files(&root), before, "{} for {goal}", host.name);
        let journal = journals.open(&disk, false).expect("a journal").expect("a plan that is applied");
        assert!(undo(journal, false).expect("it is undone").is_complete());
        assert_eq!(files(&root), before, "{} for {goal}", host.name);
        applied += 1;
    }
    assert!(applied >= 20, "{applied} plans");
}
