//! The fair scheduler of a run-queue scenario: Linux's since 6.6.

use super::{Attachment, within};
use warmcore_policy::fair::Parameters;
use warmcore_units::Fault;

/// The fair scheduler and its constants, by default as Linux has them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FairScheduler {
    /// How long a process runs before another's virtual deadline may be earlier, in milliseconds (`base_slice_ns`). Without
    /// it, Linux's: 0.7 ms times 1 + log2 of the processors, of which at most 8 count.
    pub slice_ms: Option<f64>,
    /// Time between two timer interrupts of a processor, in milliseconds: slices end there.
    pub tick_ms: f64,
    /// A process that ran less than this ago, in milliseconds, is not moved to balance load (`migration_cost_ns`).
    pub migration_cost_ms: f64,
    /// Whether who runs is protected until its slice is over.
    pub run_to_parity: bool,
    /// Whether a process that wakes up may take the processor from who runs.
    pub wakeup_preemption: bool,
    /// Whether a process that blocks after more than its share stays in its queue until others have caught up (since 6.12).
    pub delay_dequeue: bool,
    /// Which processes are fixed to a processor.
    pub attach: Attachment,
}

impl Default for FairScheduler {
    fn default() -> Self {
        let Parameters { tick, migration_cost, run_to_parity, wakeup_preemption, delay_dequeue, .. } =
            Parameters::linux(1);
        Self {
            slice_ms: None,
            tick_ms: milliseconds(tick),
            migration_cost_ms: milliseconds(migration_cost),
            run_to_parity,
            wakeup_preemption,
            delay_dequeue,
            attach: Attachment::None,
        }
    }
}

impl FairScheduler {
    /// The slice on a machine with so many processors, in milliseconds.
    #[must_use]
    pub fn slice_ms(&self, cpus: u32) -> f64 {
        self.slice_ms.unwrap_or_else(|| milliseconds(Parameters::linux(cpus).slice))
    }

    /// The constants as the decisions use them.
    #[must_use]
    pub fn parameters(&self, cpus: u32) -> Parameters {
        Parameters {
            slice: nanoseconds(self.slice_ms(cpus)),
            tick: nanoseconds(self.tick_ms),
            migration_cost: nanoseconds(self.migration_cost_ms),
            run_to_parity: self.run_to_parity,
            wakeup_preemption: self.wakeup_preemption,
            delay_dequeue: self.delay_dequeue,
        }
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        if let Some(slice) = self.slice_ms {
            within("scheduler.slice_ms", slice, 0.01..=1000.0, "milliseconds")?;
        }
        within("scheduler.tick_ms", self.tick_ms, 0.01..=1000.0, "milliseconds")?;
        within("scheduler.migration_cost_ms", self.migration_cost_ms, 0.0..=1000.0, "milliseconds")
    }
}

#[expect(clippy::cast_precision_loss, reason = "below a minute")]
fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be positive and below a second"
)]
fn nanoseconds(ms: f64) -> u64 {
    (ms * 1e6).round() as u64
}
