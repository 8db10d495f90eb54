//! Markers by name, in programs with and without names.

use crate::compiled::compile;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use warmcore_layout::native::{self, NativeError, Request, Traced};
use warmcore_layout::program::Program;
use warmcore_layout::trace::Trace;
use warmcore_linux::stepping::{End, Launch, SteppingError};

fn trace(options: &[&str], first: &str, last: &str) -> Result<Traced, NativeError> {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "work.c", options);
    native::trace(&Request {
        launch: Launch::new([&program]),
        first: first.parse()?,
        last: last.parse()?,
        passes: 1,
        finish: false,
    })
}

fn refused(options: &[&str], first: &str, last: &str) -> String {
    trace(options, first, last).unwrap_err().to_string()
}

#[test]
fn functions_of_a_program_that_may_lie_anywhere_are_found() {
    let traced = trace(&["-O1", "-pie", "-fPIE"], "begin", "finish").unwrap();
    let path = &traced.paths[0];
    let first = path.steps().next().unwrap().instruction;
    let begin = path.function_at(first.address).map(|index| &path.functions()[index]).unwrap();
    assert_eq!((begin.name.as_str(), begin.address), ("begin", first.address));
}

#[test]
fn offsets_and_functions_of_libraries_are_markers() {
    let path = |first: &str, last: &str| trace(&["-O1"], first, last).unwrap().paths.remove(0);
    let whole = path("begin", "finish");
    let second =
        whole.steps().nth(1).unwrap().instruction.address - whole.steps().next().unwrap().instruction.address;
    let rest = path(&format!("begin+{second:#x}"), "finish");
    assert_eq!(rest.steps().len() + 1, whole.steps().len());
    let to_exit = path("begin", "exit");
    assert!(to_exit.steps().len() > 2 * whole.steps().len(), "main returns to the C library");
    let has = |path: &Trace, name: &str| path.functions().iter().any(|function| function.symbol == name);
    assert!(
        has(&to_exit, "malloc") && !has(&whole, "malloc"),
        "libraries that the path enters have their functions"
    );
}

/// A breakpoint within an instruction would change what the program computes.
#[test]
fn an_offset_within_an_instruction_is_refused() {
    let whole = trace(&["-O1"], "begin", "finish").unwrap().paths.remove(0);
    let starts: Vec<u64> = whole.steps().take(3).map(|step| step.instruction.address).collect();
    let (first, second) = (starts[1] - starts[0], starts[2] - starts[0]);
    assert!(second > first + 1, "the compiler has chosen a longer instruction: {starts:x?}");
    let error = refused(&["-O1"], &format!("begin+{:#x}", first + 1), "finish");
    let problem = format!("no instruction begins: one begins at +{first:#x} and the next at +{second:#x}");
    assert!(error.contains(&problem), "{error}");
}

#[test]
fn addresses_of_the_file_are_markers() {
    let options = &["-O1", "-pie", "-fPIE"][..];
    let by_name = trace(options, "begin", "finish").unwrap().paths.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let program = Program::read(&compile(folder.path(), "cc", "work.c", options)).unwrap();
    let functions = program.functions(0);
    let begin = functions.iter().find(|function| function.name == "begin").unwrap().address;
    for first in [format!("{begin:#x}"), format!("begin@{begin:#x}")] {
        let path = trace(options, &first, "finish").unwrap().paths.remove(0);
        assert_eq!(path.steps().len(), by_name.steps().len(), "{first}");
    }
    let error = refused(options, "0x10", "finish");
    assert!(error.contains("has no code at 0x10"), "{error}");
    let error = refused(options, "begin@0x10", "finish");
    assert!(error.contains(&format!("no function `begin` at 0x10, but at `{begin:#x}`")), "{error}");
    let lengths: Vec<u64> = by_name.steps().take(2).map(|step| u64::from(step.instruction.length)).collect();
    assert!(lengths[1] > 1, "the compiler has chosen a longer instruction: {lengths:?}");
    let error = refused(options, &format!("{:#x}", begin + lengths[0] + 1), "finish");
    assert!(error.contains("no instruction begins"), "{error}");
}

