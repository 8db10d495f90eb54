//! Batch means: intervals for means of the *correlated* observations of one long run.
//!
//! Neighbouring delays are correlated, so an interval that treats them as independent would be far too
//! narrow. The means of long batches are hardly correlated. The run is cut into batches of equal length that
//! grow with the run: whenever [`CAPACITY`] batches are full, neighbours are merged (dynamic batch means, Yeh
//! & Schmeiser 2000). The start of the run is cut by [MSER](crate::warmup::mser) on the batches if that
//! pays (see [`MIN_CUT`]). The rest is divided into [`GROUPS`] groups whose means are treated as
//! independent. It is also divided into [`FINE_GROUPS`] groups, whose correlation is
//! [fitted](crate::series). The wider of the two intervals is reported: while the run is short for its
//! correlation, the first is too narrow and the second is not.
//!
//! An observation may have several quantities (a packet's delay, its service, the gap before it). They use
//! the same batches, and so share one warm-up and one division into groups, as a
//! [control variate](crate::control) and a [ratio] require.

use crate::control::{Controlled, controlled};
use crate::interval::Interval;
use crate::ratio;
use crate::series::of_correlated;
use crate::warmup::mser;

/// How many batches are kept before neighbours merge.
pub const CAPACITY: usize = 512;
/// How many groups an interval is computed from.
pub const GROUPS: usize = 20;
/// How many groups the correlation is fitted to.
pub const FINE_GROUPS: usize = 64;
/// At least one in this many batches is always left out at the start.
///
/// The cut that MSER proposes is used only if it reduces the half-width to less than [`CUT_BENEFIT`] of
/// what it is without a cut. In a stable queue MSER tends to cut just after an early backlog, which makes
/// the rest look calmer and faster than the queue is. Using every cut cost up to eleven points of coverage
/// (M/M/1 at load 0.9, precision 10%: 89% against 80%).
pub const MIN_CUT: usize = 20;
/// See [`MIN_CUT`].
pub const CUT_BENEFIT: f64 = 0.6;
/// Observations in a batch at the start of a run, as in MSER-5.
const FIRST_BATCH: u64 = 5;

/// Collects observations of `K` quantities each into batches. Quantity 0 decides the warm-up.
#[derive(Clone, Debug)]
pub struct BatchMeans<const K: usize = 1> {
    sums: Vec<[f64; K]>,
    /// Observations in a full batch.
    batch: u64,
    filling: [f64; K],
    /// Observations that the current batch still lacks; never zero.
    missing: u64,
    /// Observations to leave out at the start, if that is given rather than found.
    warmup: Option<u64>,
}

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Steady<const K: usize = 1> {
    /// Mean and half-width of each quantity over the steady part.
    pub intervals: [Interval; K],
    /// Observations left out at the start.
    pub warmup: u64,
    /// Observations used.
    pub observations: u64,
}

impl<const K: usize> Default for BatchMeans<K> {
    fn default() -> Self {
        const { assert!(K > 0, "quantity 0 decides the warm-up") };
        let sums = Vec::with_capacity(CAPACITY);
        Self { sums, batch: FIRST_BATCH, filling: [0.0; K], missing: FIRST_BATCH, warmup: None }
    }
}

impl<const K: usize> BatchMeans<K> {
    /// Leaves out this many observations at the start, rounded up to whole batches; if `None`, as many as
    /// [found](self).
    #[must_use]
    pub fn with_warmup(self, warmup: Option<u64>) -> Self {
        Self { warmup, ..self }
    }

    /// Adds the next observation of the run.
    #[inline]
    pub fn push(&mut self, observation: [f64; K]) {
        for (sum, value) in self.filling.iter_mut().zip(observation) {
            *sum += value;
        }
        self.missing -= 1;
        if self.missing == 0 {
            self.close_batch();
        }
    }

