//! Peers written in Python. Each runs in its own process and simulates one queue after another.

use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS, Service};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::process::Command;
use std::time::Duration;
use warmcore_bench::{Program, results};

/// The longest time an answer may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A Python process that runs one simulator.
pub(crate) struct Python {
    name: String,
    customers: u64,
    process: Program,
}

/// The first line that a process prints.
#[derive(Deserialize)]
struct Versions {
    python: String,
    version: String,
}

impl Python {
    /// SimPy, a process-based simulator.
    pub(crate) fn simpy() -> Result<Self, PeerError> {
        Self::start("SimPy", 25_000)
    }

    /// Ciw, a simulator of queueing networks.
    pub(crate) fn ciw() -> Result<Self, PeerError> {
        Self::start("Ciw", 12_000)
    }

    fn start(name: &str, customers: u64) -> Result<Self, PeerError> {
        let interpreter = results::target().join("bench-peers/bin/python");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/simulator/peers.py");
        let mut command = Command::new(interpreter);
        let mut process = Program::start(name, command.args([script, &name.to_lowercase()]), TIMEOUT)?;
        let Versions { python, version } = parse(name, &process.listen()?)?;
        Ok(Self { name: format!("{name} {version} (Python {python})"), customers, process })
    }
}

/// Parses a JSON line from `peer`.
fn parse<T: DeserializeOwned>(peer: &str, line: &str) -> Result<T, PeerError> {
    let failed =
        |error: serde_json::Error| PeerError::Failed { peer: peer.to_owned(), reason: error.to_string() };
    serde_json::from_str(line).map_err(failed)
}

impl Peer for Python {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn customers(&self) -> u64 {
        self.customers
    }

    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError> {
        let question = serde_json::json!({
            "servers": SERVERS,
            "arrivals": queue.arrivals(),
            "exponential": queue.service == Service::Exponential,
            "customers": customers,
            "seed": seed,
        });
        let answer = self.process.ask(&question.to_string())?;
        parse(&self.name, &answer)
    }
}
