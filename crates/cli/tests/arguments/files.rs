//! Files that are none, or have no end: every reader refuses them in the same words.

use crate::{failure, folder_with, names, refusal, scenario};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// By the name that it has here: what leads a reader astray, and how that is said.
const ASTRAY: [(&str, &str); 5] = [
    ("/dev/zero", "it is a device, expected a regular file"),
    ("folder", "it is a directory, expected a regular file"),
    ("pipe", "it is a pipe, expected a regular file"),
    ("endless", "bytes, the most that can be read"),
    ("latin", "it is not UTF-8 text: the byte at offset 5 is 0xe9"),
];

/// Options and arguments that name a document.
const DOCUMENTS: [&[&str]; 14] = [
    &["study", "--profile"],
    &["study", "--scenario"],
    &["simulate", "packet", "--rate", "100", "--profile"],
    &["simulate", "packet", "--scenario"],
    &["sweep", "packet", "--loads", "0.5", "--profile"],
    &["sweep", "packet", "--scenario"],
    &["run", "--policy", "adaptive", "--profile"],
    &["run", "--scenario"],
    &["compare", "--profile"],
    &["compare", "--scenario"],
    &["reproduce", "salehi-1994", "--profile"],
    &["host", "plan", "--profile"],
    &["host", "apply"],
    &["host", "persist"],
];

fn lay_out(path: &Path) {
    fs::create_dir(path.join("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().expect("mkfifo is there").success());
    // It takes no room on the disk.
    File::create(path.join("endless")).unwrap().set_len(1 << 40).unwrap();
    fs::write(path.join("latin"), b"# caf\xe9\n").unwrap();
}

#[test]
fn what_is_no_document_is_refused_by_every_reader() {
    let (_folder, path) = folder_with("");
    lay_out(&path);
    let before = names(&path);
    for words in DOCUMENTS {
        for (file, problem) in ASTRAY {
            let error = refusal(&[words, &[file]].concat(), &path);
            assert!(error.contains(file) && error.contains(problem), "{words:?} {file}: {error}");
        }
        assert_eq!(names(&path), before, "{words:?}: nothing is left");
    }
}

#[test]
fn what_is_no_capture_or_journal_is_refused() {
    let (_folder, path) = folder_with("");
    lay_out(&path);
    for (file, problem) in &ASTRAY[..4] {
        for words in
            [&["simulate", "packet"][..], &["sweep", "packet", "--loads", "0.5"], &["run"], &["compare"]]
        {
            let error = refusal(&[words, &["--trace", file]].concat(), &path);
            assert!(error.contains(file) && error.contains(problem), "{words:?} {file}: {error}");
        }
    }
    for (file, problem) in &ASTRAY[1..4] {
        let out = path.join("results");
        fs::create_dir_all(&out).unwrap();
        fs::rename(path.join(file), out.join("points.journal")).unwrap();
        let error = refusal(&["sweep", "packet", "--rates", "100", "--resume"], &path);
        assert!(error.contains("points.journal") && error.contains(problem), "{file}: {error}");
        fs::rename(out.join("points.journal"), path.join(file)).unwrap();
    }
    fs::create_dir(path.join("state")).unwrap();
    fs::rename(path.join("pipe"), path.join("state/active.journal")).unwrap();
    let error = failure(&["host", "undo", "--journal", "state"], &path);
    assert!(error.contains("active.journal") && error.contains("it is a pipe"), "{error}");
}

#[test]
fn a_study_that_cannot_be_made_leaves_no_folder() {
    let (_folder, path) = folder_with(&scenario("nowhere.toml", "[100.0]"));
    fs::write(path.join("wrong.toml"), "seed = \"one\"\n").unwrap();
    for words in [
        &["study", "--scenario", "mine.toml"][..],
        &["study", "--scenario", "wrong.toml"],
        &["study", "--processors", "0"],
        &["study", "--profile", "wrong.toml"],
        &["compare", "--scenario", "wrong.toml"],
        &["compare", "--profile", "wrong.toml"],
        &["reproduce", "salehi-1994", "--profile", "wrong.toml"],
        &["sweep", "packet", "--scenario", "wrong.toml"],
    ] {
        refusal(words, &path);
        assert_eq!(names(&path), ["mine.toml", "wrong.toml"], "{words:?}");
    }
}
