//! Computes a run's mean from its timed packets, and a value with its interval from runs.

use crate::run::proximity::{Proximity, Readings};
use warmcore_costs::Measured;
use warmcore_stats::Interval;
use warmcore_units::Nanos;

/// The mean of one run's packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RunMean {
    pub(crate) mean: f64,
    /// Packets that count.
    pub(crate) packets: usize,
    /// Packets set aside because an interrupt hit them.
    pub(crate) set_aside: usize,
}

/// A packet is set aside as hit by an interrupt if it took more than this many times the run's
/// median **and** more than [`SHORTEST_INTERRUPT`] beyond it.
///
/// The first condition keeps cold packets, whose slowest are well within three times their median. The
/// second keeps hot ones, where a single miss to memory may be several times a median of some hundred
/// nanoseconds. An interrupt's entry, handler and return take at least one to several microseconds.
const OUTLIER_FACTOR: f64 = 5.0;
/// A time below that of any interrupt, in nanoseconds.
const SHORTEST_INTERRUPT: f64 = 1_000.0;

impl RunMean {
    /// The mean of `times`, in nanoseconds; `None` if there are none.
    pub(crate) fn new(mut times: Vec<f64>) -> Option<Self> {
        times.sort_by(f64::total_cmp);
        let median = *times.get(times.len() / 2)?;
        let limit = (median * OUTLIER_FACTOR).max(median + SHORTEST_INTERRUPT);
        let packets = times.partition_point(|&time| time <= limit);
        let mean = times[..packets].iter().sum::<f64>() / packets as f64;
        Some(Self { mean, packets, set_aside: times.len() - packets })
    }
}

/// One run's value, and whether it may count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Run {
    pub(crate) value: f64,
    /// Whether the kernel disturbed it.
    pub(crate) disturbed: bool,
    /// The distance readings of the processors.
    pub(crate) readings: Readings,
}

/// All runs of one value so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Series(Vec<Run>);

impl Series {
    /// Least number of runs for an interval.
    const LEAST: usize = 2;

    pub(crate) fn push(&mut self, run: Run) {
        self.0.push(run);
    }

    /// All runs, including those that do not count.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.0
    }

    /// The values of the runs that count: undisturbed, and at the right distance.
    fn valid(&self, proximity: &Proximity) -> Vec<f64> {
        let counts = |run: &&Run| !run.disturbed && proximity.matches(run.readings);
        self.0.iter().filter(counts).map(|run| run.value).collect()
    }

    /// Whether runs that should not count must be used, because too few others exist.
    pub(crate) fn relies_on_disturbed(&self, proximity: &Proximity) -> bool {
        self.valid(proximity).len() < Self::LEAST
    }

    /// Whether at least `runs` runs count and the half-width is at most `target` of their mean.
    pub(crate) fn is_known(&self, runs: u32, target: f64, proximity: &Proximity) -> bool {
        let valid = self.valid(proximity);
        valid.len() >= runs as usize && interval(&valid).relative() <= target
    }

    /// The value with its interval, checked against `target`; `None` with fewer than two runs.
    ///
    /// If too few runs count, all runs are used, and the value misses its target.
    pub(crate) fn measured(&self, target: f64, proximity: &Proximity) -> Option<Measured> {
        let mut valid = self.valid(proximity);
        let disturbed = self.0.len() - valid.len();
        let relies_on_disturbed = valid.len() < Self::LEAST;
        if relies_on_disturbed {
            valid = self.0.iter().map(|run| run.value).collect();
        }
        if valid.len() < Self::LEAST {
            return None;
        }
        let interval = interval(&valid);
        Some(Measured {
            mean: Nanos(interval.mean),
            half_width: Some(Nanos(interval.half_width)),
            runs: count(valid.len()),
            disturbed: count(disturbed),
            rests_on_disturbed: relies_on_disturbed,
            missed_target: relies_on_disturbed || interval.relative() > target,
        })
    }
}

