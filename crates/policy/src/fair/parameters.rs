//! The constants of the scheduler, with Linux's defaults. Times are in nanoseconds.

use core::fmt;

/// All constants of the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// The request of a task: how long it runs before another's deadline may be earlier (`sysctl_sched_base_slice`).
    pub slice: u64,
    /// Between two timer interrupts of a processor, where slices end (`TICK_NSEC`).
    pub tick: u64,
    /// A waiting task that ran less than this ago counts as hot in its cache, and is taken over by another processor only if
    /// that has failed before (`sysctl_sched_migration_cost`).
    pub migration_cost: u64,
    /// Whether who runs is protected until its slice is over (`RUN_TO_PARITY`).
    pub run_to_parity: bool,
    /// Whether a task that wakes up may take the processor from who runs (`WAKEUP_PREEMPTION`).
    pub wakeup_preemption: bool,
    /// Whether a task that blocks while it is not eligible stays in its queue until it is (`DELAY_DEQUEUE`, since 6.12).
    pub delay_dequeue: bool,
}

/// The base slice of one processor: `normalized_sysctl_sched_base_slice` since 6.15; 0.75 ms before.
const NORMALISED_SLICE: u64 = 700_000;

impl Parameters {
    /// Linux's constants on a machine with `cpus` processors and ticks of 4 ms (`CONFIG_HZ=250`).
    #[must_use]
    pub const fn linux(cpus: u32) -> Self {
        Self {
            slice: NORMALISED_SLICE * Self::scaling(cpus),
            tick: 4_000_000,
            migration_cost: 500_000,
            run_to_parity: true,
            wakeup_preemption: true,
            delay_dequeue: true,
        }
    }

    /// `1 + log2(min(cpus, 8))`, by which more processors lengthen the slice (`get_update_sysctl_factor`).
    #[must_use]
    pub const fn scaling(cpus: u32) -> u64 {
        let counted = if cpus > 8 { 8 } else { cpus };
        match counted.checked_ilog2() {
            Some(log) => 1 + log as u64,
            None => 1,
        }
    }

    /// Checks that every value is possible.
    ///
    /// # Errors
    /// The first value that is not.
    pub const fn check(&self) -> Result<(), InvalidParameter> {
        if self.slice < 1000 || self.slice > LONGEST {
            return Err(InvalidParameter("the slice"));
        }
        if self.tick < 1000 || self.tick > LONGEST {
            return Err(InvalidParameter("the tick"));
        }
        if self.migration_cost > LONGEST {
            return Err(InvalidParameter("the migration cost"));
        }
        Ok(())
    }
}

/// The longest time that a parameter may be: a minute. Virtual times then fit 64 bits with room.
const LONGEST: u64 = 60_000_000_000;

/// A parameter that no scheduler can have, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidParameter(pub &'static str);

impl fmt::Display for InvalidParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not between a microsecond and a minute", self.0)
    }
}

impl core::error::Error for InvalidParameter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_grows_with_the_logarithm_of_up_to_eight_processors() {
        let slices = [1, 2, 3, 4, 8, 256].map(|cpus| Parameters::linux(cpus).slice);
        assert_eq!(slices, [700_000, 1_400_000, 1_400_000, 2_100_000, 2_800_000, 2_800_000]);
    }

    #[test]
    fn impossible_parameters_are_named() {
        let good = Parameters::linux(2);
        assert_eq!(good.check(), Ok(()));
        assert_eq!(Parameters { slice: 0, ..good }.check(), Err(InvalidParameter("the slice")));
        assert_eq!(Parameters { tick: u64::MAX, ..good }.check(), Err(InvalidParameter("the tick")));
    }
}
