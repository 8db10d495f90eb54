//! A path of a program that knows nothing of this, traced, ordered, linked again and measured.

mod program;
mod refused;

use crate::transfer::{are_gone, children, ended, signal, start};
use crate::{text, warmcore};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What a command prints that must succeed.
fn printed(arguments: &[&str], folder: &Path) -> String {
    let output = warmcore(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A folder with the program `before` in C, and its path in `path.trace`.
fn traced() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    program::c(folder.path(), "before", &[]);
    printed(&trace("receive", "done"), folder.path());
    folder
}

fn trace<'a>(from: &'a str, to: &'a str) -> [&'a str; 12] {
    [
        "layout",
        "trace",
        "--from",
        from,
        "--to",
        to,
        "--passes",
        "3",
        "--output",
        "path.trace",
        "--",
        "./before",
    ]
}

/// The functions of the path in the order of their addresses, as `nm` has them.
fn laid_out(program: &Path) -> Vec<String> {
    let output = Command::new("nm").arg("-n").arg(program).output().expect("nm is there");
    let path = ["receive", "parse", "look_up", "reply", "mix"];
    let symbols = text(&output.stdout);
    let symbols = symbols.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned);
    symbols
        .filter(|symbol| {
            path.iter().any(|name| symbol == name || symbol.contains(&format!("request{}{name}", name.len())))
        })
        .collect()
}

