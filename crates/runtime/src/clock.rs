//! The clock of a run: nanoseconds since the run began. It reads the processor's counter where all
//! processors share one.

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

    /// Measures how long one reading takes.
    #[must_use]
    pub fn cost(&self) -> Nanos {
        const READINGS: u32 = 1_000;
        const TRIES: u32 = 20;
        let mean = |_| {
            let begun = self.now();
            (0..READINGS).for_each(|_| _ = core::hint::black_box(self.now()));
            (self.now() - begun).0 / f64::from(READINGS)
        };
        // Disturbances only make a reading slower, so the fastest counts.
        Nanos((0..TRIES).map(mean).fold(f64::INFINITY, f64::min))
    }

    /// How long ago it was started.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(self.counter.delta_as_nanos(self.origin, self.counter.raw()) as f64)
    }
}
