//! A closed loop: clients that send a request, wait for its answer, think, and send the next one.
//!
//! The number of requests in the system and of clients that think is constant, so no queue grows for ever, and the rate
//! follows from how fast the host is. Who processes the requests says when each is finished.

use crate::distribution::TimeDistribution;
use crate::event_queue::EventQueue;
use crate::micros;
use crate::random::{Key, Purpose, Random};
use crate::{Arrival, TimeFactors};
use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos, StreamId};

/// Each stream is a client that keeps a window of requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    /// How many requests of a stream are under way or being thought of.
    #[serde(default = "one")]
    pub window: u32,
    /// Mean time from the end of a request to the next one in its place, in microseconds.
    #[serde(rename = "think_us", with = "micros")]
    pub think: Nanos,
    /// How that time varies.
    #[serde(default = "exponential")]
    pub distribution: TimeDistribution,
}

const fn one() -> u32 {
    1
}

const fn exponential() -> TimeDistribution {
    TimeDistribution::Exponential
}

impl ClosedLoop {
    /// The largest window of a stream.
    pub const MAX_WINDOW: u32 = 1_000_000;
    /// The longest mean time between requests: an hour.
    pub const MAX_THINK: Nanos = Nanos(3_600e9);

    /// Checks the parameters; fields are named from the table of the loop.
    ///
    /// # Errors
    /// The first parameter that cannot be used.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1..=Self::MAX_WINDOW).contains(&self.window) {
            let expected = format!("between 1 and {} requests", Self::MAX_WINDOW);
            return Err(Fault::new("window", self.window, expected));
        }
        if !(self.think.0 >= 0.0 && self.think <= Self::MAX_THINK) {
            let expected =
                format!("a number of microseconds, not negative, at most {}", Self::MAX_THINK.micros());
            return Err(Fault::new("think_us", self.think.micros(), expected));
        }
        self.distribution
            .check()
            .map_err(|fault| Fault { field: format!("distribution.{}", fault.field), ..fault })
    }
}

/// The clients of a closed loop: who thinks, and until when.
#[derive(Clone, Debug)]
pub struct Clients {
    think: Nanos,
    factors: TimeFactors,
    random: Random,
    thinking: EventQueue<()>,
}

impl Clients {
    /// All requests of `streams` streams are being thought of at time 0.
    ///
    /// # Errors
    /// As [`ClosedLoop::check`].
    pub fn new(closed: &ClosedLoop, streams: u32, key: Key) -> Result<Self, Fault> {
        closed.check()?;
        let factors = closed.distribution.factors()?;
        let random = key.stream(Purpose::Think);
        let mut clients = Self { think: closed.think, factors, random, thinking: EventQueue::default() };
        for _ in 0..closed.window {
            (0..streams).for_each(|stream| clients.finished(StreamId(stream), Nanos::ZERO));
        }
        Ok(clients)
    }

    /// When the next request comes; infinite if none is being thought of.
    #[must_use]
    pub fn next_time(&self) -> Nanos {
        self.thinking.next_time()
    }

    /// Takes the next request.
    pub fn request(&mut self) -> Option<Arrival> {
        self.thinking.take(|_, ()| None)
    }

    /// A request of `stream` is finished at `now`: its client begins to think of the next one.
    pub fn finished(&mut self, stream: StreamId, now: Nanos) {
        let think = self.think * self.factors.draw(&mut self.random);
        self.thinking.enter(now + think, stream, ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_requests_is_under_way_for_each_stream() {
        let closed =
            ClosedLoop { window: 2, think: Nanos(100.0), distribution: TimeDistribution::Deterministic };
        let key = Key { seed: 1, point: 0, replication: 0 };
        let mut clients = Clients::new(&closed, 2, key).unwrap();
        let sent: Vec<u32> = (0..4).filter_map(|_| Some(clients.request()?.stream.0)).collect();
        assert_eq!(sent, [0, 0, 1, 1]);
        assert_eq!((clients.next_time(), clients.request()), (Nanos::INFINITY, None));
        clients.finished(StreamId(1), Nanos(150.0));
        assert_eq!(clients.request(), Some(Arrival::single(Nanos(250.0), StreamId(1))));
    }

    #[test]
    fn impossible_loops_are_refused_by_field() {
        let fine = ClosedLoop { window: 1, think: Nanos::ZERO, distribution: TimeDistribution::Exponential };
        assert_eq!(fine.check(), Ok(()));
        let field = |closed: ClosedLoop| closed.check().unwrap_err().field;
        assert_eq!(field(ClosedLoop { window: 0, ..fine.clone() }), "window");
        assert_eq!(field(ClosedLoop { think: Nanos(-1.0), ..fine.clone() }), "think_us");
        let flat = ClosedLoop { distribution: TimeDistribution::Pareto(0.5), ..fine };
        assert_eq!(field(flat), "distribution.pareto");
    }
}
