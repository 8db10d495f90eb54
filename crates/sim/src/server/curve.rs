//! A time that depends on how long nothing ran before.

/// Points of time against idle time, both in nanoseconds; between them linear in the logarithm of the idle time, outside constant.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// The curve through these points, at least one; `None` without.
    pub(super) fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let mut points: Vec<(f64, f64)> =
            points.into_iter().map(|(idle, time)| (idle.max(1.0).ln(), time)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        (!points.is_empty()).then_some(Self(points))
    }

    /// The time after so long `idle`.
    pub(super) fn at(&self, idle: f64) -> f64 {
        let x = idle.max(1.0).ln();
        let above = self.0.partition_point(|point| point.0 <= x);
        match (above.checked_sub(1).map(|below| self.0[below]), self.0.get(above)) {
            (Some(below), Some(above)) => below.1 + (above.1 - below.1) * (x - below.0) / (above.0 - below.0),
            (Some(last), None) => last.1,
            (None, Some(first)) => first.1,
            (None, None) => 0.0,
        }
    }

    /// The time after the shortest idle time.
    pub(super) fn hot(&self) -> f64 {
        self.0[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_interpolated_by_the_logarithm_and_constant_outside() {
        let curve = Curve::new([(10_000.0, 300.0), (100.0, 100.0)]).unwrap();
        let times = [1.0, 100.0, 1_000.0, 10_000.0, 1e9].map(|idle| curve.at(idle).round());
        assert_eq!(times, [100.0, 100.0, 200.0, 300.0, 300.0]);
        assert_eq!(curve.hot(), 100.0);
        assert_eq!(Curve::new([]), None);
    }
}
