//! When requests are due: a Poisson process for each source, which draws one of its flows for each request.

use crate::server::flows::Flows;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use warmcore_units::PerSecond;
use warmcore_workload::random::{Key, Purpose, Random};

/// The next request of a source.
#[derive(Clone, Debug)]
pub(super) struct Next {
    /// When it is due, in nanoseconds.
    pub(super) due: f64,
    pub(super) flow: u32,
    times: Random,
    choices: Random,
    /// Nanoseconds between requests of this source, on average.
    gap: f64,
    source: u32,
    sources: u32,
    flows: u32,
}

impl Next {
    /// The first requests of all sources, which send at `rate` together. Policies with equal `key` see the same requests.
    pub(super) fn first(flows: &Flows, sources: u32, rate: PerSecond, key: Key) -> Vec<Self> {
        let gap = rate.interval().0 * f64::from(sources);
        let (mut times, mut choices) = (key.stream(Purpose::Interarrival), key.stream(Purpose::Stream));
        let source = |source| {
            // Each source draws from a part of its own of the two sequences.
            times.jump();
            choices.jump();
            let (times, choices) = (times.clone(), choices.clone());
            let flows = flows.of_source(source);
            let mut next = Self { due: 0.0, flow: 0, times, choices, gap, source, sources, flows };
            next.advance();
            next
        };
        (0..sources).map(source).collect()
    }

    /// Goes on to the request after.
    #[inline]
    pub(super) fn advance(&mut self) {
        let interval: f64 = Exp1.sample(&mut self.times);
        self.due += self.gap * interval;
        self.flow = self.source + self.sources * self.choices.random_range(0..self.flows);
    }

    /// Begins again at time 0, with other requests.
    pub(super) fn restart(&mut self) {
        self.due = 0.0;
        self.advance();
    }

    /// How many requests are due at `now` and not sent, on average.
    pub(super) fn lag(&self, now: f64) -> f64 {
        ((now - self.due) / self.gap).max(0.0)
    }
}
