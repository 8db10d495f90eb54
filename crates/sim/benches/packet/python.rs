//! Peers written in Python, each in a process of its own that answers one queue after another,
//! so that neither the interpreter's start nor its imports are part of any measurement.

use crate::peer::{Peer, PeerError, Run};
use crate::queue::{Queue, SERVERS, Service};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A Python process with one simulator in it.
pub(crate) struct Python {
    name: String,
    customers: u64,
    process: Child,
    /// `None` once the process has been told to end.
    questions: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

/// What a worker says first.
#[derive(Deserialize)]
struct Versions {
    python: String,
    version: String,
}

impl Python {
    /// SimPy, Team SimPy's process-based simulator.
    pub(crate) fn simpy() -> Result<Self, PeerError> {
        Self::start("SimPy", 25_000)
    }

    /// Ciw, a simulator of queueing networks.
    pub(crate) fn ciw() -> Result<Self, PeerError> {
        Self::start("Ciw", 12_000)
    }

    fn start(name: &str, customers: u64) -> Result<Self, PeerError> {
        let interpreter = crate::target().join("bench-peers/bin/python");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/packet/peers.py");
        let mut process = Command::new(&interpreter)
            .args([script, &name.to_lowercase()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| PeerError::Absent { interpreter, source })?;
        let questions = process.stdin.take();
        let answers = process.stdout.take().expect("its output is a pipe");
        let answers = BufReader::new(answers).lines();
        let mut worker = Self { name: name.to_owned(), customers, process, questions, answers };
        let Versions { python, version } = worker.answer()?;
        worker.name = format!("{name} {version} (Python {python})");
        Ok(worker)
    }

    fn ask(&mut self, question: &serde_json::Value) -> Result<(), PeerError> {
        let questions = self.questions.as_mut().expect("it is told to end when dropped");
        writeln!(questions, "{question}").map_err(|error| self.failed(error))
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T, PeerError> {
        let line = match self.answers.next() {
            Some(line) => line.map_err(|error| self.failed(error))?,
            None => return Err(self.failed("it ended; its own message is above")),
        };
        serde_json::from_str(&line).map_err(|error| self.failed(error))
    }

    fn failed(&self, reason: impl ToString) -> PeerError {
        PeerError::Failed { peer: self.name.clone(), reason: reason.to_string() }
    }
}

impl Peer for Python {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn customers(&self) -> u64 {
        self.customers
    }

    fn simulate(&mut self, queue: Queue, customers: u64, seed: u64) -> Result<Run, PeerError> {
        self.ask(&serde_json::json!({
            "servers": SERVERS,
            "arrivals": queue.arrivals(),
            "exponential": queue.service == Service::Exponential,
            "customers": customers,
            "seed": seed,
        }))?;
        self.answer()
    }
}

impl Drop for Python {
    /// Ends the process by closing its input, and waits for it.
    fn drop(&mut self) {
        self.questions = None;
        let _ = self.process.wait();
    }
}
