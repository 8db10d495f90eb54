//! Who reads packets, and by which evidence.

use super::super::target_threads;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_linux::inventory::{Observation, Thread};
use warmcore_topology::CpuSet;
use warmcore_units::{Bytes, CpuId, PerSecond};

/// How it is known who reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReaderEvidence {
    /// TCP sockets were seen to receive while the host was watched.
    Watched,
    /// TCP connections that are open have received since they began, which says nothing of now.
    SinceConnected,
    /// No socket of a process that ran was seen to receive: the readers are not known.
    None,
}

/// A process that reads.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReaderPlace {
    /// The number of the process.
    pub pid: u32,
    /// Its name.
    pub process: String,
    /// How many of its threads are busy.
    pub threads: usize,
    /// The cpus on which these ran last.
    pub cpus: CpuSet,
    /// Bytes that it received per second while the host was watched.
    pub bytes_per_s: Option<PerSecond>,
    /// Bytes that it has received through the connections that it has now.
    pub bytes: Option<Bytes>,
}

/// The busy threads of the processes that read.
pub(super) struct Readers<'a> {
    pub(super) evidence: ReaderEvidence,
    /// Each with its process's evidence.
    found: Vec<(Process, Vec<&'a Thread>)>,
    /// The part of all packets that is for readers on each cpu.
    pub(super) on_cpu: BTreeMap<CpuId, f64>,
}

#[derive(Clone, Copy)]
struct Process {
    pid: u32,
    bytes_per_s: Option<PerSecond>,
    bytes: Option<Bytes>,
}

impl<'a> Readers<'a> {
    pub(super) fn find(observed: &'a Observation) -> Self {
        let receivers = observed.rates.iter().flat_map(|rates| &rates.receivers);
        let receivers = receivers.map(|of| Process { pid: of.pid, bytes_per_s: Some(of.bytes), bytes: None });
        let holders = observed.holders.iter().map(|of| Process {
            pid: of.pid,
            bytes_per_s: None,
            bytes: Some(of.bytes),
        });
        let threads = |process: Process| {
            let threads = observed.inventory.threads.iter().filter(|thread| {
                thread.key.pid == process.pid
                    && target_threads::is_placeable(&observed.inventory, thread)
                    && target_threads::ran(observed.rates.as_ref(), thread)
            });
            (process, threads.collect::<Vec<_>>())
        };
        let found: Vec<_> =
            receivers.chain(holders).map(threads).filter(|(_, threads)| !threads.is_empty()).collect();
        let evidence = match (&found[..], &observed.rates) {
            ([], _) => ReaderEvidence::None,
            (_, Some(_)) => ReaderEvidence::Watched,
            (_, None) => ReaderEvidence::SinceConnected,
        };
        let on_cpu = parts(observed, found.iter().flat_map(|(_, threads)| threads.iter().copied()));
        Self { evidence, found, on_cpu }
    }

    pub(super) fn places(&self) -> Vec<ReaderPlace> {
        let place = |(process, threads): &(Process, Vec<&Thread>)| ReaderPlace {
            pid: process.pid,
            process: threads[0].process.clone(),
            threads: threads.len(),
            cpus: threads.iter().map(|thread| thread.last_cpu).collect(),
            bytes_per_s: process.bytes_per_s,
            bytes: process.bytes,
        };
        self.found.iter().map(place).collect()
    }

    /// The cpus on which they ran last.
    pub(super) fn cpus(&self) -> CpuSet {
        self.on_cpu.keys().copied().collect()
    }
}

/// The part of all packets that is for `threads` on each cpu.
fn parts<'a>(observed: &Observation, threads: impl Iterator<Item = &'a Thread>) -> BTreeMap<CpuId, f64> {
    let threads: Vec<&Thread> = threads.collect();
    let mut parts: BTreeMap<CpuId, f64> = BTreeMap::new();
    for (thread, part) in threads.iter().zip(target_threads::parts(observed, &threads)) {
        *parts.entry(thread.last_cpu).or_default() += part;
    }
    parts
}
