//! The machine a benchmark ran on, and the versions of what it ran.

use serde::Serialize;
use std::fs::read_to_string;
use std::process::Command;
use std::thread::available_parallelism;

/// What a figure must be read with.
#[derive(Serialize)]
pub(crate) struct Provenance {
    machine: String,
    processors: usize,
    system: String,
    compiler: String,
    warmcore: &'static str,
    /// Runnable threads over the last minute: what else the machine was doing.
    load_average: String,
}

impl Provenance {
    /// As it is now.
    pub(crate) fn read() -> Self {
        let information = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let load = read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            machine: model.map_or("unknown", |(_, name)| name).to_owned(),
            processors: available_parallelism().map_or(1, usize::from),
            system: said_by("uname", "-sr"),
            compiler: said_by("rustc", "--version"),
            warmcore: env!("CARGO_PKG_VERSION"),
            load_average: load.split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    pub(crate) fn print(&self) {
        let Self { machine, processors, system, compiler, warmcore, load_average } = self;
        println!("machine: {machine}, {processors} processors, {system}, load average {load_average}");
        println!("warmcore-sim {warmcore}, {compiler}");
    }
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
pub(crate) fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../../../../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"")));
    entry.and_then(|entry| entry.split('"').nth(3)).unwrap_or("unknown")
}
