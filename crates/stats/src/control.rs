//! Control variates: a mean corrected with another quantity of the run whose mean is known exactly.
//!
//! If by chance more packets arrived than the rate says, the mean delay comes out too long. Regression on
//! the gap between arrivals, whose mean is known, corrects that (Lavenberg & Welch 1981).

use crate::interval::{Interval, t_quantile_95};

/// The control is used if its squared correlation is above this. Below, it would save less than a seventh
/// of the half-width, and noise in the regression may cost more.
pub const MIN_R_SQUARED: f64 = 0.25;

/// A mean, and how it was corrected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Controlled {
    /// The interval of the corrected mean, or of the plain mean if the control was not used.
    pub interval: Interval,
    /// What was subtracted per unit by which the control exceeds its expected mean; zero for the plain
    /// mean.
    pub slope: f64,
}

/// The mean of `of`, regressed on `control`, whose exact mean is `expected`. Both contain the means of the
/// same independent groups of observations.
///
/// The interval is that of the regression's value at `expected`: Student's t with two degrees of
/// freedom fewer than groups, and a term for the uncertainty of the slope,
/// `s² · (1/n + (x̄ - expected)² / Σ(x - x̄)²)` with `s²` the residual variance.
///
/// If the squared correlation is below [`MIN_R_SQUARED`], the plain interval is returned. The choice depends
/// neither on the mean nor on which of the two intervals is narrower in this sample: taking the narrower
/// one each time would give intervals that are too narrow overall.
#[must_use]
pub fn controlled(of: &[f64], control: &[f64], expected: f64) -> Controlled {
    let plain = Interval::from_observations(of);
    let uncorrected = Controlled { interval: plain, slope: 0.0 };
    let n = of.len().min(control.len()) as f64;
    if n < 4.0 {
        return uncorrected;
    }
    let mean_control = control.iter().sum::<f64>() / n;
    let (mut both, mut square_of, mut square_control) = (0.0, 0.0, 0.0);
    for (y, x) in of.iter().zip(control) {
        let (y, x) = (y - plain.mean, x - mean_control);
        both += x * y;
        square_of += y * y;
        square_control += x * x;
    }
    let r_squared = both * both / (square_of * square_control);
    // A constant control or a constant quantity gives NaN, and the plain interval.
    if r_squared.is_nan() || r_squared < MIN_R_SQUARED {
        return uncorrected;
    }
    let off = mean_control - expected;
    let residual = square_of * (1.0 - r_squared).max(0.0) / (n - 2.0);
    let deviation = (residual * (1.0 / n + off * off / square_control)).sqrt();
    let slope = both / square_control;
    let half_width = t_quantile_95(n - 2.0) * deviation;
    Controlled { interval: Interval { mean: plain.mean - slope * off, half_width, ..plain }, slope }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_relation_is_corrected_exactly() {
        let control = [1.0, 2.0, 3.0, 4.0, 5.0];
        let of = control.map(|x| 10.0 + 2.0 * x);
        let Controlled { interval, slope } = controlled(&of, &control, 4.0);
        assert!(
            (interval.mean - 18.0).abs() < 1e-9 && interval.half_width < 1e-6 && (slope - 2.0).abs() < 1e-9
        );
    }

    /// Slope 0.9, residual variance 1.9/3, three degrees of freedom.
    #[test]
    fn five_pairs_by_hand() {
        let Controlled { interval, slope } =
            controlled(&[2.0, 3.0, 5.0, 4.0, 6.0], &[1.0, 2.0, 3.0, 4.0, 5.0], 4.0);
        assert!((slope - 0.9).abs() < 1e-12 && (interval.mean - 4.9).abs() < 1e-12);
        let deviation = (1.9 / 3.0 * (1.0 / 5.0 + 1.0 / 10.0_f64)).sqrt();
        assert!((interval.half_width - 3.182_446 * deviation).abs() < 1e-5, "{}", interval.half_width);
    }

    #[test]
    fn an_unrelated_or_constant_control_is_not_used() {
        let of = [1.0, -1.0, 1.0, -1.0, 1.0];
        assert_eq!(
            controlled(&of, &[1.0, 1.0, -1.0, -1.0, 0.0], 3.0).interval,
            Interval::from_observations(&of)
        );
        assert_eq!(controlled(&of, &[1.0; 5], 3.0).interval, Interval::from_observations(&of));
        assert_eq!(controlled(&[2.0; 5], &of, 3.0).slope, 0.0);
    }
}
