//! What a request costs a node.

use warmcore_units::{Fault, Nanos};

/// The most processors of a node.
pub const MOST_PROCESSORS: u32 = 1024;
/// The longest time that makes sense here, an hour.
const LONGEST: f64 = 3.6e12;

/// A node and what its requests cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// Processors of a node, one that is set aside included.
    pub processors: u32,
    /// Computing between two requests of a processor, on average; exponential.
    pub compute: Nanos,
    /// How long a processor executes a protocol event, with warm caches.
    pub occupancy: Nanos,
    /// From one node to the other.
    pub latency: Nanos,
    /// What it takes to interrupt a computing processor and to return to its work.
    pub interrupt: Nanos,
    /// Until a processor that waits goes on, if it sleeps; zero if it polls. A processor that is set aside polls.
    pub wake_up: Nanos,
    /// Fetching from another processor's cache, which whoever needs it pays each time: a request that another one wrote, the
    /// protocol's state when another one executed the last event, and an answer that another one received.
    pub handover: Nanos,
}

impl Demand {
    /// Checks that the nodes can be simulated. The fields are named as options of a command.
    ///
    /// # Errors
    /// The first value that is impossible.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1..=MOST_PROCESSORS).contains(&self.processors) {
            return Err(Fault::new("processors", self.processors, format!("1 to {MOST_PROCESSORS}")));
        }
        let times = [
            ("compute", self.compute),
            ("occupancy", self.occupancy),
            ("latency", self.latency),
            ("interrupt", self.interrupt),
            ("wake-up", self.wake_up),
            ("hand-over", self.handover),
        ];
        for (name, time) in times {
            if !(0.0..=LONGEST).contains(&time.0) {
                return Err(Fault::new(name, time, "a time from 0 to an hour"));
            }
        }
        if self.occupancy.0 == 0.0 {
            return Err(Fault::new(
                "occupancy",
                self.occupancy,
                "a time above 0: without protocol work there is no question",
            ));
        }
        Ok(())
    }

    /// The time of a request that meets no other, its events executed by processors that poll.
    #[must_use]
    pub fn round_trip(&self) -> Nanos {
        Nanos(3.0 * self.occupancy.0 + 2.0 * self.latency.0)
    }

    /// The part of its time that a processor computes if no request meets another: U of §4.3.2.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        self.compute.0 / (self.compute.0 + self.round_trip().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_named() {
        let good = Demand {
            processors: 4,
            compute: Nanos(1e4),
            occupancy: Nanos(400.0),
            latency: Nanos(250.0),
            interrupt: Nanos(500.0),
            wake_up: Nanos::ZERO,
            handover: Nanos(150.0),
        };
        let field = |demand: Demand| demand.check().expect_err("impossible").field;
        assert_eq!(good.check(), Ok(()));
        assert_eq!(field(Demand { processors: 0, ..good }), "processors");
        assert_eq!(field(Demand { occupancy: Nanos::ZERO, ..good }), "occupancy");
        assert_eq!(field(Demand { interrupt: Nanos(-1.0), ..good }), "interrupt");
        assert_eq!(field(Demand { wake_up: Nanos(f64::NAN), ..good }), "wake-up");
        assert_eq!(field(Demand { compute: Nanos::INFINITY, ..good }), "compute");
        assert!((good.round_trip().0 - 1700.0).abs() < 1e-9);
    }
}
