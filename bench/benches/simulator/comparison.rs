//! Runs every peer on the same queues, in turn, and checks their answers against theory.

use crate::heap_loop::HeapLoop;
use crate::nexosim_bank::Nexosim;
use crate::ours::PacketModel;
use crate::peer::{Peer, PeerError, Run};
use crate::python::Python;
use crate::queue::{Queue, Service};
use serde::Serialize;
use warmcore_bench::provenance::locked_version;
use warmcore_stats::Spread;

/// An upper bound, for all queues, on the variance of the mean sojourn time of `n` successive customers,
/// times `n`, in squared mean service times: that of M/M/1 at 80% (Daley 1968) with a server eight times as
/// fast, plus that of the service.
const VARIANCE: f64 = 32.0;

/// Standard errors by which a peer's mean sojourn time may differ from theory.
const STANDARD_ERRORS: f64 = 4.0;

/// The peers and their runs so far.
pub(crate) struct Comparison {
    peers: Vec<Box<dyn Peer>>,
    /// Runs by queue ([`Queue::ALL`]) and peer; empty if the peer does not support the queue.
    runs: Vec<Vec<Vec<Run>>>,
}

/// The results of one peer on one queue.
#[derive(Serialize)]
pub(crate) struct PeerResult {
    pub(crate) peer: String,
    pub(crate) customers: u64,
    /// Mean over all rounds, in mean service times.
    pub(crate) mean_sojourn: f64,
    /// The largest accepted difference from theory.
    pub(crate) tolerance: f64,
    /// Customers per second.
    pub(crate) rate: Spread,
}

/// The results of all peers on one queue.
#[derive(Serialize)]
pub(crate) struct QueueResults {
    pub(crate) queue: Queue,
    pub(crate) exact_sojourn: f64,
    /// In the order of the peers; the baseline is first.
    pub(crate) peers: Vec<PeerResult>,
}

impl Comparison {
    /// Starts the peers. The first is the baseline.
    pub(crate) fn new() -> Result<Self, PeerError> {
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(HeapLoop::Plain),
            Box::new(HeapLoop::InPlace),
            Box::new(Nexosim { version: locked_version("nexosim") }),
            Box::new(Python::simpy()?),
            Box::new(Python::ciw()?),
            Box::new(PacketModel::new()),
        ];
        let runs = Queue::ALL.map(|_| peers.iter().map(|_| Vec::new()).collect()).into();
        Ok(Self { peers, runs })
    }

    /// Runs every peer once on every queue that it supports.
    pub(crate) fn round(&mut self, round: u64) -> Result<(), PeerError> {
        for (&queue, runs) in Queue::ALL.iter().zip(&mut self.runs) {
            for (peer, runs) in self.peers.iter_mut().zip(runs) {
                if peer.supports(queue.service) {
                    runs.push(peer.simulate(queue, peer.customers(), round)?);
                }
            }
        }
        Ok(())
    }

    /// The results on each queue.
    ///
    /// # Errors
    /// If a peer's mean sojourn time disagrees with theory: it has simulated something else.
    pub(crate) fn results(&self) -> Result<Vec<QueueResults>, PeerError> {
        Queue::ALL.iter().zip(&self.runs).map(|(&queue, runs)| self.queue_results(queue, runs)).collect()
    }

    fn queue_results(&self, queue: Queue, runs: &[Vec<Run>]) -> Result<QueueResults, PeerError> {
        let exact_sojourn = queue.exact_sojourn();
        let measured = self.peers.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
        let peers: Vec<PeerResult> =
            measured.map(|(peer, runs)| PeerResult::new(peer.as_ref(), runs)).collect();
        for PeerResult { peer, mean_sojourn: mean, tolerance, .. } in &peers {
            if (mean - exact_sojourn).abs() > *tolerance {
                let (peer, mean, exact, tolerance) = (peer.clone(), *mean, exact_sojourn, *tolerance);
                return Err(PeerError::WrongMean { peer, queue, mean, exact, tolerance });
            }
        }
        Ok(QueueResults { queue, exact_sojourn, peers })
    }
}

impl PeerResult {
    fn new(peer: &dyn Peer, runs: &[Run]) -> Self {
        let all: u64 = runs.iter().map(|run| run.customers).sum();
        Self {
            peer: peer.name(),
            customers: peer.customers(),
            mean_sojourn: runs.iter().map(|run| run.mean_sojourn).sum::<f64>() / runs.len() as f64,
            tolerance: STANDARD_ERRORS * (VARIANCE / all as f64).sqrt(),
            rate: Spread(runs.iter().map(Run::rate).collect()),
        }
    }
}

impl QueueResults {
    /// The rate of the plain event loop.
    pub(crate) fn baseline(&self) -> &Spread {
        &self.peers[0].rate
    }

    /// Prints a line for each peer: its rate, the ratio of its rate to the baseline's and, on queues that our
    /// simulator supports, the ratio of our rate to its.
    pub(crate) fn print(&self) {
        println!("{}, exact mean sojourn time {:.4} mean service times", self.queue, self.exact_sojourn);
        println!(
            "  {:<34} {:>26} {:>26} {:>26}   sojourn",
            "", "M customers/s", "relative to loop", "speedup of warmcore"
        );
        let ours = self.peers.last().filter(|_| self.queue.service == Service::Constant);
        for PeerResult { peer, rate, mean_sojourn, tolerance, .. } in &self.peers {
            let speedup = ours.map_or_else(String::new, |ours| format!("{:.2}", ours.rate.over(rate)));
            let (millions, relative) =
                (format!("{:.3}", rate.map(|rate| rate / 1e6)), rate.over(self.baseline()));
            let relative = format!("{relative:.4}");
            println!(
                "  {peer:<34} {millions:>26} {relative:>26} {speedup:>26}   {mean_sojourn:.4} (within {tolerance:.4})"
            );
        }
        println!();
    }
}
