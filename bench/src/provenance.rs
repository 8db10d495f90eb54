//! The machine that a benchmark ran on, and the versions of the software it measured.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::process::Command;
use std::thread::available_parallelism;

/// The circumstances under which results were measured.
#[derive(Serialize)]
pub struct Provenance {
    machine: String,
    processors: usize,
    system: String,
    compiler: String,
    /// Versions of the measured packages and of their peers, by name.
    versions: BTreeMap<String, String>,
    /// Load average over one minute, before and after the benchmark.
    load_before: String,
    load_after: String,
}

impl Provenance {
    /// Records the machine at the start of a benchmark, and the versions of the measured `packages` from
    /// `Cargo.lock`.
    #[must_use]
    pub fn read(packages: &[&str]) -> Self {
        let information = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let version = |package: &&str| ((*package).to_owned(), locked_version(package).to_owned());
        Self {
            machine: model.map_or("unknown", |(_, name)| name).to_owned(),
            processors: available_parallelism().map_or(1, usize::from),
            system: output_of("uname", "-sr"),
            compiler: output_of("rustc", "--version"),
            versions: packages.iter().map(version).collect(),
            load_before: load(),
            load_after: String::new(),
        }
    }

    /// Adds the version of a peer that is not in `Cargo.lock`.
    pub fn add(&mut self, name: &str, version: &str) {
        self.versions.insert(name.to_owned(), version.to_owned());
    }

    /// Records the load at the end of the benchmark.
    pub fn finish(&mut self) {
        self.load_after = load();
    }

    /// Prints two lines: the machine with its load, and the versions.
    pub fn print(&self) {
        let Self { machine, processors, system, load_before, load_after, .. } = self;
        println!(
            "machine: {machine}, {processors} processors, {system}; load average {load_before} before, {load_after} after"
        );
        let versions = self.versions.iter().map(|(name, version)| format!("{name} {version}"));
        println!("{}; {}", self.compiler, versions.collect::<Vec<_>>().join(", "));
    }
}

fn load() -> String {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// What `program` prints when run with `option`.
fn output_of(program: &str, option: &str) -> String {
    let output = Command::new(program).arg(option).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The version of `package` in `Cargo.lock`.
#[must_use]
pub fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"")));
    entry.and_then(|entry| entry.split('"').nth(3)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_package_is_read_from_the_lock_file() {
        assert_eq!(locked_version("warmcore-bench"), env!("CARGO_PKG_VERSION"));
        assert_eq!(locked_version("no-such-package"), "unknown");
    }

    #[test]
    fn added_versions_are_written_beside_locked_ones() {
        let mut provenance = Provenance::read(&["serde"]);
        provenance.add("another", "7.1");
        let written = serde_json::to_value(&provenance).unwrap();
        assert_eq!(written["versions"]["another"], "7.1");
        assert_eq!(written["versions"]["serde"], locked_version("serde"));
        assert_ne!(written["compiler"], "unknown");
    }
}
