//! A finished run: what was asked for, and what was measured.

use warmcore_runtime::driver::device::SenderCounts;
use warmcore_runtime::{Report, Setup};
use warmcore_scenario::{Mixing, PacketScenario};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// A run that has ended.
pub(super) struct Finished {
    pub(super) scenario: PacketScenario,
    pub(super) setup: Setup,
    pub(super) report: Report,
    /// What became of senders when all streams were in use; `None` without a network.
    pub(super) senders: Option<SenderCounts>,
    /// Whether the user ended it early.
    pub(super) interrupted: bool,
    /// What ended it early, if it failed.
    pub(super) failure: Option<String>,
}

impl Finished {
    /// `estimate`, without its interval where packets arrive in a way whose means converge too slowly for one.
    pub(super) fn held(&self, estimate: Estimate<Nanos>) -> Estimate<Nanos> {
        let rate = self.setup.rate.unwrap_or(PerSecond(1.0));
        match self.scenario.traffic.mixing(rate) {
            Mixing::Slowly => Estimate::new(estimate.mean, Nanos::INFINITY),
            _ => estimate,
        }
    }

    /// How often the trace was replayed; `None` without one.
    pub(super) fn rounds(&self) -> Option<f64> {
        let packets = self.setup.capture?.packets;
        Some(self.setup.driver.received() as f64 / packets as f64)
    }

    /// The rate of arrivals and the rate at which they were processed, over the steady part of the run, like the other
    /// figures: a short run spends much of its time on starting and stopping.
    pub(super) fn achieved(&self) -> [PerSecond; 2] {
        let steady = self.report.steady();
        let total = steady.total();
        let seconds = steady.duration().secs();
        let lost = self.report.lost as f64 / self.report.duration.secs();
        let processed = total.packets() as f64 / seconds;
        [processed + total.overflowed as f64 / seconds + lost, processed].map(PerSecond)
    }
}
