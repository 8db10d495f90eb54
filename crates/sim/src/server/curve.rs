//! A time that depends on how long a processor was idle before.

/// How long a processor was idle, as the logarithm of nanoseconds.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(super) struct Idle(f64);

impl Idle {
    /// Not at all.
    pub(super) const NONE: Self = Self(f64::NEG_INFINITY);

    /// Less than a nanosecond counts as one.
    pub(super) fn new(nanos: f64) -> Self {
        Self(nanos.max(1.0).ln())
    }
}

/// A time by idle time: linear in the logarithm between the measured ones, constant outside.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Curve {
    /// Logarithm of the idle time, and the time in nanoseconds; ascending, at least one.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// The curve through pairs of idle time and time, both in nanoseconds; `None` without any.
    pub(super) fn new(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let mut points: Vec<_> = pairs.into_iter().map(|(idle, time)| (Idle::new(idle).0, time)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by_key(|point| point.0);
        (!points.is_empty()).then_some(Self { points })
    }

    /// The same time after any idle time.
    pub(super) fn constant(time: f64) -> Self {
        Self { points: vec![(0.0, time)] }
    }

    /// The time after the shortest idle time.
    pub(super) fn hot(&self) -> f64 {
        self.points[0].1
    }

    /// The time after `idle`.
    #[inline]
    pub(super) fn at(&self, idle: Idle) -> f64 {
        let mut low = self.points[0];
        if idle.0 <= low.0 {
            return low.1;
        }
        for &high in &self.points[1..] {
            if idle.0 < high.0 {
                return low.1 + (high.1 - low.1) * (idle.0 - low.0) / (high.0 - low.0);
            }
            low = high;
        }
        low.1
    }

    /// The curve of `combine` of the times of both. It is exact for linear combinations.
    pub(super) fn with(&self, other: &Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        let mut idles: Vec<f64> = self.points.iter().chain(&other.points).map(|point| point.0).collect();
        idles.sort_by(f64::total_cmp);
        idles.dedup();
        let at = |idle| (idle, combine(self.at(Idle(idle)), other.at(Idle(idle))));
        Self { points: idles.into_iter().map(at).collect() }
    }

    /// What the curve has above its own hot time.
    pub(super) fn above_hot(&self) -> Self {
        let hot = self.hot();
        Self { points: self.points.iter().map(|&(idle, time)| (idle, time - hot)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_linear_in_the_logarithm_and_constant_outside() {
        let curve = Curve::new([(1e6, 30.0), (1e4, 10.0)]).unwrap();
        let at = |nanos| curve.at(Idle::new(nanos));
        assert_eq!([at(0.0), at(1e4), at(1e6), at(1e9)], [10.0, 10.0, 30.0, 30.0]);
        assert!((at(1e5) - 20.0).abs() < 1e-12 && (at(1e4 * 10_f64.sqrt()) - 15.0).abs() < 1e-12);
        assert_eq!((curve.at(Idle::NONE), curve.hot()), (10.0, 10.0));
        assert_eq!(Curve::new([]), None);
    }

    #[test]
    fn a_difference_of_curves_has_the_points_of_both() {
        let steep = Curve::new([(1e2, 0.0), (1e4, 20.0)]).unwrap();
        let late = Curve::new([(1e3, 1.0), (1e5, 5.0)]).unwrap();
        let difference = steep.with(&late, |a, b| a - b);
        for (nanos, expected) in [(1e2, -1.0), (1e3, 9.0), (1e4, 17.0), (1e5, 15.0), (10_f64.powf(3.5), 13.0)]
        {
            assert!((difference.at(Idle::new(nanos)) - expected).abs() < 1e-12, "{nanos}");
        }
    }

    #[test]
    fn above_hot_begins_at_zero() {
        let above = Curve::new([(1e4, 10.0), (1e6, 30.0)]).unwrap().above_hot();
        assert_eq!((above.hot(), above.at(Idle::new(1e6))), (0.0, 20.0));
    }
}