/// The interval for the mean of runs in order of time.
///
/// Runs near each other in time are correlated, because a machine drifts. Taken as independent, many of
/// them would give an interval that is too narrow. So with at least twice [`BATCHES`] runs, the
/// interval is computed from the means of that many consecutive batches, whose spread shows the drift.
/// Drift was seen to last for tens of seconds, so batches must be long, and few.
fn interval(runs: &[f64]) -> Interval {
    if runs.len() < 2 * BATCHES {
        return Interval::from_observations(runs);
    }
    let start = |batch: usize| batch * runs.len() / BATCHES;
    let mean = |batch: usize| Interval::from_observations(&runs[start(batch)..start(batch + 1)]).mean;
    let batches: Vec<f64> = (0..BATCHES).map(mean).collect();
    // Batches may differ by one run, so the mean is that of all runs and the spread that of the
    // batches.
    Interval { mean: Interval::from_observations(runs).mean, ..Interval::from_observations(&batches) }
}

/// Number of batches into which runs are grouped.
const BATCHES: usize = 6;

fn count(runs: usize) -> u32 {
    u32::try_from(runs).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_hit_by_an_interrupt_is_set_aside() {
        let mut times = vec![100.0; 999];
        times.push(3_000.0);
        let run = RunMean::new(times).unwrap();
        assert_eq!(run, RunMean { mean: 100.0, packets: 999, set_aside: 1 });
    }

    #[test]
    fn slow_packets_that_a_cold_cache_explains_are_kept() {
        // Hot: five misses to memory on top of 80 ns. Cold: three times the median.
        for times in [vec![80.0, 80.0, 80.0, 80.0, 780.0], vec![6_000.0, 6_000.0, 18_000.0]] {
            let all = times.len();
            assert_eq!(RunMean::new(times).unwrap().packets, all);
        }
    }

    #[test]
    fn a_run_without_packets_has_no_mean() {
        assert_eq!(RunMean::new(Vec::new()), None);
    }

    fn run(value: f64, disturbed: bool) -> Run {
        Run { value, disturbed, readings: None }
    }

    const ANYWHERE: Proximity = Proximity { reference: None };

    #[test]
    fn disturbed_runs_are_counted_and_left_out() {
        let mut series = Series::default();
        for value in [100.0, 101.0, 99.0, 100.0] {
            series.push(run(value, false));
        }
        series.push(run(900.0, true));
        let value = series.measured(0.05, &ANYWHERE).unwrap();
        assert_eq!((value.mean, value.runs, value.disturbed), (Nanos(100.0), 4, 1));
        assert!(!value.missed_target && !series.relies_on_disturbed(&ANYWHERE));
        assert!(series.is_known(4, 0.05, &ANYWHERE) && !series.is_known(5, 0.05, &ANYWHERE));
        assert!(series.measured(0.001, &ANYWHERE).unwrap().missed_target);
    }

    #[test]
    fn drift_widens_the_interval_of_many_runs() {
        let drifting: Vec<f64> = (0..240).map(|run| 100.0 + f64::from(run / 120)).collect();
        let steady: Vec<f64> = (0..240).map(|run| 100.0 + f64::from(run % 2)).collect();
        let (drifting, steady) = (interval(&drifting), interval(&steady));
        assert!((drifting.mean - 100.5).abs() < 1e-9 && (steady.mean - 100.5).abs() < 1e-9);
        assert!(drifting.half_width > 0.3, "{}", drifting.half_width);
        assert!(steady.half_width < 1e-9, "{}", steady.half_width);
        assert_eq!(interval(&[1.0, 3.0]).mean, 2.0);
    }

    #[test]
    fn runs_at_another_distance_are_left_out() {
        let mut series = Series::default();
        for (value, reading) in [(100.0, 70.0), (102.0, 71.0), (300.0, 260.0), (301.0, 262.0)] {
            series.push(Run { value, disturbed: false, readings: Some([reading; 2]) });
        }
        let near = Proximity { reference: Some(70.0) };
        let value = series.measured(0.5, &near).unwrap();
        assert_eq!((value.mean, value.runs, value.disturbed), (Nanos(101.0), 2, 2));
    }

    #[test]
    fn a_value_is_marked_if_every_run_was_disturbed() {
        let mut series = Series::default();
        assert_eq!(series.measured(0.01, &ANYWHERE), None);
        series.push(run(100.0, true));
        assert_eq!(series.measured(0.01, &ANYWHERE), None, "one run has no interval");
        series.push(run(100.0, true));
        let value = series.measured(0.01, &ANYWHERE).unwrap();
        assert!(value.missed_target && series.relies_on_disturbed(&ANYWHERE));
        assert_eq!((value.runs, value.disturbed, value.rests_on_disturbed), (2, 2, true));
    }
}
