//! The distance between the measuring processors, and whether it has changed.
//!
//! A hypervisor moves virtual processors between physical ones without telling the guest. Two that
//! shared a last-level cache a moment ago may now be at opposite ends of a socket, and a line that
//! migrated in 35 ns then takes 130 ns. This is as much a move of a measuring thread as one by the
//! kernel, and counts as a disturbance. It shows in the time a line takes from one thread to the other
//! and back, which every run measures at its beginning and end.
//!
//! The reference is the nearest distance at which the processors stayed for a fair part of the
//! calibration. Runs at other distances are set aside, most of them before they begin. This way two
//! calibrations measure the same thing even if the hypervisor moved more in one of them. If distances
//! were mixed, the results would depend on how long the processors stayed at each.

use std::time::Duration;

/// How long to wait before the next run if the processors are at the wrong distance.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
/// The fraction of the readings below the reference.
const FAIR_PART: f64 = 0.1;

/// The hand-over times at the beginning and end of a run, in nanoseconds; `None` with one processor.
pub(crate) type Readings = Option<[f64; 2]>;

/// The distance at which runs count.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Proximity {
    /// Time of one hand-over, in nanoseconds; `None` before the first reading.
    pub reference: Option<f64>,
}

impl Proximity {
    /// Readings differ from the reference by less than this factor unless a processor was moved.
    pub const TOLERANCE: f64 = 1.5;

    /// Accepts any distance.
    pub(crate) const ANY: Self = Self { reference: None };

    /// The reference distance according to the readings of all runs so far.
    pub(crate) fn from_readings(readings: impl Iterator<Item = Readings>) -> Self {
        let mut times: Vec<f64> = readings.flatten().flatten().collect();
        times.sort_by(f64::total_cmp);
        Self { reference: times.get((times.len() as f64 * FAIR_PART) as usize).copied() }
    }

    /// The range that contains 95% of the `readings` at this distance.
    pub(crate) fn range(&self, readings: impl Iterator<Item = Readings>) -> Option<[f64; 2]> {
        let mut times: Vec<f64> =
            readings.filter(|&readings| self.matches(readings)).flatten().flatten().collect();
        times.sort_by(f64::total_cmp);
        let outside = times.len() / 40;
        Some([*times.get(outside)?, *times.iter().rev().nth(outside)?])
    }

    /// Whether the processors were at this distance at the beginning and the end of a run.
    #[must_use]
    pub fn matches(&self, readings: Option<[f64; 2]>) -> bool {
        let (Some(reference), Some(readings)) = (self.reference, readings) else { return true };
        let near = |time: f64| (reference / Self::TOLERANCE..=reference * Self::TOLERANCE).contains(&time);
        readings.into_iter().all(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(near: usize, far: usize) -> Vec<Readings> {
        let jitter = |index: usize| 1.0 + 0.002 * (index % 10) as f64;
        let near = (0..near).map(move |index| Some([70.0 * jitter(index); 2]));
        near.chain((0..far).map(move |index| Some([260.0 * jitter(index); 2]))).collect()
    }

    fn counting(readings: &[Readings]) -> usize {
        let proximity = Proximity::from_readings(readings.iter().copied());
        readings.iter().filter(|&&reading| proximity.matches(reading)).count()
    }

    #[test]
    fn the_nearest_distance_held_for_a_fair_part_counts() {
        assert_eq!(counting(&readings(100, 0)), 100);
        assert_eq!(counting(&readings(30, 70)), 30);
        assert_eq!(counting(&readings(80, 20)), 80);
        assert_eq!(counting(&readings(5, 95)), 95, "5% is less than a fair part");
    }

    #[test]
    fn the_range_holds_most_readings_at_the_distance_that_counts() {
        let readings = readings(100, 30);
        let [low, high] = Proximity { reference: Some(70.0) }.range(readings.into_iter()).unwrap();
        assert!((70.0..70.3).contains(&low) && (70.9..71.5).contains(&high), "{low} to {high}");
        assert_eq!(Proximity::ANY.range(std::iter::repeat_n(None, 3)), None);
    }

    #[test]
    fn a_run_in_which_a_processor_was_moved_does_not_count() {
        let proximity = Proximity { reference: Some(70.0) };
        assert!(proximity.matches(Some([71.0, 68.0])));
        assert!(!proximity.matches(Some([71.0, 260.0])));
        assert!(!proximity.matches(Some([260.0, 71.0])));
    }

    #[test]
    fn one_processor_is_never_apart() {
        assert!(Proximity::from_readings(std::iter::repeat_n(None, 3)).matches(None));
        assert!(Proximity { reference: Some(70.0) }.matches(None));
    }
}
