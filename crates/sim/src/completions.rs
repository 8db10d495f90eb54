//! When each processor will finish what it does, and which finishes first.
//!
//! Every processor has at most one completion pending, so no general event list is needed. A few
//! are searched by comparing all of them, which takes no branch that could be mispredicted; many
//! are kept in a tournament, where setting a time replays the matches on one path to the root. Of
//! equal times the lowest processor number wins.

use warmcore_units::{CpuId, Nanos};

/// So many are compared directly.
const FEW: usize = 8;

/// The pending completions.
#[derive(Clone, Debug)]
pub struct Completions {
    first: (CpuId, Time),
    times: Times,
}

/// A time that is not negative, as the bits of its float: they compare like the times, and unlike
/// floats are selected without a branch.
type Time = u64;
const NEVER: Time = f64::INFINITY.to_bits();

#[derive(Clone, Debug)]
enum Times {
    /// By processor; [`NEVER`] where nothing is pending or there is no processor.
    Few([Time; FEW]),
    Many(Tournament),
}

impl Completions {
    /// None pending, for `processors` processors.
    #[must_use]
    pub fn none(processors: u32) -> Self {
        let times = if processors as usize <= FEW {
            Times::Few([NEVER; FEW])
        } else {
            Times::Many(Tournament::none(processors))
        };
        Self { first: (CpuId(0), NEVER), times }
    }

    /// The first to finish and when; at infinity if none is pending.
    #[must_use]
    #[inline]
    pub const fn first(&self) -> (CpuId, Nanos) {
        (self.first.0, Nanos(f64::from_bits(self.first.1)))
    }

    /// `cpu`, which has nothing to finish, will finish at `at`, which is not negative.
    #[inline]
    pub fn start(&mut self, cpu: CpuId, at: Nanos) {
        let at = at.0.to_bits();
        match &mut self.times {
            Times::Few(times) => {
                times[cpu.index() % FEW] = at;
                let (first, earliest) = self.first;
                let sooner = at < earliest || (at == earliest && cpu < first);
                self.first = (if sooner { cpu } else { first }, at.min(earliest));
            }
            Times::Many(tournament) => {
                tournament.set(cpu, at);
                self.first = tournament.first();
            }
        }
    }

    /// The [first](Self::first) to finish has done so, and will finish again at `at`; infinity if
    /// it has nothing more to do.
    #[inline]
    pub fn restart_first(&mut self, at: Nanos) {
        let (cpu, at) = (self.first.0, at.0.to_bits());
        match &mut self.times {
            Times::Few(times) => {
                times[cpu.index() % FEW] = at;
                self.first = earliest(times);
            }
            Times::Many(tournament) => {
                tournament.set(cpu, at);
                self.first = tournament.first();
            }
        }
    }
}

/// The smallest of `times` and the lowest processor that has it.
///
/// Not inlined: inside a larger function the compiler prefers branches, and each would be
/// mispredicted every other time.
#[inline(never)]
fn earliest(times: &[Time; FEW]) -> (CpuId, Time) {
    let winner = |low: (u32, Time), high: (u32, Time)| {
        let sooner = high.1 < low.1;
        (if sooner { high.0 } else { low.0 }, if sooner { high.1 } else { low.1 })
    };
    let leaf = |cpu: u32| (cpu, times[cpu as usize]);
    let low = winner(winner(leaf(0), leaf(1)), winner(leaf(2), leaf(3)));
    let high = winner(winner(leaf(4), leaf(5)), winner(leaf(6), leaf(7)));
    let (cpu, time) = winner(low, high);
    (CpuId(cpu), time)
}

/// A winner tree.
#[derive(Clone, Debug)]
struct Tournament {
    /// By processor, padded to a power of two with [`NEVER`].
    times: Vec<Time>,
    /// Winners of the matches: the root at 1, the children of `i` at `2i` and `2i + 1`; the
    /// matches between the processors themselves in the last half.
    winners: Vec<u32>,
}

impl Tournament {
    fn none(processors: u32) -> Self {
        let leaves = processors.next_power_of_two().max(2);
        let mut tournament = Self { times: vec![NEVER; leaves as usize], winners: vec![0; leaves as usize] };
        (0..leaves).step_by(2).for_each(|cpu| tournament.replay(cpu));
        tournament
    }

    #[inline]
    fn set(&mut self, cpu: CpuId, at: Time) {
        self.times[cpu.index()] = at;
        self.replay(cpu.0);
    }

    #[inline]
    fn first(&self) -> (CpuId, Time) {
        let cpu = self.winners[1];
        (CpuId(cpu), self.times[cpu as usize])
    }

    #[inline]
    fn replay(&mut self, cpu: u32) {
        let pair = cpu & !1;
        let mut node = (self.times.len() + cpu as usize) / 2;
        self.winners[node] = self.earlier(pair, pair + 1);
        while node > 1 {
            node /= 2;
            self.winners[node] = self.earlier(self.winners[2 * node], self.winners[2 * node + 1]);
        }
    }

    #[inline]
    fn earlier(&self, low: u32, high: u32) -> u32 {
        if self.times[high as usize] < self.times[low as usize] { high } else { low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain vector, for few and for many: whoever is idle starts, and when nobody is
        /// left to start, the first finishes and starts again or not.
        #[test]
        fn the_first_is_the_minimum_and_the_lowest_of_equals(
            processors in 1_u32..20,
            steps in prop::collection::vec((0_u32..20, 1_u32..8, any::<bool>()), 0..100),
        ) {
            let mut completions = Completions::none(processors);
            let mut times = vec![f64::INFINITY; processors as usize];
            for (cpu, time, again) in steps {
                let cpu = cpu % processors;
                // Small whole numbers, so that there are ties.
                let at = f64::from(time);
                if times[cpu as usize] == f64::INFINITY {
                    times[cpu as usize] = at;
                    completions.start(CpuId(cpu), Nanos(at));
                } else {
                    let (first, _) = completions.first();
                    let at = if again { at } else { f64::INFINITY };
                    times[first.index()] = at;
                    completions.restart_first(Nanos(at));
                }
                let first = (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b])).unwrap();
                prop_assert_eq!(completions.first(), (CpuId::from(first), Nanos(times[first])));
            }
        }
    }
}
