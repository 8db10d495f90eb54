//! A histogram of non-negative values with logarithmic buckets, numbered by the bits of a value.
//!
//! The exponent and the first bits of the fraction of an IEEE 754 double are the bucket's number: no
//! logarithm is computed. With [`FINE`] buckets in each octave (seven bits), a bucket is at most 0.8%
//! of its value wide; with [`COARSE`] ones, 6%, and the counts take few cache lines. Values are assumed to
//! be evenly spread inside a bucket. Values below [`LEAST`] share one bucket from zero, and values from
//! [`GREATEST`] on share the last one.

/// Buckets per octave for many values.
pub const FINE: usize = 128;
/// Buckets per octave for small memory.
pub const COARSE: usize = 16;
/// Values below this share one bucket.
pub const LEAST: f64 = 1.0 / (1 << 20) as f64;
/// Values from this on share one bucket.
pub const GREATEST: f64 = 18_446_744_073_709_551_616.0;
const OCTAVES: usize = 84;

/// How a value's bits number its bucket, with `PER` buckets per octave.
struct Numbering<const PER: usize>;

impl<const PER: usize> Numbering<PER> {
    const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - PER.ilog2();
    /// The shifted bits of [`LEAST`], from which buckets are counted.
    const FIRST: u64 = LEAST.to_bits() >> Self::SHIFT;
    /// The number of the last bucket, counted from zero.
    const LAST: i64 = ((OCTAVES + 1) * PER) as i64;
}

/// Counts of values, in whole octaves from the lowest to the highest one seen. With fine buckets this takes
/// at most 85 KiB, and 1 KiB for each doubling between the least and the greatest value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram<const PER: usize = FINE> {
    /// Octave of the first element of `counts`; octave 0 contains all values below [`LEAST`].
    octave: usize,
    counts: Vec<[u64; PER]>,
}

/// Counts while values are being collected. Every octave is allocated, so that adding a value needs no check.
#[derive(Clone, Debug)]
pub struct Filling<const PER: usize = FINE>(Box<[[u64; PER]; OCTAVES + 2]>);

impl<const PER: usize> Default for Filling<PER> {
    fn default() -> Self {
        Self(Box::new([[0; PER]; OCTAVES + 2]))
    }
}

impl<const PER: usize> Filling<PER> {
    /// Counts `value`. A negative value counts as zero, and NaN as greater than all others.
    #[inline]
    pub fn push(&mut self, value: f64) {
        // The bits of a negative value, as a signed number, are negative.
        let position = (value.to_bits().cast_signed() >> Numbering::<PER>::SHIFT)
            - (Numbering::<PER>::FIRST - PER as u64).cast_signed();
        let bucket = position.clamp(0, Numbering::<PER>::LAST) as usize;
        self.0[bucket / PER][bucket % PER] += 1;
    }

    /// A copy of the counts so far, without the empty octaves at either end.
    #[must_use]
    pub fn trimmed(&self) -> Histogram<PER> {
        let used = |octave: &[u64; PER]| octave.iter().any(|&count| count > 0);
        let first = self.0.iter().position(used).unwrap_or(0);
        let end = self.0.iter().rposition(used).map_or(first, |last| last + 1);
        Histogram { octave: first, counts: self.0[first..end].to_vec() }
    }

    /// Takes the counts so far and resets them to zero.
    pub fn take(&mut self) -> Histogram<PER> {
        let taken = self.trimmed();
        self.0[taken.octave..][..taken.counts.len()].fill([0; PER]);
        taken
    }
}

impl<const PER: usize> Histogram<PER> {
    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.as_flattened().iter().sum()
    }

    /// How many values are in buckets that end at `value` or below.
    #[must_use]
    pub fn count_below(&self, value: f64) -> u64 {
        let first = self.octave * PER;
        let ends_below = |index: usize| bounds::<PER>(first + index).1 <= value;
        let counted = self.counts.as_flattened().iter().enumerate();
        counted.take_while(|&(index, _)| ends_below(index)).map(|(_, count)| count).sum()
    }

    /// The buckets in which something was counted, by ascending value: lower bound, upper bound and count.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let first = self.octave * PER;
        let counted = self.counts.as_flattened().iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(move |(index, &count)| {
            let (low, high) = bounds::<PER>(first + index);
            (low, high, count)
        })
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.clone_from(other);
            return;
        }
        if other.counts.is_empty() {
            return;
        }
        let first = self.octave.min(other.octave);
        let end = (self.octave + self.counts.len()).max(other.octave + other.counts.len());
        self.counts.splice(0..0, core::iter::repeat_n([0; PER], self.octave - first));
        self.counts.resize(end - first, [0; PER]);
        self.octave = first;
        let theirs = other.counts.as_flattened();
        let ours = &mut self.counts[other.octave - first..].as_flattened_mut()[..theirs.len()];
        ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// The value below which the fraction `p` of the values lies; NaN if nothing was counted.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let wanted = p.clamp(0.0, 1.0) * self.count() as f64;
        let mut below = 0.0;
        let mut highest = f64::NAN;
        for (index, &count) in self.counts.as_flattened().iter().enumerate().filter(|bucket| *bucket.1 > 0) {
            let (low, high) = bounds::<PER>(self.octave * PER + index);
            let count = count as f64;
            if below + count >= wanted {
                return low + (high - low) * ((wanted - below) / count).max(0.0);
            }
            below += count;
            highest = high;
        }
        highest
    }
}

