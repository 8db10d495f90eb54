//! The mean delay of each stream, without the warm-up.
//!
//! How much of a run's start is warm-up is known when it ends. So the sums of all streams are kept as they were at some
//! moments, and those at the first of them after the warm-up are taken away. Moments are a fixed factor apart, and the
//! warm-up is between a twentieth and half of a run: few of them are of use at any time, and only these are kept.

use crate::packet::host::Shape;
use crate::packet::outcome::Fairness;
use std::collections::VecDeque;
use warmcore_stats::batches::MIN_CUT;

/// The first moment, in packets: a twentieth of the shortest run that ends by itself.
const FIRST: u64 = 2_500;
/// Each further moment comes after this many times the packets of the one before. Of many streams, fewer moments are
/// kept: five of a million streams take 80 MB.
const FACTOR: f64 = 1.25;
const FACTOR_OF_MANY: f64 = 2.0;

/// Packets of a stream, and the sum of their delays.
type Sums = (u64, f64);

/// Sums by stream, now and at earlier moments.
pub(super) struct StreamTally {
    now: Vec<Sums>,
    earlier: VecDeque<Moment>,
    /// When the next moment comes, in packets.
    next: u64,
    factor: f64,
}

struct Moment {
    packets: u64,
    sums: Vec<Sums>,
}

impl StreamTally {
    /// Nothing yet. If the `warmup` is given, the only moment is its end.
    pub(super) fn new(shape: Shape, warmup: Option<u64>) -> Self {
        let factor = match (warmup, shape.has_many_streams()) {
            (Some(_), _) => f64::INFINITY,
            (None, true) => FACTOR_OF_MANY,
            (None, false) => FACTOR,
        };
        Self {
            now: vec![(0, 0.0); shape.streams as usize],
            earlier: VecDeque::new(),
            next: warmup.unwrap_or(FIRST),
            factor,
        }
    }

    /// Something that depends on the sums of `stream`, which are read ahead.
    pub(super) fn touch(&self, stream: usize) -> u32 {
        self.now[stream].0 as u32
    }

    /// Records a packet.
    #[inline(always)]
    pub(super) fn push(&mut self, stream: u32, delay: f64) {
        let (packets, delays) = &mut self.now[stream as usize];
        *packets += 1;
        *delays += delay;
    }

    /// Notes that `packets` are recorded.
    #[inline]
    pub(super) fn reached(&mut self, packets: u64) {
        if packets >= self.next {
            self.remember(packets);
        }
    }

    #[cold]
    fn remember(&mut self, packets: u64) {
        // No warm-up ends before this any more: a twentieth, less what is rounded down to a batch.
        let least = packets * 9 / (10 * MIN_CUT as u64);
        // The room of a moment that is of no use any more is that of the new one.
        let mut sums = Vec::new();
        while let Some(useless) = self.earlier.pop_front_if(|moment| moment.packets < least) {
            sums = useless.sums;
        }
        sums.clone_from(&self.now);
        self.earlier.push_back(Moment { packets, sums });
        // A warm-up that is given ends once.
        self.next = (packets as f64 * self.factor) as u64;
    }

    /// The fairness among the streams after the first `warmup` packets, rounded up to the next moment.
    pub(super) fn fairness(&self, warmup: u64) -> Fairness {
        let first_after = self.earlier.iter().find(|moment| moment.packets >= warmup);
        // A run may end before the next moment comes.
        let cut = if warmup == 0 { None } else { first_after.or(self.earlier.back()) };
        let Some(cut) = cut else { return Fairness::among(self.now.iter().copied()) };
        let left = self.now.iter().zip(&cut.sums);
        Fairness::among(left.map(|(now, before)| (now.0 - before.0, now.1 - before.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two streams in turn, whose delays are 100 at first and then 1 and 3.
    fn fairness(packets: u64, start: u64, warmup: Option<u64>, cut: u64) -> Fairness {
        let mut tally = StreamTally::new(Shape { processors: 1, streams: 2, stacks: 1 }, warmup);
        for packet in 0..packets {
            let stream = packet % 2;
            tally.push(stream as u32, if packet < start { 100.0 } else { 1.0 + 2.0 * stream as f64 });
            tally.reached(packet + 1);
        }
        tally.fairness(cut)
    }

    #[test]
    fn the_warm_up_is_left_out_and_little_more() {
        // Cuts from a twentieth to half of the run.
        for cut in [5_000, 6_000, 20_000, 50_000] {
            let fair = fairness(100_000, cut, None, cut);
            assert_eq!((fair.least.0, fair.greatest.0), (1.0, 3.0), "{cut}");
        }
        // What follows counts: at most a quarter of the cut is left out besides.
        let fair = fairness(100_000, 40_000, None, 20_000);
        assert!(fair.least.0 > 15.0, "{fair:?}");
        // A warm-up that is given is left out to the packet, and one of nothing not at all.
        assert_eq!(fairness(1_000, 300, Some(300), 300).least.0, 1.0);
        assert!(fairness(1_000, 300, None, 0).least.0 > 30.0);
    }

    #[test]
    fn few_moments_are_kept() {
        let mut tally = StreamTally::new(Shape { processors: 1, streams: 1, stacks: 1 }, None);
        for packets in (0..10_000_000).step_by(64) {
            tally.reached(packets);
        }
        assert!(tally.earlier.len() <= 20, "{}", tally.earlier.len());
    }
}
