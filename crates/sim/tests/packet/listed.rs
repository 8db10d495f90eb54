//! Arrivals from a list.

use warmcore_sim::packet::{Finished, SimulatedHost, trace};
use warmcore_workload::{Arrival, Arrivals};

/// A source that yields a list and then ends.
pub(crate) struct Listed<'l> {
    rest: &'l [Arrival],
}

impl<'l> Listed<'l> {
    /// A source of `list`, which must be in order of time.
    pub(crate) const fn new(list: &'l [Arrival]) -> Self {
        Self { rest: list }
    }
}

impl Arrivals for Listed<'_> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let (now, later) = self.rest.split_at(block.len().min(self.rest.len()));
        block[..now.len()].copy_from_slice(now);
        self.rest = later;
        now.len()
    }
}

/// Simulates `arrivals`; returns the packets in the order in which they finish.
pub(crate) fn finished(host: &SimulatedHost, arrivals: &[Arrival]) -> Vec<Finished> {
    let mut all = Vec::new();
    trace(host, &mut Listed::new(arrivals), u64::MAX, &mut |packet| all.push(packet));
    all
}

/// The first arrivals of `source`.
pub(crate) fn first(source: &mut dyn Arrivals, arrivals: usize) -> Vec<Arrival> {
    let mut list = vec![Arrival::default(); arrivals];
    let filled = source.fill(&mut list);
    list.truncate(filled);
    list
}
