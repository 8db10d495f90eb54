//! When each processor will finish what it does, and which finishes first.
//!
//! Every processor has at most one completion pending, so the event list is a tournament over
//! them: setting a time replays the matches on one path to the root, and the winner is always
//! known. Of equal times the lowest processor number wins.

use warmcore_units::{CpuId, Nanos};

/// The pending completions.
#[derive(Clone, Debug)]
pub struct Completions {
    /// By processor, padded to a power of two with infinity.
    times: Vec<f64>,
    /// Winners of the matches: the root at 1, the children of `i` at `2i` and `2i + 1`; the
    /// matches between the processors themselves in the last half.
    winners: Vec<u32>,
}

impl Completions {
    /// None pending, for `processors` processors.
    #[must_use]
    pub fn none(processors: u32) -> Self {
        let leaves = processors.next_power_of_two().max(2);
        let mut completions =
            Self { times: vec![f64::INFINITY; leaves as usize], winners: vec![0; leaves as usize] };
        (0..leaves).step_by(2).for_each(|cpu| completions.replay(cpu));
        completions
    }

    /// `cpu` will finish at `at`.
    #[inline]
    pub fn set(&mut self, cpu: CpuId, at: Nanos) {
        self.times[cpu.index()] = at.0;
        self.replay(cpu.0);
    }

    /// `cpu` has nothing to finish.
    #[inline]
    pub fn clear(&mut self, cpu: CpuId) {
        self.set(cpu, Nanos::INFINITY);
    }

    /// The first to finish and when; at infinity if none is pending.
    #[must_use]
    #[inline]
    pub fn first(&self) -> (CpuId, Nanos) {
        let cpu = self.winners[1];
        (CpuId(cpu), Nanos(self.times[cpu as usize]))
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
        #[test]
        fn the_first_is_the_minimum_and_the_lowest_of_equals(
            processors in 1_u32..20,
            settings in prop::collection::vec((0_u32..20, 0_u32..8), 0..100),
        ) {
            let mut completions = Completions::none(processors);
            let mut times = vec![f64::INFINITY; processors as usize];
            for (cpu, time) in settings {
                let cpu = cpu % processors;
                // 0 clears, so that infinities mix with ties.
                let at = if time == 0 { f64::INFINITY } else { f64::from(time) };
                times[cpu as usize] = at;
                completions.set(CpuId(cpu), Nanos(at));
                let first = (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b])).unwrap();
                prop_assert_eq!(completions.first(), (CpuId::from(first), Nanos(times[first])));
            }
        }
    }
}