    /// Adds the next observations of the run: the same as pushing them one by one, but faster.
    pub fn extend(&mut self, mut observations: impl ExactSizeIterator<Item = [f64; K]>) {
        while observations.len() > 0 {
            let fitting = usize::try_from(self.missing).unwrap_or(usize::MAX).min(observations.len());
            let mut filling = self.filling;
            for observation in observations.by_ref().take(fitting) {
                for (sum, value) in filling.iter_mut().zip(observation) {
                    *sum += value;
                }
            }
            self.filling = filling;
            self.missing -= fitting as u64;
            if self.missing == 0 {
                self.close_batch();
            }
        }
    }

    #[cold]
    fn close_batch(&mut self) {
        self.sums.push(core::mem::replace(&mut self.filling, [0.0; K]));
        if self.sums.len() == CAPACITY {
            self.sums = self.sums.as_chunks().0.iter().map(|&[a, b]| sum(&[a, b])).collect();
            self.batch *= 2;
        }
        self.missing = self.batch;
    }

    /// Observations added so far.
    #[must_use]
    pub fn observations(&self) -> u64 {
        self.sums.len() as u64 * self.batch + (self.batch - self.missing)
    }

    /// The result over the steady part of the run. Half-widths are infinite while there are too few
    /// batches.
    #[must_use]
    pub fn steady(&self) -> Steady<K> {
        let cut = self.cut();
        let (groups, fine) = (self.groups(cut, GROUPS), self.groups(cut, FINE_GROUPS));
        Steady {
            intervals: core::array::from_fn(|quantity| {
                widened(Interval::from_observations(&column(&groups, quantity)), &column(&fine, quantity))
            }),
            warmup: cut as u64 * self.batch,
            observations: (self.sums.len() - cut) as u64 * self.batch,
        }
    }

    /// The mean of quantity `of` over the steady part, corrected by quantity `control`, whose exact mean
    /// is `expected`. See [`controlled`] for when the correction is used.
    ///
    /// # Panics
    /// If `of` or `control` is not below `K`.
    #[must_use]
    pub fn steady_controlled(&self, of: usize, control: usize, expected: f64) -> Interval {
        let cut = self.cut();
        let (groups, fine) = (self.groups(cut, GROUPS), self.groups(cut, FINE_GROUPS));
        let Controlled { interval, slope } =
            controlled(&column(&groups, of), &column(&groups, control), expected);
        let corrected: Vec<f64> = fine.iter().map(|group| group[of] - slope * group[control]).collect();
        widened(interval, &corrected)
    }

    /// The ratio of the means of quantities `of` and `over` over the steady part. For example, a
    /// utilisation is the mean service over the mean gap between arrivals.
    ///
    /// # Panics
    /// If `of` or `over` is not below `K`.
    #[must_use]
    pub fn steady_ratio(&self, of: usize, over: usize) -> Interval {
        let cut = self.cut();
        let pairs = |groups: Vec<[f64; K]>| groups.into_iter().map(move |group| (group[of], group[over]));
        let ratio = ratio::of_means(pairs(self.groups(cut, GROUPS)));
        let fine: Vec<f64> =
            pairs(self.groups(cut, FINE_GROUPS)).map(|(of, over)| of - ratio.mean * over).collect();
        let over = Interval::from_observations(&column(&self.groups(cut, GROUPS), over)).mean.abs();
        widened(ratio, &fine.iter().map(|residual| residual / over).collect::<Vec<_>>())
    }

    /// The sums of every quantity over the steady part.
    #[must_use]
    pub fn steady_sums(&self) -> [f64; K] {
        sum(&self.sums[self.cut()..])
    }

    /// How many batches to leave out at the start.
    fn cut(&self) -> usize {
        if let Some(warmup) = self.warmup {
            let batches = usize::try_from(warmup.div_ceil(self.batch)).unwrap_or(usize::MAX);
            return batches.min(self.sums.len());
        }
        let sums: Vec<f64> = self.sums.iter().map(|sums| sums[0]).collect();
        let always = sums.len() / MIN_CUT;
        let proposed = mser(&sums);
        let width = |cut| Interval::from_observations(&column(&self.groups(cut, GROUPS), 0)).half_width;
        if proposed > always && width(proposed) < CUT_BENEFIT * width(0) { proposed } else { always }
    }

