//! The ratio of two means, such as a utilisation, or one alternative's delay over another's.
//!
//! The ratio of two sample means has a bias of about one over the number of pairs. The jackknife
//! (Quenouille 1956; Tukey 1958) removes that bias and gives the variance.
//!
//! Fieller's interval, exact for normal pairs, is not symmetric and may be unbounded, so a mean with a
//! half-width cannot express it. The two intervals differ by a fraction of about `g`, the square of the
//! relative half-width of the denominator's mean. So the jackknife's interval is used if `g` is at most
//! [`MAX_DENOMINATOR_WIDTH`] squared, and an infinite one otherwise.

use crate::interval::Interval;

/// The greatest relative half-width of the denominator's mean.
pub const MAX_DENOMINATOR_WIDTH: f64 = 0.25;

/// The mean of the first elements over the mean of the second, for independent and identically
/// distributed pairs.
///
/// The half-width is infinite with fewer than three pairs, or if the denominator's mean is too uncertain
/// to divide by.
#[must_use]
pub fn of_means(pairs: impl IntoIterator<Item = (f64, f64)>) -> Interval {
    let (above, below): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let count = above.len();
    let n = count as f64;
    let (sum_above, sum_below) = (above.iter().sum::<f64>(), below.iter().sum::<f64>());
    let ratio = sum_above / sum_below;
    let divisor = Interval::from_observations(&below);
    if count < 3 || divisor.relative() > MAX_DENOMINATOR_WIDTH {
        return Interval { mean: ratio, half_width: f64::INFINITY, count };
    }
    let pseudo = |(a, b): (&f64, &f64)| n * ratio - (n - 1.0) * (sum_above - a) / (sum_below - b);
    let values: Vec<f64> = above.iter().zip(&below).map(pseudo).collect();
    Interval::from_observations(&values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn proportional_pairs_have_no_half_width_and_uncertain_denominators_an_infinite_one() {
        let certain = of_means([(20.0, 10.0), (22.0, 11.0), (18.0, 9.0)]);
        assert!((certain.mean - 2.0).abs() < 1e-12 && certain.half_width < 1e-12);
        assert_eq!(of_means([(1.0, -1.0), (1.0, 1.0), (1.0, 0.5)]).half_width, f64::INFINITY);
        assert_eq!(of_means([(1.0, 1.0), (1.0, 1.0)]).half_width, f64::INFINITY);
    }

    /// Eight pairs that share most of their noise. The probability that fewer than 922 of 1000 intervals at
    /// 95% contain the exact ratio is below 1e-4 (binomial, deviation 6.9).
    #[test]
    fn few_pairs_cover_the_exact_ratio() {
        let covered = (0..1000).filter(|&seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let pair = |_| {
                let [shared, a, b] = [1.0, 0.3, 0.3].map(|scale| {
                    let normal: f64 = StandardNormal.sample(&mut random);
                    scale * normal
                });
                (20.0 + shared + a, 10.0 + shared + b)
            };
            of_means((0..8).map(pair)).contains(2.0)
        });
        let covered = covered.count();
        assert!(covered >= 922, "{covered} of 1000");
    }
}
