//! When each processor will finish what it is doing, and which one finishes first.
//!
//! Every processor has at most one completion pending, so no general event list is needed. For a few
//! processors all times are compared; for many they are kept in a tournament tree, in which setting a time
//! replays the matches on one path to the root. Of equal times the lowest processor number wins.
//!
//! Times are kept to 50 significant bits ([`on_clock`]). The last three bits of a float are then free for the
//! number of one of a few processors, so that a single minimum of floats yields both the time and the
//! processor, without a branch that could be mispredicted.

use warmcore_units::{CpuId, Nanos};

/// Up to this many processors are compared directly.
pub const FEW: usize = 8;
/// The bits of a time that hold the number of one of a few processors.
const NAME: u64 = FEW as u64 - 1;

/// The relative error of [`on_clock`]: a time is rounded down by less than this part of it.
pub const CLOCK_RESOLUTION: f64 = f64::EPSILON * FEW as f64;

/// The time of a completion that is not pending: later than any other time.
pub const NEVER: Nanos = on_clock(Nanos(f64::MAX));

/// Rounds `at`, which must not be negative, down to the clock of completions: by less than one part in 10^15.
#[must_use]
#[inline]
pub const fn on_clock(at: Nanos) -> Nanos {
    Nanos(f64::from_bits(at.0.to_bits() & !NAME))
}

/// The pending completions. All times must be [`on_clock`].
pub trait Pending: Clone + core::fmt::Debug {
    /// No completions pending, for `processors` processors.
    fn new(processors: u32) -> Self;

    /// The first to finish and when; [`NEVER`] if none is pending.
    #[must_use]
    fn first(&self) -> (CpuId, Nanos);

    /// The idle `cpu` will finish at `at`.
    fn start(&mut self, cpu: CpuId, at: Nanos);

    /// `cpu`, the [first](Self::first) to finish, has finished and will finish again at `at`.
    fn restart_first(&mut self, cpu: CpuId, at: Nanos);

    /// `cpu`, the [first](Self::first) to finish, has finished and has nothing more to do.
    fn finish_first(&mut self, cpu: CpuId);
}

/// The completions of any number of processors.
#[derive(Clone, Debug)]
pub enum Completions {
    /// At most [`FEW`] processors.
    Few(Few),
    /// More processors.
    Many(Tournament),
}

impl Pending for Completions {
    fn new(processors: u32) -> Self {
        if processors as usize <= FEW {
            Self::Few(Few::new(processors))
        } else {
            Self::Many(Tournament::new(processors))
        }
    }

    #[inline]
    fn first(&self) -> (CpuId, Nanos) {
        match self {
            Self::Few(few) => few.first(),
            Self::Many(many) => many.first(),
        }
    }

    #[inline(always)]
    fn start(&mut self, cpu: CpuId, at: Nanos) {
        match self {
            Self::Few(few) => few.start(cpu, at),
            Self::Many(many) => many.start(cpu, at),
        }
    }

    #[inline(always)]
    fn restart_first(&mut self, cpu: CpuId, at: Nanos) {
        match self {
            Self::Few(few) => few.restart_first(cpu, at),
            Self::Many(many) => many.restart_first(cpu, at),
        }
    }

    #[inline(always)]
    fn finish_first(&mut self, cpu: CpuId) {
        match self {
            Self::Few(few) => few.finish_first(cpu),
            Self::Many(many) => many.finish_first(cpu),
        }
    }
}

/// Times as the bits of their floats, with the processor's number in the last bits. The bits compare like the
/// times.
///
/// The first and the second completion are kept apart from the others. The next event is then known before
/// all others are compared, or before the time of a processor that starts is known.
#[derive(Clone, Debug)]
pub struct Few {
    first: u64,
    /// The smallest of `others`.
    second: u64,
    /// By processor: its time, or never if nothing is pending, if it is the first, or if there is no such
    /// processor.
    others: [u64; FEW],
}

impl Pending for Few {
    fn new(processors: u32) -> Self {
        debug_assert!(processors as usize <= FEW);
        Self { first: Self::NEVER, second: Self::NEVER, others: [Self::NEVER; FEW] }
    }

    #[inline]
    fn first(&self) -> (CpuId, Nanos) {
        (CpuId((self.first & NAME) as u32), Nanos(f64::from_bits(self.first & !NAME)))
    }

