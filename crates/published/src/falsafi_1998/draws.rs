//! Repetitions of a run with changes that mean nothing: other random numbers, or some cycles more or less of network latency.
//!
//! A run always gives the same value, but which one depends on accidents: which requests meet, who gets a lock first. A value is
//! therefore the mean over repetitions, with a 95 % interval. Those of different systems are paired: each has the same seeds and
//! latencies. (Alameldeen & Wood, "Variability in Architectural Simulations of Multi-threaded Workloads", 2003, perturb memory
//! latencies for the same reason.)
//!
//! Programs take too long for that. What their values scatter by is measured on a few machines instead ([`scatter`](super::scatter)).

use super::setup::{NETWORK, SEED, Setup};
use super::work::Work;

/// How many seeds each of chapter 4's microbenchmarks has.
pub const SEEDS: usize = 8;
/// The network latencies of the bandwidth microbenchmarks, in cycles; first the stated one.
pub const LATENCIES: [u64; 5] = [NETWORK, NETWORK - 1, NETWORK + 1, NETWORK - 2, NETWORK + 2];

impl Setup {
    /// How many runs its value is the mean of.
    #[must_use]
    pub const fn draws(&self) -> usize {
        match self.work {
            Work::NullHandler(_) | Work::FetchBlock(_) => SEEDS,
            Work::ReplyBandwidth(_) | Work::RequestBandwidth(_) => LATENCIES.len(),
            Work::RemoteRead | Work::Program(_) => 1,
        }
    }

    /// The run with this number, below [`draws`](Self::draws); number 0 is the setup itself.
    #[must_use]
    pub fn draw(self, number: usize) -> Self {
        match self.work {
            Work::NullHandler(_) | Work::FetchBlock(_) => self.seeded(SEED + number as u64),
            Work::ReplyBandwidth(_) | Work::RequestBandwidth(_) => {
                self.over_network(LATENCIES.get(number).copied().unwrap_or(NETWORK))
            }
            Work::RemoteRead | Work::Program(_) => self,
        }
    }

    /// All runs that its value is the mean of.
    pub fn all_draws(self) -> impl Iterator<Item = Self> {
        (0..self.draws()).map(move |number| self.draw(number))
    }

    /// The setup that this run repeats.
    #[must_use]
    pub const fn repeated(self) -> Self {
        self.seeded(SEED).over_network(NETWORK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::falsafi_1998::system::System;
    use std::collections::BTreeSet;

    #[test]
    fn every_draw_is_a_run_of_its_own_and_the_first_the_setup_itself() {
        let setups = [
            Setup::pair(System::Fixed, 2, Work::NullHandler(5)),
            Setup::reply(System::SComa, 4),
            Setup::remote_read(System::SComa),
        ];
        for setup in setups {
            assert_eq!(setup.draw(0), setup);
            assert_eq!(setup.all_draws().collect::<BTreeSet<_>>().len(), setup.draws());
            assert!(setup.all_draws().all(|draw| draw.repeated() == setup));
        }
    }
}
