//! Costs that are as likely as those measured.

use super::{AloneTimes, BurstTimes, ServerCosts, SourceTimes};
use crate::profile::Measured;
use warmcore_units::Nanos;

/// Half-widths of a 95% interval in standard deviations.
const DEVIATIONS: f64 = 1.96;

impl ServerCosts {
    /// The costs with each time moved by as many standard deviations of its mean as `draw` says; none becomes negative.
    #[must_use]
    pub fn varied(&self, draw: &mut dyn FnMut() -> f64) -> Self {
        let mut vary = |time: &Measured| {
            let deviation = time.half_width.map_or(0.0, |half| half.0) / DEVIATIONS;
            Measured { mean: Nanos((time.mean.0 + draw() * deviation).max(0.0)), ..*time }
        };
        let source = SourceTimes {
            late_busy: vary(&self.source.late_busy),
            stolen: vary(&self.source.stolen),
            stolen_more: vary(&self.source.stolen_more),
        };
        let alone = |row: &AloneTimes| AloneTimes {
            late: vary(&row.late),
            call: vary(&row.call),
            reply: vary(&row.reply),
            worker_cpu: vary(&row.worker_cpu),
            ..*row
        };
        let alone = self.alone.iter().map(alone).collect();
        let burst = |row: &BurstTimes| BurstTimes {
            call: vary(&row.call),
            last_reply: vary(&row.last_reply),
            worker_cpu: vary(&row.worker_cpu),
            ..*row
        };
        let bursts = self.bursts.iter().map(burst).collect();
        Self { source, alone, bursts, ..self.clone() }
    }
}