#[test]
fn a_program_that_ends_early_leaves_the_paths_that_are_whole() {
    let passes = |first: &str, finish| {
        let folder = tempfile::tempdir().unwrap();
        let program = compile(folder.path(), "cc", "work.c", &["-O1"]);
        let (first, last) = (first.parse().unwrap(), "finish".parse().unwrap());
        native::trace(&Request { launch: Launch::new([&program]), first, last, passes: 100, finish })
    };
    for finish in [false, true] {
        let traced = passes("begin", finish).unwrap();
        assert_eq!((traced.paths.len(), traced.times.len(), traced.end), (2, 2, Some(End::Exited(0))));
        assert!(traced.times.iter().all(|time| !time.is_zero()), "{:?}", traced.times);
    }
    // The last one is not whole.
    let traced = passes("finish", false).unwrap();
    assert_eq!((traced.paths.len(), traced.end), (1, Some(End::Exited(0))));
}

#[test]
fn paths_of_programs_may_have_any_bytes() {
    for name in [&b"caf\xe9"[..], b"a\nb", b"a\\012b"] {
        let folder = tempfile::tempdir().unwrap();
        let compiled = compile(folder.path(), "cc", "work.c", &["-O1"]);
        let program = folder.path().join(OsStr::from_bytes(name));
        std::fs::rename(compiled, &program).unwrap();
        let (first, last) = ("begin".parse().unwrap(), "finish".parse().unwrap());
        let request = Request { launch: Launch::new([&program]), first, last, passes: 1, finish: false };
        let traced = native::trace(&request).unwrap();
        assert!(traced.paths[0].functions().iter().any(|function| function.name == "begin"), "{program:?}");
    }
}

#[test]
fn a_store_is_a_marker_where_the_processor_watches_it() {
    match trace(&["-O1"], "begin", "store:requests") {
        Ok(traced) => {
            let path = &traced.paths[0];
            let last = path.steps().last().unwrap();
            let function = path.function_at(last.instruction.address).unwrap();
            assert_eq!(path.functions()[function].name, "count");
            assert_eq!(last.accesses.last().map(|access| access.size), Some(8));
        }
        Err(NativeError::Stepping(error @ SteppingError::NotWatched { .. })) => {
            eprintln!("not checked: {error}");
        }
        Err(error) => panic!("{error}"),
    }
    assert!(refused(&["-O1"], "begin", "store:counts").contains("`counts` has 64 bytes"));
}

#[test]
fn names_that_are_not_there_are_explained() {
    let error = refused(&["-O1"], "begin", "finsh");
    assert!(error.contains("no function `finsh`; nearest: `finish`"), "{error}");
    let error = refused(&["-O1", "-s"], "begin", "finish");
    assert!(error.contains("has no symbols, so `begin` cannot be found"), "{error}");
    let error = refused(&["-O1"], "begin+0x10000", "finish");
    assert!(error.contains("an offset of 0x10000 is not within it"), "{error}");
    let error = refused(&["-O1"], "finish", "_start");
    assert!(error.contains("before the first and not after it"), "{error}");
    let script = Program::parse("run.sh", b"#!/bin/sh\n").unwrap_err().to_string();
    assert!(script.contains("give an ELF file for x86-64, not a script"), "{script}");
}

/// Each byte of the headers and of the symbols in turn: a program is whole, or refused.
#[test]
fn damaged_programs_are_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "work.c", &["-O1"]);
    let whole = std::fs::read(program).unwrap();
    let read = |bytes: &[u8]| {
        Program::parse("damaged", bytes).map(|program| (program.functions(1), program.bias(0, 1)))
    };
    let functions = read(&whole).unwrap().0;
    assert!(functions.iter().any(|function| function.name == "begin"));
    for length in (0..whole.len()).step_by(97) {
        let _ = read(&whole[..length]);
    }
    let mut damaged = whole.clone();
    for index in (0..1024).chain((1024..whole.len()).step_by(7)) {
        for damage in [0x01, 0x80, 0xff] {
            damaged[index] ^= damage;
            let _ = read(&damaged);
            damaged[index] = whole[index];
        }
    }
}
