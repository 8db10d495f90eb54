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
    crossbeam_channel: &'static str,
    tokio: &'static str,
    socket2: &'static str,
    /// Runnable threads over the last minute, before the benchmark and after it.
    load_before: String,
    load_after: String,
}

impl Provenance {
    /// As it is now, at the beginning.
    pub(crate) fn read() -> Self {
        let information = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            machine: model.map_or("unknown", |(_, name)| name).to_owned(),
            processors: available_parallelism().map_or(1, usize::from),
            system: said_by("uname", "-sr"),
            compiler: said_by("rustc", "--version"),
            warmcore: env!("CARGO_PKG_VERSION"),
            crossbeam_channel: locked_version("crossbeam-channel"),
            tokio: locked_version("tokio"),
            socket2: locked_version("socket2"),
            load_before: load(),
            load_after: String::new(),
        }
    }

    /// The benchmark is over.
    pub(crate) fn finish(&mut self) {
        self.load_after = load();
    }

    pub(crate) fn print(&self) {
        let Self { machine, processors, system, compiler, load_before, load_after, .. } = self;
        println!(
            "machine: {machine}, {processors} processors, {system}; load average {load_before} before, {load_after} after"
        );
        let Self { warmcore, crossbeam_channel, tokio, socket2, .. } = self;
        println!(
            "warmcore-runtime {warmcore}, crossbeam-channel {crossbeam_channel}, tokio {tokio}, socket2 {socket2}, {compiler}"
        );
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
fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../../../../Cargo.lock");
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"")));
    entry.and_then(|entry| entry.split('"').nth(3)).unwrap_or("unknown")
}
