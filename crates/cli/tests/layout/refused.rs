//! What cannot be traced, ordered, simulated or measured, and how that is said.

use super::{printed, program, trace, traced};
use crate::{failure, names, refusal};
use std::fs;
use std::process::Command;

#[test]
fn files_that_are_no_traces_are_refused() {
    let folder = traced();
    let path = folder.path();
    let whole = fs::read(path.join("path.trace")).expect("a trace");
    fs::write(path.join("cut.trace"), &whole[..whole.len() - 5]).expect("a file");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(path.join("changed.trace"), changed).expect("a file");
    fs::write(path.join("text"), "receive\n").expect("a file");
    let before = names(path);
    for (file, problem) in [
        ("none.trace", "none.trace: No such file"),
        ("cut.trace", "cut.trace: the trace ends at offset"),
        ("changed.trace", "changed.trace: "),
        ("text", "text: it is no trace; expected one to begin with `WARMTRC`"),
        (".", "it is a directory, expected a regular file"),
    ] {
        for command in [&["layout", "simulate", file][..], &["layout", "order", file, "-o", "order.txt"]] {
            let error = refusal(command, path);
            assert!(error.contains(problem), "{file}: {error}");
        }
    }
    assert_eq!(names(path), before);
}

#[test]
fn outputs_are_not_overwritten_and_inputs_never() {
    let folder = traced();
    let path = folder.path();
    let error = refusal(&trace("receive", "done"), path);
    assert!(error.contains("`path.trace` exists already: give --force"), "{error}");
    let order = ["layout", "order", "path.trace", "--force", "-o"];
    let error = refusal(&[&order[..], &["./path.trace"]].concat(), path);
    assert!(error.contains("--output is path.trace, which is read"), "{error}");
    let over =
        ["layout", "trace", "--from", "receive", "--to", "done", "--force", "-o", "before", "--", "./before"];
    assert!(refusal(&over, path).contains("--output is ./before, which is read"));
    let named = [&over[..over.len() - 1], &["before"]].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_warmcore"))
        .args(named)
        .current_dir(path)
        .env("PATH", path)
        .output()
        .expect("warmcore runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("which is read"), "found by PATH: {error}");
    printed(&[&order[..], &["order.txt"]].concat(), path);
    printed(&[&order[..], &["order.txt"]].concat(), path);
    let error = refusal(&["layout", "order", "path.trace", "-o", "none/order.txt"], path);
    assert!(error.contains("there is no directory `none`"), "{error}");
}

#[test]
fn impossible_machines_are_refused_by_their_flags() {
    let folder = traced();
    for (flags, problem) in [
        (&["--latencies", "50,4,250"][..], "latency is 4 cycles, expected at least 50"),
        (&["--latencies", "50,4"], "memory is 4"),
        (&["--latencies", "4"], "expected those of at least one level of caches, and memory last"),
        (&["--latencies", "1,2,3,4,5", "--machine", "three-levels"], "5 are given, expected 4 for "),
        (&["--latencies", "0,1"], "expected a whole number from 1 to 1000000"),
        (&["--machine", "cray"], "--machine"),
        (&["--start", "warm"], "--start"),
    ] {
        let error = refusal(&[&["layout", "simulate", "path.trace"][..], flags].concat(), folder.path());
        assert!(error.contains(problem), "{flags:?}: {error}");
    }
}

#[test]
fn markers_and_programs_are_refused_with_what_would_do() {
    let folder = traced();
    let path = folder.path();
    fs::remove_file(path.join("path.trace")).expect("a trace");
    for (from, to, problem) in [
        ("recieve", "done", "has no function `recieve`; nearest: `receive`"),
        ("receive", "dome", "has no function `dome`; nearest: `done`"),
        ("store:", "done", "is no marker: write the name of a function"),
    ] {
        let error = refusal(&trace(from, to), path);
        assert!(error.contains(problem), "{error}");
    }
    let error = failure(&trace("_fini", "done"), path);
    assert!(error.contains("reached the second marker") && error.contains("before the first"), "{error}");
    let error = failure(&trace("done", "main"), path);
    assert!(error.contains("second marker"), "{error}");
    program::c(path, "before", &["-s"]);
    let error = refusal(&trace("receive", "done"), path);
    assert!(error.contains("has no symbols, so `receive` cannot be found"), "{error}");
    fs::remove_file(path.join("before")).expect("a program");
    assert!(refusal(&trace("receive", "done"), path).contains("there is no program `./before`"));
    assert!(!fs::exists(path.join("path.trace")).expect("a folder"));
}

#[test]
fn programs_that_cannot_be_compared_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let measure = |before, after, flags: &[&'static str]| {
        [&["layout", "measure", "--before", before, "--after", after][..], flags].concat()
    };
    let error = refusal(&measure("no-such-program", "true", &[]), folder.path());
    assert!(error.contains("--before") && error.contains("no-such-program"), "{error}");
    let error = refusal(&measure("true", "true", &["--more-is-better"]), folder.path());
    assert!(error.contains("a longer time is not better"), "{error}");
    assert!(refusal(&measure("true", "'open", &[]), folder.path()).contains("with quotes in pairs"));
    assert!(refusal(&measure("true", "true", &["--blocks", "1"]), folder.path()).contains("from 2 to 1000"));
    let error = failure(&measure("false", "true", &[]), folder.path());
    assert!(error.contains("`false` failed (exit status: 1)"), "{error}");
    let error = failure(&measure("sleep 1000", "true", &["--time-limit", "100ms"]), folder.path());
    assert!(error.contains("`sleep` did not end within 0.1 s"), "{error}");
    let error = failure(&measure("true", "true", &["--read", "last-number"]), folder.path());
    assert!(error.contains("printed no number above zero"), "{error}");
}
