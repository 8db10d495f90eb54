//! How long a handler takes.

use crate::work::nanos_of;
use core::fmt;
use warmcore_stats::Spread;

/// How often it is found out what takes how long.
const CALIBRATIONS: usize = 9;

/// A handler that does the same with every event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    nanos: u64,
    /// Of work, which take that long.
    pub(crate) turns: u64,
}

impl Handler {
    /// One that takes so many nanoseconds on this machine now. Zero is nothing but the check of the order.
    pub(crate) fn calibrated(nanos: u64) -> Self {
        if nanos == 0 {
            return Self { nanos, turns: 0 };
        }
        // Processors change their speed from one moment to the next.
        let several = (0..CALIBRATIONS).map(|_| turns_that_take(nanos as f64)).collect();
        Self { nanos, turns: Spread(several).median().round().max(1.0) as u64 }
    }
}

/// By two points of a line: what is there beside the turns counts too.
fn turns_that_take(nanos: f64) -> f64 {
    let (quarter, whole) = ((nanos / 4.0) as u64, nanos as u64);
    let (few, many) = (nanos_of(quarter), nanos_of(whole));
    let each = (many - few) / (whole - quarter) as f64;
    quarter as f64 + (nanos - few) / each
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanos {
            0 => f.write_str("nothing to do"),
            nanos => write!(f, "{nanos} ns to do"),
        }
    }
}
