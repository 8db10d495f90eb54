//! How far apart the measuring processors are, and whether they still are.
//!
//! A hypervisor moves virtual processors between physical ones, and the guest is not told: two
//! that shared a last-level cache a moment ago may now sit at opposite ends of a socket, and a
//! line that migrated in 35 ns takes 130 ns. That is as much a move of a measuring thread as one
//! that the kernel makes, and counts as a disturbance. It shows in how long a line takes from one
//! thread to the other and back, which every run reads when it begins and when it ends.
//!
//! The distance that counts is the nearest at which the processors stayed for a fair part of the
//! calibration; runs at other distances are set aside, most of them before they begin. Two calibrations so measure the same thing
//! even if the hypervisor moved more in one of them; mixing distances, their results would differ
//! by how long it stayed where.

use std::time::Duration;

/// How long to wait before the next run where the processors are not where runs count.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
/// The part of the readings, from the nearest on, that the reference exceeds.
const FAIR_PART: f64 = 0.1;

/// The hand-over times, in nanoseconds, with which a run began and ended; `None` with one
/// processor.
pub(crate) type Readings = Option<[f64; 2]>;

/// The distance at which runs count.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Proximity {
    /// Time of one hand-over, in nanoseconds; `None` before there is any reading.
    pub reference: Option<f64>,
}

impl Proximity {
    /// Readings differ from the reference by less than this factor, unless a processor was moved.
    pub const TOLERANCE: f64 = 1.5;

    /// Any distance.
    pub(crate) const ANY: Self = Self { reference: None };

    /// As the readings of all runs so far have it.
    pub(crate) fn from_readings(readings: impl Iterator<Item = Readings>) -> Self {
        let mut times: Vec<f64> = readings.flatten().flatten().collect();
        times.sort_by(f64::total_cmp);
        Self { reference: times.get((times.len() as f64 * FAIR_PART) as usize).copied() }
    }

    /// Between which times 95% of the `readings` at this distance lay.
    pub(crate) fn range(&self, readings: impl Iterator<Item = Readings>) -> Option<[f64; 2]> {
        let mut times: Vec<f64> =
            readings.filter(|&readings| self.matches(readings)).flatten().flatten().collect();
        times.sort_by(f64::total_cmp);
        let outside = times.len() / 40;
        Some([*times.get(outside)?, *times.iter().rev().nth(outside)?])
    }

    /// Whether the processors were at this distance when a run began and when it ended.
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
        assert_eq!(counting(&readings(5, 95)), 95, "a glimpse is no fair part");
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