    /// The means of `wanted` groups of the batches from `cut` on, divided as equally as whole batches
    /// allow; fewer groups if there are fewer batches.
    ///
    /// Groups may differ slightly in length: the sample variance of independent means is an unbiased
    /// estimate for the variance of their mean, whatever the variance of each.
    fn groups(&self, cut: usize, wanted: usize) -> Vec<[f64; K]> {
        let kept = &self.sums[cut..];
        let groups = wanted.min(kept.len());
        let bound = |group: usize| group * kept.len() / groups;
        let mean = |batches: &[[f64; K]]| {
            sum(batches).map(|total| total / (batches.len() as u64 * self.batch) as f64)
        };
        (0..groups).map(|group| mean(&kept[bound(group)..bound(group + 1)])).collect()
    }
}

/// `interval`, widened to the half-width that the correlation of the group means `fine` requires;
/// infinite if there are too few groups.
fn widened(interval: Interval, fine: &[f64]) -> Interval {
    let correlated = if fine.len() < FINE_GROUPS { f64::INFINITY } else { of_correlated(fine).half_width };
    Interval { half_width: interval.half_width.max(correlated), ..interval }
}

/// The sums of each quantity.
fn sum<const K: usize>(rows: &[[f64; K]]) -> [f64; K] {
    core::array::from_fn(|quantity| rows.iter().map(|row| row[quantity]).sum())
}

fn column<const K: usize>(rows: &[[f64; K]], quantity: usize) -> Vec<f64> {
    rows.iter().map(|row| row[quantity]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The observations left out of 200 batches that vary by ±11, the first 30 of them higher by `start`.
    fn warmup(start: f64) -> u64 {
        let mut batches = BatchMeans::<1>::default();
        for batch in 0..200_u32 {
            let noise = f64::from((batch * batch * 7 + batch * 3) % 23) - 11.0;
            let value = if batch < 30 { noise + start } else { noise };
            (0..FIRST_BATCH).for_each(|_| batches.push([value]));
        }
        batches.steady().warmup
    }

    /// For the milder start MSER proposes to cut 22 batches, which leaves 0.68 of the half-width; for the
    /// other it proposes 30, which leaves a quarter.
    #[test]
    fn a_start_is_cut_only_if_that_narrows_the_interval_enough() {
        let always = 200 / MIN_CUT as u64;
        assert_eq!([0.0, 8.0, 20.0].map(warmup), [always, always, 30].map(|batches| batches * FIRST_BATCH));
    }

    #[test]
    fn a_given_warmup_is_left_out_to_the_batch() {
        let mut batches = BatchMeans::<1>::default().with_warmup(Some(1_000));
        (0..1_000).for_each(|_| batches.push([9.0]));
        (0..9_000).for_each(|_| batches.push([1.0]));
        let steady = batches.steady();
        assert!((1_000..1_000 + batches.batch).contains(&steady.warmup), "{steady:?}");
        assert!((steady.intervals[0].mean - 1.0).abs() < 1e-12, "{steady:?}");
        assert_eq!(BatchMeans::<1>::default().with_warmup(Some(5)).steady().warmup, 0);
    }

    proptest! {
        #[test]
        fn extend_equals_repeated_push(parts in prop::collection::vec(0_usize..3_000, 0..8)) {
            let (mut one_by_one, mut at_once) = (BatchMeans::<2>::default(), BatchMeans::<2>::default());
            for (number, part) in parts.into_iter().enumerate() {
                let observations: Vec<_> = (0..part).map(|i| [(i * i % 17) as f64, number as f64]).collect();
                observations.iter().for_each(|&observation| one_by_one.push(observation));
                at_once.extend(observations.into_iter());
            }
            prop_assert_eq!(one_by_one.observations(), at_once.observations());
            prop_assert_eq!(one_by_one.sums, at_once.sums);
            prop_assert_eq!(one_by_one.filling, at_once.filling);
        }
    }
}
