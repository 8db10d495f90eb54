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

    /// How long a look at it takes.
    #[must_use]
    pub fn cost(&self) -> Nanos {
        const LOOKS: u32 = 1_000;
        const TRIES: u32 = 20;
        let looks = |_| {
            let begun = self.now();
            (0..LOOKS).for_each(|_| _ = core::hint::black_box(self.now()));
            (self.now() - begun).0 / f64::from(LOOKS)
        };
        // What disturbs one only makes it slower.
        Nanos((0..TRIES).map(looks).fold(f64::INFINITY, f64::min))
    }

    /// How long ago it was started.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(self.counter.delta_as_nanos(self.origin, self.counter.raw()) as f64)
    }
}
