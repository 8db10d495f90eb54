//! Peers in other languages, or with a runtime that wants a process for itself: programs that
//! `scripts/install-bench-peers` builds from `bench/programs`.

use crate::contestant::Contestant;
use crate::handler::Handler;
use crate::programs::{There, Timed};
use crate::traffic::Traffic;
use serde::Serialize;
use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;
use warmcore_bench::{ProgramError, results};

/// A program that is known, whether it is installed or not.
struct Known {
    name: &'static str,
    /// Its folder below that of all peers.
    folder: &'static str,
    command: fn(&Path) -> Command,
    /// Runs under each handler before any that counts.
    warm_ups: usize,
}

const KNOWN: [Known; 3] = [
    Known { name: "boc", folder: "boc", command: cowns, warm_ups: 0 },
    Known { name: "Asio strands", folder: "asio", command: strands, warm_ups: 0 },
    // It is compiled while it runs.
    Known { name: "BookKeeper", folder: "bookkeeper", command: ordered_keys, warm_ups: 8 },
];

fn cowns(folder: &Path) -> Command {
    Command::new(folder.join("release/cowns"))
}

fn strands(folder: &Path) -> Command {
    Command::new(folder.join("strands"))
}

fn ordered_keys(folder: &Path) -> Command {
    let mut command = Command::new("java");
    let classes = format!("{0}/classes:{0}/lib/*", folder.display());
    command.args(["-Xms1g", "-Xmx1g", "-XX:+UseParallelGC", "-cp", &classes, "OrderedKeys"]);
    command
}

/// A peer that does not take part, or not any more.
#[derive(Serialize)]
pub(crate) struct Absent {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// What has become of the programs.
#[derive(Default)]
pub(crate) struct Installed {
    pub(crate) contestants: Vec<Box<dyn Contestant>>,
    /// Names and versions.
    pub(crate) versions: Vec<(&'static str, String)>,
    pub(crate) timed: Vec<Timed>,
    pub(crate) absent: Vec<Absent>,
}

impl Installed {
    /// Starts all that are there, lets them learn the handlers, and warms up on `traffic` those that need it.
    pub(crate) fn start(handlers: &[Handler], traffic: &Traffic) -> Self {
        let mut installed = Self::default();
        for known in &KNOWN {
            let folder = results::target().join("bench-peers").join(known.folder);
            let started = if folder.exists() {
                installed.add(known, &folder, handlers, traffic).map_err(|error| error.to_string())
            } else {
                Err(why_not_installed(&folder))
            };
            if let Err(reason) = started {
                installed.absent.push(Absent { name: known.name.to_owned(), reason });
            }
        }
        installed
    }

    fn add(
        &mut self,
        known: &Known,
        folder: &Path,
        handlers: &[Handler],
        traffic: &Traffic,
    ) -> Result<(), ProgramError> {
        let (mut there, version) = There::start(known.name, (known.command)(folder))?;
        for &handler in handlers {
            let timed = there.learn(handler)?;
            self.timed.push(timed);
            for _ in 0..known.warm_ups {
                there.run(traffic, handler, traffic.count())?;
            }
        }
        self.contestants.push(Box::new(there));
        self.versions.push((known.name, version));
        Ok(())
    }
}

/// What the script that installs wrote beside the folder, if it was run.
fn why_not_installed(folder: &Path) -> String {
    let reason = read_to_string(folder.with_extension("absent")).unwrap_or_default();
    match reason.trim() {
        "" => "not installed; `scripts/install-bench-peers dispatch` does that".to_owned(),
        reason => reason.to_owned(),
    }
}
