//! The program that the tests step, compiled once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// An executable at fixed addresses.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) path: PathBuf,
    symbols: HashMap<String, u64>,
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the C compiler and its tools are installed");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Compiled {
    pub(crate) fn program() -> &'static Self {
        static PROGRAM: OnceLock<Compiled> = OnceLock::new();
        PROGRAM.get_or_init(|| {
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stepping/program.c");
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stepped-program");
            run(Command::new("cc").args(["-O1", "-no-pie", "-pthread", "-o"]).arg(&path).arg(source));
            let names = run(Command::new("nm").arg(&path));
            let symbol = |line: &str| {
                let mut words = line.split(' ');
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                Some((words.nth(1)?.to_owned(), address))
            };
            Self { symbols: names.lines().filter_map(symbol).collect(), path }
        })
    }

    pub(crate) fn address(&self, name: &str) -> u64 {
        self.symbols[name]
    }
}