/// The largest error of a value taken from a fine bucket.
#[must_use]
pub fn resolution(value: f64) -> f64 {
    value.max(LEAST) / FINE as f64
}

/// The lower bounds of bucket `index` and of the next bucket.
fn bounds<const PER: usize>(index: usize) -> (f64, f64) {
    let value = |index: usize| {
        f64::from_bits((Numbering::<PER>::FIRST + (index - PER) as u64) << Numbering::<PER>::SHIFT)
    };
    // Octave 0 is one bucket.
    if index < PER { (0.0, LEAST) } else { (value(index), value(index + 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(values: &[f64]) -> Histogram {
        let mut filling = <Filling>::default();
        values.iter().for_each(|&value| filling.push(value));
        filling.take()
    }

    #[test]
    fn values_out_of_range_are_counted_in_the_first_or_last_bucket() {
        let odd = histogram(&[f64::NAN, -1.0, -0.0, 0.0, 1e-300, f64::INFINITY, f64::MAX, 1e19]);
        assert_eq!(odd.count(), 8);
        assert!(odd.quantile(0.5) <= LEAST && odd.quantile(1.0) >= GREATEST);
        assert!(<Histogram>::default().quantile(0.5).is_nan());
    }

    #[test]
    fn values_below_a_power_of_two_are_counted_exactly() {
        let values = histogram(&[0.0, 1.0, 3.99, 4.0, 5.0, 1e9]);
        assert_eq!([1.0, 4.0, 8.0, 1e12].map(|bound| values.count_below(bound)), [1, 3, 5, 6]);
        assert_eq!(<Histogram>::default().count_below(1.0), 0);
    }

    #[test]
    fn buckets_hold_every_value_between_their_bounds() {
        let values = [0.0, 3.0, 3.0, 1e9];
        let buckets: Vec<_> = histogram(&values).buckets().collect();
        assert_eq!(buckets.iter().map(|bucket| bucket.2).collect::<Vec<_>>(), [1, 2, 1]);
        for ((low, high, _), value) in buckets.into_iter().zip([0.0, 3.0, 1e9]) {
            assert!(low <= value && value < high, "{low} {value} {high}");
        }
    }

    #[test]
    fn take_resets_the_counts() {
        let mut filling = <Filling>::default();
        filling.push(3.0);
        assert_eq!((filling.take().count(), filling.take().count()), (1, 0));
    }

    proptest! {
        #[test]
        fn a_fine_bucket_is_at_most_0_8_percent_wide(exponent in -19.9_f64..63.9) {
            let value = exponent.exp2();
            let histogram = histogram(&[value]);
            let (low, high) = (histogram.quantile(0.0), histogram.quantile(1.0));
            prop_assert!(low <= value && value < high, "{low} {value} {high}");
            prop_assert!((high - low) / low <= 0.008);
        }

        #[test]
        fn merging_equals_counting_all_values_together(
            a in prop::collection::vec(0.0_f64..1e3, 0..40), b in prop::collection::vec(0.0_f64..1e12, 0..40),
        ) {
            let mut merged = histogram(&a);
            merged.merge(&histogram(&b));
            let whole = histogram(&[a, b].concat());
            prop_assert_eq!(merged.count(), whole.count());
            for p in [0.0, 0.1, 0.5, 0.99, 1.0] {
                prop_assert!(merged.quantile(p).to_bits() == whole.quantile(p).to_bits());
            }
        }

        #[test]
        fn a_quantile_is_within_a_bucket_of_the_sorted_value(
            mut values in prop::collection::vec(1.0_f64..1e9, 1..200), p in 0.01_f64..1.0,
        ) {
            let ours = histogram(&values).quantile(p);
            values.sort_by(f64::total_cmp);
            let rank = ((p * values.len() as f64).ceil() as usize).clamp(1, values.len());
            prop_assert!((ours / values[rank - 1] - 1.0).abs() <= 0.008, "{} {}", ours, values[rank - 1]);
        }
    }
}
