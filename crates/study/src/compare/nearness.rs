//! Runs that count only if the processors are where they were in the others.
//!
//! A hypervisor moves virtual processors between physical ones, and a line then takes several times
//! as long from one to the other, or half as long. What is measured at one distance says nothing of
//! another, so the distance is read before and after each run. It is the one at which the profile was
//! measured that counts, or the usual one if the profile does not say.

use super::CompareError;
use super::quiet::Ran;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_measure::{Proximity, Timer, handover};
use warmcore_units::{CpuId, Nanos};

/// How often a run is made until one counts.
const ATTEMPTS: usize = 4;
/// How long to wait, in all of a comparison, for processors to come near again: where a profile is
/// another machine's, they never do.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at how far apart they are.
const PAUSE: Duration = Duration::from_millis(20);
/// Looks before the first run.
const LOOKS: usize = 25;

/// How near to each other the processors of a comparison are.
#[derive(Debug)]
pub struct Nearness<'a> {
    /// The two that are watched; there are none where a run has one worker.
    pair: Option<[CpuId; 2]>,
    timer: Timer,
    /// The distance at which the profile was measured.
    reference: Option<f64>,
    /// What is left of the [`PATIENCE`].
    patience: Duration,
    /// All looks so far, in nanoseconds, in ascending order.
    looks: Vec<f64>,
    stop: &'a AtomicBool,
}

impl<'a> Nearness<'a> {
    /// Of the first two of `cpus`; a hand-over between them took `reference` when the profile was
    /// measured, if that is known.
    ///
    /// # Errors
    /// If they cannot be measured.
    pub fn new(cpus: &[CpuId], reference: Option<Nanos>, stop: &'a AtomicBool) -> Result<Self, CompareError> {
        let pair = cpus.first_chunk().copied();
        let reference = reference.map(|time| time.0);
        let mut nearness =
            Self { pair, timer: Timer::calibrate(), reference, patience: PATIENCE, looks: Vec::new(), stop };
        for _ in 0..LOOKS {
            nearness.look()?;
            thread::sleep(PAUSE);
        }
        Ok(nearness)
    }

    /// The distance that counts: the profile's, or the median of all looks.
    fn that_counts(&self) -> Proximity {
        Proximity { reference: self.reference.or_else(|| self.looks.get(self.looks.len() / 2).copied()) }
    }

    /// Makes a `run` whose processors were near from beginning to end, and says that they were; the last
    /// one, if those of none of several were.
    ///
    /// # Errors
    /// If the run fails, or the user stops.
    pub fn hold<T>(
        &mut self,
        mut run: impl FnMut() -> Result<Ran<T>, CompareError>,
    ) -> Result<Ran<T>, CompareError> {
        let mut attempt = 1;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(CompareError::Interrupted);
            }
            let before = self.come_near()?;
            let ran = run()?;
            let after = self.look()?;
            let held = self.that_counts().matches(before.zip(after).map(|(before, after)| [before, after]));
            if held || attempt == ATTEMPTS || self.patience.is_zero() {
                return Ok(Ran { near: held, ..ran });
            }
            attempt += 1;
        }
    }

    /// Waits until the processors are near, but not for ever.
    fn come_near(&mut self) -> Result<Option<f64>, CompareError> {
        let since = Instant::now();
        loop {
            let reading = self.look()?;
            let held = self.that_counts().matches(reading.map(|reading| [reading; 2]));
            if held || since.elapsed() >= self.patience || self.stop.load(Ordering::Relaxed) {
                self.patience = self.patience.saturating_sub(since.elapsed());
                return Ok(reading);
            }
            thread::sleep(PAUSE);
        }
    }

    /// How far apart they are now, in nanoseconds.
    fn look(&mut self) -> Result<Option<f64>, CompareError> {
        let Some(pair) = self.pair else { return Ok(None) };
        let time = handover(pair, &self.timer, self.stop)?.0;
        self.looks.insert(self.looks.partition_point(|&look| look < time), time);
        Ok(Some(time))
    }
}
