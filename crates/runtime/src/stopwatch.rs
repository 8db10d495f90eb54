//! Times in the stack, read as a calibration reads them.
//!
//! The workers' clock is cheap: it says when a packet was finished, and what a worker does until it has
//! finished the next. That time holds the stack, but also a reading of the clock, the lock of the protocol
//! thread and, where packets follow each other, the books of the packet before. A stopwatch is read right
//! before and right after the stack, stores included, and its own cost is subtracted: what it says is what a
//! calibration says. A reading takes tens of nanoseconds, so that only some packets are timed.

use warmcore_units::Nanos;

/// How the stack's time is read.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    /// Reads a counter, after everything before it and before everything after it.
    pub read: fn() -> u64,
    /// What a tick of it lasts.
    pub nanos_per_tick: f64,
    /// What two readings with nothing in between amount to; it is subtracted.
    pub overhead: Nanos,
    /// One packet in so many is timed, by each worker. Best a prime: packets come in batches.
    pub every: u32,
}

impl Stopwatch {
    /// The time between two readings.
    #[inline]
    pub(crate) fn between(&self, start: u64, stop: u64) -> Nanos {
        Nanos(stop.saturating_sub(start) as f64 * self.nanos_per_tick) - self.overhead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reading_takes_is_not_the_stacks() {
        let watch = Stopwatch { read: || 0, nanos_per_tick: 0.5, overhead: Nanos(20.0), every: 1 };
        assert_eq!(watch.between(100, 300), Nanos(80.0));
        assert_eq!(watch.between(300, 100), Nanos(-20.0));
    }
}
