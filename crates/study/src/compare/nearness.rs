//! Counts only runs in which the processors are at the same distance as in the others.
//!
//! A hypervisor moves virtual processors between physical ones, and a cache line then takes several times as
//! long from one to the other, or half as long. A measurement at one distance says nothing about another, so
//! the distance is measured before and after each run. The reference is the distance at which the profile was
//! measured, or the usual one if the profile does not say.

use super::CompareError;
use super::quiet::ObservedRun;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_measure::{Proximity, Timer, handover};
use warmcore_units::{CpuId, Nanos};

/// How often a run is repeated until one counts.
const ATTEMPTS: usize = 4;
/// How long a comparison waits, in all, for processors to come near again. With the profile of another
/// machine they never do.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// Time between two measurements of the distance.
const PAUSE: Duration = Duration::from_millis(20);
/// Measurements before the first run.
const READINGS: usize = 25;

/// The distance between the processors of a comparison.
#[derive(Debug)]
pub struct Nearness<'a> {
    /// The two processors that are watched; `None` if a run has one worker.
    pair: Option<[CpuId; 2]>,
    timer: Timer,
    /// The distance at which the profile was measured.
    reference: Option<f64>,
    /// What is left of [`LONGEST_WAIT`].
    wait_left: Duration,
    /// All measurements so far, in nanoseconds, in ascending order.
    readings: Vec<f64>,
    stop: &'a AtomicBool,
}

impl<'a> Nearness<'a> {
    /// Watches the first two of `cpus`. `reference` is the hand-over time when the profile was measured, if
    /// that is known.
    ///
    /// # Errors
    /// If they cannot be measured.
    pub fn new(cpus: &[CpuId], reference: Option<Nanos>, stop: &'a AtomicBool) -> Result<Self, CompareError> {
        let pair = cpus.first_chunk().copied();
        let reference = reference.map(|time| time.0);
        let mut nearness = Self {
            pair,
            timer: Timer::calibrate(),
            reference,
            wait_left: LONGEST_WAIT,
            readings: Vec::new(),
            stop,
        };
        for _ in 0..READINGS {
            nearness.measure_distance()?;
            thread::sleep(PAUSE);
        }
        Ok(nearness)
    }

    /// The reference distance: the profile's, or the median of all measurements.
    fn reference_distance(&self) -> Proximity {
        Proximity {
            reference: self.reference.or_else(|| self.readings.get(self.readings.len() / 2).copied()),
        }
    }

    /// Repeats `run` until the processors were near from beginning to end, and returns its result and whether
    /// they were. If no attempt succeeds, the last one is returned.
    ///
    /// # Errors
    /// If the run fails, or the user stops.
    pub fn run_near<T>(
        &mut self,
        mut run: impl FnMut() -> Result<ObservedRun<T>, CompareError>,
    ) -> Result<ObservedRun<T>, CompareError> {
        let mut attempt = 1;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(CompareError::Interrupted);
            }
            let before = self.wait_until_near()?;
            let ran = run()?;
            let after = self.measure_distance()?;
            let held =
                self.reference_distance().matches(before.zip(after).map(|(before, after)| [before, after]));
            if held || attempt == ATTEMPTS || self.wait_left.is_zero() {
                return Ok(ObservedRun { near: held, ..ran });
            }
            attempt += 1;
        }
    }

    /// Waits until the processors are near, for a limited time.
    fn wait_until_near(&mut self) -> Result<Option<f64>, CompareError> {
        let since = Instant::now();
        loop {
            let reading = self.measure_distance()?;
            let held = self.reference_distance().matches(reading.map(|reading| [reading; 2]));
            if held || since.elapsed() >= self.wait_left || self.stop.load(Ordering::Relaxed) {
                self.wait_left = self.wait_left.saturating_sub(since.elapsed());
                return Ok(reading);
            }
            thread::sleep(PAUSE);
        }
    }

    /// The distance now, in nanoseconds.
    fn measure_distance(&mut self) -> Result<Option<f64>, CompareError> {
        let Some(pair) = self.pair else { return Ok(None) };
        let time = handover(pair, &self.timer, self.stop)?.0;
        self.readings.insert(self.readings.partition_point(|&reading| reading < time), time);
        Ok(Some(time))
    }
}
