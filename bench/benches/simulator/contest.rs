//! All peers on the same queues, in rotation.

use crate::heap_loop::HeapLoop;
use crate::nexosim_bank::Nexosim;
use crate::ours::PacketModel;
use crate::peer::{Peer, PeerError, Run};
use crate::python::Python;
use crate::queue::{Queue, Service};
use serde::Serialize;
use warmcore_bench::provenance::locked_version;
use warmcore_stats::Spread;

/// The variance of the mean sojourn time of `n` successive customers, times `n`, in mean service
/// times: that of M/M/1 at 80% (Daley 1968) with a server eight times as fast, and the
/// service itself. None of the queues has more.
const VARIANCE: f64 = 32.0;

/// How many standard errors a peer's mean sojourn time may lie from theory.
const STANDARD_ERRORS: f64 = 4.0;

/// The peers and what they have done so far.
pub(crate) struct Contest {
    peers: Vec<Box<dyn Peer>>,
    /// For each of [`Queue::ALL`] and each peer, its runs; none if it does not know the queue.
    runs: Vec<Vec<Vec<Run>>>,
}

/// One peer on one queue.
#[derive(Serialize)]
pub(crate) struct Entry {
    pub(crate) peer: String,
    pub(crate) customers: u64,
    /// Over all rounds, in mean service times.
    pub(crate) mean_sojourn: f64,
    /// How far that may lie from theory.
    pub(crate) tolerance: f64,
    /// Customers per second.
    pub(crate) rate: Spread,
}

/// All peers on one queue.
#[derive(Serialize)]
pub(crate) struct Standing {
    pub(crate) queue: Queue,
    pub(crate) exact_sojourn: f64,
    /// The yardstick first, then as the peers are listed.
    pub(crate) entries: Vec<Entry>,
}

impl Contest {
    /// Starts the peers; the yardstick is the first.
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

    /// Every peer simulates every queue it knows, once.
    pub(crate) fn round(&mut self, round: u64) -> Result<(), PeerError> {
        for (&queue, runs) in Queue::ALL.iter().zip(&mut self.runs) {
            for (peer, runs) in self.peers.iter_mut().zip(runs) {
                if peer.knows(queue.service) {
                    runs.push(peer.simulate(queue, peer.customers(), round)?);
                }
            }
        }
        Ok(())
    }

    /// What has come out.
    ///
    /// # Errors
    /// If a peer's mean sojourn time is not that of the queue: it has done other work.
    pub(crate) fn standings(&self) -> Result<Vec<Standing>, PeerError> {
        Queue::ALL.iter().zip(&self.runs).map(|(&queue, runs)| self.standing(queue, runs)).collect()
    }

    fn standing(&self, queue: Queue, runs: &[Vec<Run>]) -> Result<Standing, PeerError> {
        let exact_sojourn = queue.exact_sojourn();
        let took_part = self.peers.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
        let entries: Vec<Entry> = took_part.map(|(peer, runs)| Entry::new(peer.as_ref(), runs)).collect();
        for Entry { peer, mean_sojourn: mean, tolerance, .. } in &entries {
            if (mean - exact_sojourn).abs() > *tolerance {
                let (peer, mean, exact, tolerance) = (peer.clone(), *mean, exact_sojourn, *tolerance);
                return Err(PeerError::OtherQueue { peer, queue, mean, exact, tolerance });
            }
        }
        Ok(Standing { queue, exact_sojourn, entries })
    }
}

impl Entry {
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

impl Standing {
    /// What every other peer is measured by.
    pub(crate) fn yardstick(&self) -> &Spread {
        &self.entries[0].rate
    }

    /// Prints a line for each peer: its rate, how many times the yardstick's that is, and how
    /// many times as fast our simulator is, where it takes part.
    pub(crate) fn print(&self) {
        println!("{}, exact mean sojourn time {:.4} mean service times", self.queue, self.exact_sojourn);
        println!(
            "  {:<34} {:>26} {:>26} {:>26}   sojourn",
            "", "M customers/s", "of the loop", "warmcore is times"
        );
        let ours = self.entries.last().filter(|_| self.queue.service == Service::Constant);
        for Entry { peer, rate, mean_sojourn, tolerance, .. } in &self.entries {
            let times = ours.map_or_else(String::new, |ours| format!("{:.2}", ours.rate.over(rate)));
            let (millions, of_loop) =
                (format!("{:.3}", rate.map(|rate| rate / 1e6)), rate.over(self.yardstick()));
            let of_loop = format!("{of_loop:.4}");
            println!(
                "  {peer:<34} {millions:>26} {of_loop:>26} {times:>26}   {mean_sojourn:.4} (within {tolerance:.4})"
            );
        }
        println!();
    }
}