    #[inline(always)]
    fn start(&mut self, cpu: CpuId, at: Nanos) {
        let time = Self::named(cpu, at);
        if time < self.first {
            core::hint::cold_path();
            let displaced = core::mem::replace(&mut self.first, time);
            *self.other(displaced) = displaced;
            self.second = displaced;
        } else {
            *self.other(time) = time;
            self.second = self.second.min(time);
        }
    }

    #[inline(always)]
    fn restart_first(&mut self, cpu: CpuId, at: Nanos) {
        let time = Self::named(cpu, at);
        if time < self.second {
            core::hint::cold_path();
            self.first = time;
        } else {
            *self.other(time) = time;
            self.advance();
        }
    }

    #[inline(always)]
    fn finish_first(&mut self, _cpu: CpuId) {
        self.advance();
    }
}

impl Few {
    const NEVER: u64 = NEVER.0.to_bits();

    #[inline]
    const fn named(cpu: CpuId, at: Nanos) -> u64 {
        at.0.to_bits() | cpu.0 as u64
    }

    #[inline]
    const fn other(&mut self, time: u64) -> &mut u64 {
        &mut self.others[(time & NAME) as usize]
    }

    /// Makes the second completion the first.
    #[inline(always)]
    fn advance(&mut self) {
        self.first = self.second;
        *self.other(self.first) = Self::NEVER | (self.first & NAME);
        let [a, b, c, d, e, f, g, h] = self.others;
        self.second = a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)));
    }
}

/// A tournament tree of the winners of matches. It takes any times that are not negative, on the clock or not, and `start` also
/// changes a time that is pending.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// By processor, padded to a power of two with [`NEVER`]. The bits of the floats are stored, because
    /// unlike floats they are selected without a branch.
    times: Vec<u64>,
    /// The winner of each match: the root is at 1 and the children of `i` are at `2i` and `2i + 1`. Matches
    /// between two processors are in the last half.
    winners: Vec<u32>,
}

impl Pending for Tournament {
    fn new(processors: u32) -> Self {
        let leaves = processors.next_power_of_two().max(2);
        let mut tournament =
            Self { times: vec![NEVER.0.to_bits(); leaves as usize], winners: vec![0; leaves as usize] };
        (0..leaves).step_by(2).for_each(|cpu| tournament.replay(cpu));
        tournament
    }

    #[inline]
    fn first(&self) -> (CpuId, Nanos) {
        let cpu = self.winners[1];
        (CpuId(cpu), Nanos(f64::from_bits(self.times[cpu as usize])))
    }

    #[inline]
    fn start(&mut self, cpu: CpuId, at: Nanos) {
        self.times[cpu.index()] = at.0.to_bits();
        self.replay(cpu.0);
    }

    #[inline]
    fn restart_first(&mut self, cpu: CpuId, at: Nanos) {
        self.start(cpu, at);
    }

    #[inline]
    fn finish_first(&mut self, cpu: CpuId) {
        self.start(cpu, NEVER);
    }
}

impl Tournament {
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
        /// Compared with a plain vector, for few and for many processors. An idle processor starts; once all
        /// are busy, the first one finishes and starts again or not.
        #[test]
        fn the_first_is_the_minimum_and_the_lowest_of_equals(
            processors in 1_u32..20,
            steps in prop::collection::vec((0_u32..20, 1_u32..8, any::<bool>()), 0..100),
        ) {
            let mut completions = Completions::new(processors);
            let mut times = vec![NEVER.0; processors as usize];
            for (cpu, time, again) in steps {
                let cpu = cpu % processors;
                // Small whole numbers, so that there are ties.
                let at = f64::from(time);
                if times[cpu as usize] == NEVER.0 {
                    times[cpu as usize] = at;
                    completions.start(CpuId(cpu), Nanos(at));
                } else {
                    let (first, _) = completions.first();
                    if again {
                        times[first.index()] = at;
                        completions.restart_first(first, Nanos(at));
                    } else {
                        times[first.index()] = NEVER.0;
                        completions.finish_first(first);
                    }
                }
                let first = (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b])).unwrap();
                prop_assert_eq!(completions.first(), (CpuId::from(first), Nanos(times[first])));
            }
        }
    }
}
