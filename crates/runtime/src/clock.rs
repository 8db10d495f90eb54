//! The clock of a run: nanoseconds since it began, from the processor's counter where there is one
//! that all processors share.

use quanta::Clock as Counter;
use warmcore_units::Nanos;

/// Time since the run began, the same on all processors.
#[derive(Clone, Debug)]
pub struct Clock {
    counter: Counter,
    origin: u64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        let counter = Counter::new();
        let origin = counter.raw();
        Self { counter, origin }
    }

    /// How long ago it was started.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(self.counter.delta_as_nanos(self.origin, self.counter.raw()) as f64)
    }
}
