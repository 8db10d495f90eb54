//! The machine a benchmark ran on, and the versions of what it ran.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::process::Command;
use std::thread::available_parallelism;

/// What a figure must be read with.
#[derive(Serialize)]
pub struct Provenance {
    machine: String,
    processors: usize,
    system: String,
    compiler: String,
    /// Of what is measured and of its peers, by name.
    versions: BTreeMap<String, String>,
    /// Runnable threads over the last minute, before the benchmark and after it.
    load_before: String,
    load_after: String,
}

impl Provenance {
    /// As it is now, at the beginning. `packages` are those of this workspace's build that are measured.
    #[must_use]
    pub fn read(packages: &[&str]) -> Self {
        let information = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let version = |package: &&str| ((*package).to_owned(), locked_version(package).to_owned());
        Self {
            machine: model.map_or("unknown", |(_, name)| name).to_owned(),
            processors: available_parallelism().map_or(1, usize::from),
            system: said_by("uname", "-sr"),
            compiler: said_by("rustc", "--version"),
            versions: packages.iter().map(version).collect(),
            load_before: load(),
            load_after: String::new(),
        }
    }

    /// Something else is measured too.
    pub fn add(&mut self, name: &str, version: &str) {
        self.versions.insert(name.to_owned(), version.to_owned());
    }

    /// The benchmark is over.
    pub fn finish(&mut self) {
        self.load_after = load();
    }

    /// Prints it in two lines.
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

/// What `program` prints when asked with `option`.
fn said_by(program: &str, option: &str) -> String {
    let output = Command::new(program).arg(option).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The version of a package that this workspace is built with.
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
    fn a_package_of_this_workspace_has_its_version() {
        assert_eq!(locked_version("warmcore-bench"), env!("CARGO_PKG_VERSION"));
        assert_eq!(locked_version("no-such-package"), "unknown");
    }

    #[test]
    fn what_is_added_is_written_beside_what_is_built() {
        let mut provenance = Provenance::read(&["serde"]);
        provenance.add("another", "7.1");
        let written = serde_json::to_value(&provenance).unwrap();
        assert_eq!(written["versions"]["another"], "7.1");
        assert_eq!(written["versions"]["serde"], locked_version("serde"));
        assert_ne!(written["compiler"], "unknown");
    }
}
