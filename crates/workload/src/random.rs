//! Random streams named by (seed, point, replication, purpose).
//!
//! The same name always gives the same numbers, on one thread or many and whatever else was drawn;
//! different names give independent streams.

use rand::SeedableRng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The generator of every stream.
pub type Random = Xoshiro256PlusPlus;

/// The purpose of a stream of random numbers.
///
/// The order is part of the stream's name: add a new purpose at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The times between arrivals, of batches or of trains.
    Interarrival,
    /// Which stream an arrival belongs to.
    Stream,
    /// Random choices of a policy.
    Policy,
    /// How many packets a batch or a train has.
    Batch,
    /// How large a packet is.
    Size,
    /// Whether a packet is received or sent.
    Direction,
    /// The times between the packets of a train.
    Gap,
    /// How long a source stays in a state: calm or busy, on or off.
    Sojourn,
    /// The state of a source when the run starts.
    Start,
    /// How far a machine's true costs are from the measured ones.
    Costs,
    /// What a process does: its bursts, how they end, how long it blocks.
    Process,
    /// The data of a parallel program.
    Input,
    /// What a process refers to in memory.
    Reference,
    /// Where the pages of memory lie.
    Page,
    /// How much of a kernel section is left when an interrupt comes.
    KernelSection,
    /// How long a packet takes, around its mean.
    Service,
    /// How long a client waits before its next request.
    Think,
    /// Random choices of a cost model of one's own.
    OwnCost,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 18] = [
        Self::Interarrival,
        Self::Stream,
        Self::Policy,
        Self::Batch,
        Self::Size,
        Self::Direction,
        Self::Gap,
        Self::Sojourn,
        Self::Start,
        Self::Costs,
        Self::Process,
        Self::Input,
        Self::Reference,
        Self::Page,
        Self::KernelSection,
        Self::Service,
        Self::Think,
        Self::OwnCost,
    ];
}

/// The name of a family of random streams, one for each [`Purpose`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The seed the user chose.
    pub seed: u64,
    /// The point of the experiment (a rate and a number of processors), *not* the policy.
    pub point: u64,
    /// The replication.
    pub replication: u64,
}

impl Key {
    /// The stream for `purpose`, from its start.
    #[must_use]
    pub fn stream(self, purpose: Purpose) -> Random {
        let words = [self.seed, self.point, self.replication, purpose as u64];
        let name = words.into_iter().fold(0, |name, word| scramble(name ^ scramble(word)));
        Random::seed_from_u64(name)
    }
}

/// A bijection of 64-bit words that hides patterns of its input.
fn scramble(word: u64) -> u64 {
    use rand::Rng;
    SplitMix64::seed_from_u64(word).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::HashSet;

    #[test]
    fn every_name_has_its_own_stream_and_always_the_same() {
        let mut first_words = HashSet::new();
        for seed in 0..4 {
            for point in 0..4 {
                for replication in 0..4 {
                    for purpose in Purpose::ALL {
                        let key = Key { seed, point, replication };
                        let word = key.stream(purpose).next_u64();
                        assert_eq!(word, key.stream(purpose).next_u64());
                        assert!(first_words.insert(word), "{key:?} {purpose:?}");
                    }
                }
            }
        }
    }
}
