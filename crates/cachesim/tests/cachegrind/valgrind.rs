//! Programs under valgrind: their references by lackey, their misses by cachegrind.

use std::process::{Command, Stdio};
use warmcore_cachesim::{Kind, Reference};
use warmcore_topology::Geometry;

/// A program that does the same each time.
#[derive(Debug)]
pub(crate) struct Program {
    command: Vec<&'static str>,
}

/// References, misses of the first level and misses of the last, of fetches, loads and stores.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Summary(pub(crate) [[u64; 3]; 3]);

impl Program {
    pub(crate) fn new(command: &[&'static str]) -> Self {
        Self { command: command.to_vec() }
    }

    /// Runs it under a tool, which writes to the file that its option in `arguments` ends with. Returns what is written.
    fn run(&self, arguments: &[String], file: &str) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path().join("output");
        let status = Command::new("valgrind")
            // The environment lies on the stack: a longer one would move what is compared.
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .args(arguments)
            .arg(format!("{file}{}", output.display()))
            .args(&self.command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("valgrind runs: `scripts/install-test-tools` installs it");
        assert!(status.success(), "{self:?} under valgrind: {status}");
        std::fs::read_to_string(output).expect("valgrind wrote its output")
    }

    /// Its references in order; of those that read and write, the read.
    pub(crate) fn trace(&self) -> Vec<Reference> {
        let text = self.run(&["--tool=lackey".to_owned(), "--trace-mem=yes".to_owned()], "--log-file=");
        let reference = |line: &str| {
            let kind = match line.get(..3)? {
                "I  " => Kind::Fetch,
                " L " | " M " => Kind::Load,
                " S " => Kind::Store,
                _ => return None,
            };
            let (address, size) = line[3..].split_once(',')?;
            let address = u64::from_str_radix(address, 16).expect("an address");
            Some(Reference::new(kind, address, size.parse().expect("a size")))
        };
        text.lines().filter_map(reference).collect()
    }

    /// What cachegrind counts of it, with caches for instructions, data, and of the last level.
    pub(crate) fn cachegrind(&self, geometries: [Geometry; 3]) -> Summary {
        let mut arguments = vec!["--tool=cachegrind".to_owned(), "--cache-sim=yes".to_owned()];
        for (name, geometry) in ["I1", "D1", "LL"].into_iter().zip(geometries) {
            arguments.push(format!("--{name}={},{},{}", geometry.size.0, geometry.ways, geometry.line.0));
        }
        let text = self.run(&arguments, "--cachegrind-out-file=");
        let line =
            |start| text.lines().find_map(|line| line.strip_prefix(start)).expect("a line of cachegrind's");
        assert_eq!(line("events: ").trim(), "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw");
        let numbers: Vec<u64> =
            line("summary: ").split_whitespace().map(|number| number.parse().expect("a count")).collect();
        Summary([0, 3, 6].map(|first| [numbers[first], numbers[first + 1], numbers[first + 2]]))
    }
}
