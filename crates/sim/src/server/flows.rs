//! The flows: which source sends them, and which worker they have.

use rand::RngExt;
use warmcore_workload::random::Random;

/// A server's flows. Flow `f` belongs to source `f` modulo the number of sources.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Flows {
    sources: u32,
    /// By flow: its worker, under policies that give it one by hash.
    workers: Vec<u32>,
    /// By flow: what chooses its worker where that one is not used.
    others: Vec<u32>,
}

impl Flows {
    /// This many `flows`, at least one for each source, whose workers `random` draws.
    pub(super) fn new(flows: u32, sources: u32, random: &mut Random) -> Self {
        let workers = (0..flows).map(|_| random.random_range(0..sources)).collect();
        Self { sources, workers, others: (0..flows).map(|_| random.random()).collect() }
    }

    /// The same flows on the first `active` workers: who has one of them keeps it.
    pub(super) fn gathered(&self, active: u32) -> Self {
        let among = |(&worker, &other): (&u32, &u32)| if worker < active { worker } else { other % active };
        Self { workers: self.workers.iter().zip(&self.others).map(among).collect(), ..self.clone() }
    }

    /// Flows with these workers.
    #[cfg(test)]
    pub(super) fn with_workers(sources: u32, workers: Vec<u32>) -> Self {
        Self { sources, others: workers.iter().map(|worker| worker * 7).collect(), workers }
    }

    pub(super) fn count(&self) -> usize {
        self.workers.len()
    }

    /// The worker that the hash gives `flow`.
    #[inline]
    pub(super) fn worker(&self, flow: u32) -> u32 {
        self.workers[flow as usize]
    }

    /// How many flows a source has.
    pub(super) fn of_source(&self, source: u32) -> u32 {
        (self.workers.len() as u32 - source).div_ceil(self.sources)
    }

    /// By worker: its share of all requests, if the hash chooses.
    pub(super) fn shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.sources as usize];
        for (flow, &worker) in self.workers.iter().enumerate() {
            let source = flow as u32 % self.sources;
            shares[worker as usize] += 1.0 / f64::from(self.sources) / f64::from(self.of_source(source));
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathered_flows_keep_the_workers_that_are_used() {
        let flows = Flows::with_workers(4, vec![0, 1, 2, 3, 2, 1]);
        assert_eq!(flows.gathered(4), flows);
        assert_eq!(flows.gathered(2).workers, [0, 1, 0, 1, 0, 1]);
        assert_eq!(flows.gathered(1).workers, [0; 6]);
    }

    #[test]
    fn seven_flows_of_three_sources_by_hand() {
        let flows = Flows::with_workers(3, vec![0, 0, 1, 2, 0, 1, 0]);
        // Source 0 has flows 0, 3 and 6; source 1 has 1 and 4; source 2 has 2 and 5.
        assert_eq!([0, 1, 2].map(|source| flows.of_source(source)), [3, 2, 2]);
        let expected = [2.0 / 9.0 + 1.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0];
        for (share, expected) in flows.shares().into_iter().zip(expected) {
            assert!((share - expected).abs() < 1e-12);
        }
    }
}
