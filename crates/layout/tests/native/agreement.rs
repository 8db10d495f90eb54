//! Two tracers that share nothing see the same path: single steps with our decoder, and valgrind's lackey.

use crate::compiled::compile;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};
use warmcore_cachesim::Kind;
use warmcore_layout::lackey::{self, Between};
use warmcore_layout::native::{self, Request};
use warmcore_layout::program::{Marker, Program};
use warmcore_layout::trace::Trace;
use warmcore_linux::StopPoint;
use warmcore_linux::stepping::{End, Launch};

/// Everything of a static program but its stacks lies below.
const STACKS: u64 = 1 << 32;

fn under_lackey(folder: &Path, program: &Path, between: Between) -> Vec<Trace> {
    let output = folder.join("lackey");
    let status = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes"])
        .arg(format!("--log-file={}", output.display()))
        .arg(program)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("valgrind runs: `scripts/install-test-tools` installs it");
    assert!(status.success(), "{status}");
    lackey::read(BufReader::new(File::open(output).unwrap()), Vec::new(), Some(between), 2).unwrap()
}

/// Where instructions lie, each repeated one once: lackey shows it once for each element, and once when there is no more.
fn instructions(trace: &Trace) -> Vec<(u64, u8)> {
    let mut instructions: Vec<(u64, u8)> =
        trace.steps().map(|step| (step.instruction.address, step.instruction.length)).collect();
    instructions.dedup();
    instructions
}

/// Data in order; those on the stack relative to the first of them.
fn data(trace: &Trace) -> Vec<(Kind, u64, u16)> {
    let all = || trace.steps().flat_map(|step| step.accesses);
    let first = all().find(|access| access.address > STACKS).expect("a call").address;
    let relative = |address: u64| if address > STACKS { address.wrapping_sub(first) } else { address };
    all().map(|access| (access.kind, relative(access.address), access.size)).collect()
}

#[test]
fn single_steps_and_lackey_agree() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "work.c", &["-O1", "-static", "-no-pie"]);
    let marker = |name: &str| name.parse::<Marker>().unwrap();
    let traced = native::trace(&Request {
        launch: Launch::new([&program]),
        first: marker("begin"),
        last: marker("finish"),
        passes: 2,
        finish: true,
    });
    let traced = traced.unwrap();
    assert_eq!(traced.end, Some(End::Exited(0)));

    let symbols = Program::read(&program).unwrap();
    let address = |name: &str| match symbols.place(&marker(name)) {
        Ok(StopPoint::Execute(address)) => address,
        other => panic!("{other:?}"),
    };
    let between = Between { first: address("begin"), last: address("finish") };
    let expected = under_lackey(folder.path(), &program, between);
    assert_eq!((traced.paths.len(), expected.len()), (2, 2));
    for (path, expected) in traced.paths.iter().zip(&expected) {
        assert!(path.steps().len() > 500, "{}", path.steps().len());
        assert_eq!(instructions(path), instructions(expected));
        assert_eq!(data(path), data(expected));
    }
}
