//! Measures the time in the stack as a calibration does.
//!
//! The workers' clock is cheap. It says when a packet finished, and so how long a worker took from one
//! packet to the next. That time includes the stack, but also a clock reading, the lock of the protocol
//! thread and, if packets follow each other, the bookkeeping of the packet before. A stopwatch is read
//! right before and right after the stack, stores included, and its own cost is subtracted, so its
//! times compare with those of a calibration. A reading takes tens of nanoseconds, so only some packets
//! are timed.

use warmcore_units::Nanos;

/// A counter for timing the stack.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    /// Reads the counter, after all earlier and before all later instructions.
    pub read: fn() -> u64,
    /// Nanoseconds per tick of the counter.
    pub nanos_per_tick: f64,
    /// Time between two readings with nothing in between. It is subtracted.
    pub overhead: Nanos,
    /// Each worker times one packet in this many. Best a prime, because packets come in batches.
    pub every: u32,
}

impl Stopwatch {
    /// The time between two readings, without the overhead.
    #[inline]
    pub(crate) fn between(&self, start: u64, stop: u64) -> Nanos {
        Nanos(stop.saturating_sub(start) as f64 * self.nanos_per_tick) - self.overhead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overhead_of_reading_is_subtracted() {
        let watch = Stopwatch { read: || 0, nanos_per_tick: 0.5, overhead: Nanos(20.0), every: 1 };
        assert_eq!(watch.between(100, 300), Nanos(80.0));
        assert_eq!(watch.between(300, 100), Nanos(-20.0));
    }
}