#[test]
fn a_path_is_traced_ordered_linked_and_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    let before = program::rust(path, "before", &[]);
    let said = printed(&trace("request::receive", "request::done"), path);
    for words in [
        "instructions of 6 functions",
        "median length of 3 passes",
        "request::look_up",
        "The trace: path.trace",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let order = ["layout", "order", "path.trace", "--strategy", "linear", "--output", "order.txt"];
    let said = printed(&order, path);
    for words in [
        "as it lies",
        "linear",
        "pettis-hansen",
        "Written: linear",
        "-C link-arg=-Wl,--symbol-ordering-file=/",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let list = fs::read_to_string(path.join("order.txt")).expect("a list");
    let flag = format!("-Clink-arg=-Wl,--symbol-ordering-file={}", path.join("order.txt").display());
    let after = program::rust(path, "after", &["-Clink-arg=-fuse-ld=lld", &flag]);
    let wanted: Vec<&str> = list.lines().filter(|symbol| !symbol.contains("main")).collect();
    assert_eq!(wanted.len(), 5, "{list}");
    assert!(wanted[0].contains("receive") && wanted[1].contains("mix"), "by first invocation: {list}");
    assert_eq!(laid_out(&after), wanted);
    assert_ne!(laid_out(&before), wanted);

    let measure = ["layout", "measure", "--before", "./before", "--after", "./after", "--blocks", "3"];
    let said = printed(&measure, path);
    for words in
        ["before again (A/A)", "% [", "whose ratio is the change; changes with 95% intervals; less is better"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn every_linker_obeys_its_form() {
    let folder = traced();
    let path = folder.path();
    let order = |linker: &str, file: &str| {
        printed(&["layout", "order", "path.trace", "--strategy", "linear", "--for", linker, "-o", file], path)
    };
    let wanted = ["receive", "mix", "parse", "look_up", "reply"];
    order("gold", "gold.txt");
    let after = program::c(path, "by-gold", &["-fuse-ld=gold", "-Wl,--section-ordering-file=gold.txt"]);
    assert_eq!(laid_out(&after), wanted);

    let said = order("script", "part.ld");
    assert!(said.contains(".text : ALIGN(0x200000)"), "{said}");
    let part = fs::read_to_string(path.join("part.ld")).expect("a part of a script");
    let whole = Command::new("ld").args(["--verbose", "-pie"]).output().expect("ld is there");
    let whole = text(&whole.stdout);
    let whole = whole.split("==================================================").nth(1).expect("a script");
    let (head, tail) = whole.split_once(".text           :\n  {\n").expect("code");
    fs::write(path.join("full.ld"), format!("{head}.text : ALIGN(0x1000)\n  {{\n{part}{tail}"))
        .expect("a script");
    let after = program::c(path, "by-ld", &["-fuse-ld=bfd", "-Wl,-T,full.ld"]);
    assert_eq!(laid_out(&after), wanted);
}

#[test]
fn objects_say_which_functions_have_a_section() {
    let folder = traced();
    let path = folder.path();
    program::c(path, "request.o", &["-c"]);
    let order = ["layout", "order", "path.trace", "--object", "request.o", "-o", "order.txt"];
    let said = printed(&order, path);
    assert!(!said.contains("taken to have a section"), "{said}");
    let list = fs::read_to_string(path.join("order.txt")).expect("a list");
    assert_eq!(list.lines().count(), 6, "with main: {list}");
    // In one section together no linker can move them.
    program::c(path, "together.o", &["-c", "-fno-function-sections"]);
    let order = ["layout", "order", "path.trace", "--object", "together.o", "-o", "none.txt"];
    let error = crate::refusal(&order, path);
    assert!(error.contains("compile with -ffunction-sections"), "{error}");
}

#[test]
fn a_path_is_simulated_on_every_machine_and_from_every_start() {
    let folder = traced();
    let simulate = |machine: &str, start: &str| {
        let flags = ["layout", "simulate", "path.trace", "--machine", machine, "--start", start, "--json"];
        serde_json::from_str::<Value>(&printed(&flags, folder.path())).expect("one JSON object")
    };
    for machine in ["this", "dec-3000-600", "three-levels"] {
        let cold = simulate(machine, "cold");
        let near = simulate(machine, "nearest-cold");
        let steady = simulate(machine, "steady");
        let misses = |object: &Value| object["columns"][0]["misses"].as_u64().expect("a count");
        assert!(misses(&cold) == misses(&near) && misses(&near) > 0, "{machine}: {cold} {near}");
        assert!(misses(&steady) == 0, "{machine}: all of it fits: {steady}");
        let cycles = |object: &Value| object["mcpi"].as_f64().expect("a figure");
        assert!(cycles(&cold) > cycles(&near) && cycles(&near) > cycles(&steady), "{machine}");
        assert_eq!(cold["schema"], 2);
        assert!(cold["assumptions"][0].as_str().expect("a sentence").contains("assumed, not measured"));
    }
    let said = printed(&["layout", "simulate", "path.trace"], folder.path());
    assert!(said.contains("waits, cycles") && said.contains("look_up"), "{said}");
}

#[test]
fn a_page_has_every_order() {
    let folder = traced();
    let simulate = ["layout", "simulate", "path.trace", "--output", "page", "--random-orders", "2"];
    let said = printed(&simulate, folder.path());
    assert!(said.contains("The page: page/report.html"), "{said}");
    let page = fs::read_to_string(folder.path().join("page/report.html")).expect("a page");
    assert!(page.contains("look_up") && page.contains("bipartite"), "every order is in it");
    let figures = fs::read(folder.path().join("page/figures.json")).expect("figures");
    let figures: Value = serde_json::from_slice(&figures).expect("one JSON object");
    assert_eq!(
        (&figures["path"], figures["layouts"].as_array().map(Vec::len)),
        (&Value::from("path"), Some(7))
    );
    let error = crate::refusal(&simulate, folder.path());
    assert!(error.contains("exists already: give --force"), "{error}");
    printed(&[&simulate[..], &["--force"]].concat(), folder.path());
}

#[test]
fn a_number_that_programs_print_is_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let measure = |flags: &[&str]| {
        let before = "sh -c 'echo latency 20.$$ us'";
        let after = "sh -c 'echo latency 10.$$ us'";
        let fixed = ["--before", before, "--after", after, "--read", "last-number", "--blocks", "4"];
        printed(&[&["layout", "measure"][..], &fixed, flags].concat(), folder.path())
    };
    let better = measure(&[]);
    assert!(better.contains("After is better: ") && better.contains("less than before"), "{better}");
    assert!(measure(&["--more-is-better"]).contains("After is worse: "));
}

#[test]
fn what_valgrind_traced_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    program::c(path, "before", &["-no-pie"]);
    let status = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes", "--log-file=lackey.txt", "./before"])
        .current_dir(path)
        .output()
        .expect("valgrind is there");
    assert!(status.status.success(), "{}", text(&status.stderr));
    let flags = [
        "--from",
        "receive",
        "--to",
        "done",
        "--lackey",
        "lackey.txt",
        "-o",
        "lackey.trace",
        "--",
        "./before",
    ];
    let by_valgrind = printed(&[&["layout", "trace"][..], &flags].concat(), path);
    let by_steps = printed(&trace("receive", "done"), path);
    let head = |said: &str| said.lines().next().expect("a line").to_owned();
    assert_eq!(head(&by_valgrind), head(&by_steps));
    printed(&["layout", "order", "lackey.trace", "-o", "order.txt"], path);
}

#[test]
fn no_program_outlives_an_interrupted_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("never.trace");
    let output = output.to_str().expect("a path");
    let sleep = ["--", "sleep", "1000"];
    let trace =
        [&["layout", "trace", "--from", "exit", "--to", "exit", "--output", output][..], &sleep].concat();
    let measure = vec!["layout", "measure", "--before", "sleep 1000", "--after", "true"];
    for arguments in [trace, measure] {
        let child = start(&arguments);
        let programs = children(child.id(), 1);
        signal("-INT", child.id());
        let (status, said) = ended(child);
        assert_eq!(status, Some(130), "{arguments:?}: {said}");
        are_gone(&programs);
    }
    assert!(!fs::exists(output).expect("a folder"), "nothing was traced");
}
