//! The intervening work of a measurement: the runtime's built-in other work, run for a given time.

use crate::clock::{self, Ticks, Timer};
use crate::error::{CalibrateError, RunError};
use crate::run::baton::Alarm;
use warmcore_runtime::Work;
use warmcore_runtime::work::BuiltIn;

/// Steps between two readings of the clock.
const STEPS: u32 = 4;

/// The work and its state. Each run continues where the last one ended.
pub(crate) struct Workload {
    work: BuiltIn,
    worked: Ticks,
}

impl Workload {
    /// Work drawn from `seed`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn new(seed: u64) -> Result<Self, CalibrateError> {
        Ok(Self { work: BuiltIn::new(BuiltIn::MEMORY, seed)?, worked: 0 })
    }

    /// Works for `duration` ticks of the counter. Returns how many ticks it really took.
    ///
    /// # Errors
    /// If the alarm goes off meanwhile.
    #[inline(never)]
    pub(crate) fn run(&mut self, duration: Ticks, alarm: &Alarm<'_>) -> Result<Ticks, RunError> {
        let start = clock::now();
        loop {
            (0..STEPS).for_each(|_| self.work.step());
            let worked = clock::now() - start;
            if worked >= duration {
                self.worked += worked;
                return Ok(worked);
            }
            alarm.check()?;
        }
    }

    /// References, to data and to instructions, per microsecond of work so far.
    pub(crate) fn references_per_us(&self, timer: &Timer) -> Option<f64> {
        let worked = timer.nanos(self.worked as f64).micros();
        let references = self.work.references();
        (references > 0 && worked > 0.0).then(|| references as f64 / worked)
    }

    /// The description of this work in a profile.
    pub(crate) fn description(&self) -> String {
        self.work.description()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn work_lasts_at_least_as_long_as_asked_and_counts_its_references() {
        let timer = Timer::calibrate();
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let mut workload = Workload::new(1).unwrap();
        assert_eq!(workload.references_per_us(&timer), None);
        for duration in [0, 1_000, 1_000_000] {
            assert!(workload.run(duration, &alarm).unwrap() >= duration);
        }
        assert!(workload.references_per_us(&timer).unwrap() > 0.0);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(workload.run(u64::MAX, &alarm), Err(RunError::Interrupted)));
    }
}
