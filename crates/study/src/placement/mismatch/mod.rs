//! Where the packets of a host come in, who reads them, and how far apart the two are; and what of it is amiss.
//!
//! It judges nothing by costs: [`place`](super::place) does that. A finding is a fact that costs packets something
//! on most hosts, with the cpus that it is about.
//!
//! | module | computes |
//! |---|---|
//! | `readers` | who reads, and by which evidence |
//! | `queues` | the cpu of each queue, and how far the readers are from it |
//! | `findings` | what is amiss |
//! | `hot_queue` | of which cards one queue takes most |
//!
//! No file says which queue the packets of a socket come through. So the packets of every queue count as spread over
//! the readers in proportion to the bytes that they receive, or to their busy time where these are not known, as for a plan.
//!
//! ```
//! use warmcore_linux::inventory::Observation;
//! use warmcore_linux::{Probe, fake};
//! use warmcore_study::placement::{FindingKind, Reach, mismatch};
//!
//! let [earlier, later] = [fake::hosts::two_socket_server().earlier(10.0), fake::hosts::two_socket_server()];
//! let observed = Observation::of_probes(&Probe::fake(earlier), &Probe::fake(later)).expect("sound trees");
//! let mismatch = mismatch(&observed);
//! let queue = mismatch.queues.iter().find(|queue| queue.interface == "eth0").expect("a queue");
//! let share = queue.readers.get(&Reach::OtherNode).expect("readers on the other node");
//! assert!((share - 1.0).abs() < 1e-9, "the server runs on the other socket");
//! assert!(mismatch.findings.iter().any(|finding| finding.kind == FindingKind::ReadersOnOtherNode));
//! ```

mod findings;
mod hot_queue;
mod queues;
mod readers;

pub use findings::{Finding, FindingKind};
pub use queues::{QueuePlace, QueueSteering, Reach};
pub use readers::{ReaderEvidence, ReaderPlace};

use super::cpu_pool::CpuPool;
use super::{Goal, device_queues};
use readers::Readers;
use serde::Serialize;
use warmcore_linux::inventory::Observation;

/// Where packets come in and who reads them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mismatch {
    /// How it is known who reads.
    pub evidence: ReaderEvidence,
    /// The processes that read, those that received most first.
    pub readers: Vec<ReaderPlace>,
    /// The receive queues of cards that were used, in order of interface and number.
    pub queues: Vec<QueuePlace>,
    /// What is amiss, the worst kinds first.
    pub findings: Vec<Finding>,
}

/// Holds the queues of a host against its readers.
#[must_use]
pub fn mismatch(observed: &Observation) -> Mismatch {
    let pool = CpuPool::new(observed, Goal::Throughput);
    let readers = Readers::find(observed);
    let used = device_queues::find(observed, &pool, &[]).unwrap_or_default();
    let queues: Vec<QueuePlace> =
        used.iter().filter_map(|queue| queues::place(&pool, &readers, queue)).collect();
    let findings = findings::find(observed, &pool, &queues, &readers);
    Mismatch { evidence: readers.evidence, readers: readers.places(), queues, findings }
}
