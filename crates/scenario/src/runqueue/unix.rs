//! The UNIX scheduler of a run-queue scenario: one queue for all processors (Torrellas 1995, §4).

use super::{Attachment, within};
use warmcore_policy::runqueue::{Affinity, AffinityForm, Decay, Parameters, Ticks};
use warmcore_units::{Fault, Nanos};

/// The UNIX scheduler and its constants. Those that Torrellas 1995 leaves open are named so.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UnixScheduler {
    /// Time between two timer interrupts of a processor, in milliseconds.
    pub tick_ms: f64,
    /// The longest time that a process runs before the queue is searched again, in milliseconds.
    pub quantum_ms: f64,
    /// Whether a quantum ends with a timer interrupt, its first tick being the one it begins in, instead of after its whole
    /// length. Open.
    pub quantum_by_ticks: bool,
    /// Taken off the priority of processes that last ran on the searching processor.
    pub a_p: u32,
    /// Taken off besides for the process that ran there last.
    pub a_t: u32,
    /// Whether `a_t` fades with the ticks since a process ran there, instead (§5.4).
    pub complex: bool,
    /// Time between two decays of the accumulated CPU time, in milliseconds. Open.
    pub decay_ms: f64,
    /// The fraction of it that a decay leaves. Open.
    pub decay_to: f64,
    /// The part of a decay that processes older than five seconds escape. Open: Torrellas 1995, §5.1, says that with affinity
    /// a decay raises the priorities of long-running processes less.
    pub decay_spares_old: f64,
    /// The most CPU time that a process accumulates, in ticks. Open.
    pub cap: u32,
    /// Whether a process that yielded on a lock is left out of the next search of its processor.
    pub exclude_yielder: bool,
    /// Which processes are fixed to a processor.
    pub attach: Attachment,
}

impl Default for UnixScheduler {
    /// The standard scheduler of Torrellas 1995.
    fn default() -> Self {
        Self {
            tick_ms: 10.0,
            quantum_ms: 30.0,
            quantum_by_ticks: false,
            a_p: 0,
            a_t: 0,
            complex: false,
            decay_ms: 1000.0,
            decay_to: 0.5,
            decay_spares_old: 0.0,
            cap: 255,
            exclude_yielder: true,
            attach: Attachment::None,
        }
    }
}

/// The denominator of a decay's fraction.
const DENOMINATOR: u32 = 10_000;

impl UnixScheduler {
    /// The same scheduler with another affinity.
    #[must_use]
    pub fn with(self, affinity: Affinity) -> Self {
        let Affinity { a_p, a_t, form } = affinity;
        Self { a_p, a_t, complex: form == AffinityForm::Complex, ..self }
    }

    /// The affinity.
    #[must_use]
    pub const fn affinity(&self) -> Affinity {
        let form = if self.complex { AffinityForm::Complex } else { AffinityForm::Simple };
        Affinity { a_p: self.a_p, a_t: self.a_t, form }
    }

    /// The constants as the decisions use them.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be small and positive"
    )]
    pub fn parameters(&self) -> Parameters {
        let period = (self.decay_ms / self.tick_ms).round().max(1.0) as u64;
        let numerator = (self.decay_to * f64::from(DENOMINATOR)).round() as u32;
        Parameters {
            affinity: self.affinity(),
            tick: Nanos::from_micros(self.tick_ms * 1e3),
            quantum: Nanos::from_micros(self.quantum_ms * 1e3),
            decay: Decay { period: Ticks(period), numerator, denominator: DENOMINATOR },
            cap: self.cap,
            exclude_yielder: self.exclude_yielder,
        }
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        within("scheduler.tick_ms", self.tick_ms, 0.01..=1000.0, "milliseconds")?;
        within("scheduler.quantum_ms", self.quantum_ms, 0.01..=60_000.0, "milliseconds")?;
        within("scheduler.decay_ms", self.decay_ms, self.tick_ms..=1e6, "milliseconds (not below a tick)")?;
        within("scheduler.decay_to", self.decay_to, 0.0..=1.0, "of what it was")?;
        within("scheduler.decay_spares_old", self.decay_spares_old, 0.0..=1.0, "of a decay")?;
        for (field, value) in [("a_p", self.a_p), ("a_t", self.a_t), ("cap", self.cap)] {
            within(format!("scheduler.{field}"), value.into(), 0.0..=1e6, "")?;
        }
        Ok(())
    }
}
