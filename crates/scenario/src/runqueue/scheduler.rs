//! The scheduler of a run-queue scenario: its kind, and the constants of that kind.

use super::{FairScheduler, UnixScheduler};
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// What kind of scheduler it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// One queue for all processors, by priorities that fall with CPU time (Torrellas 1995, §4).
    #[default]
    Unix,
    /// A queue for each processor, by virtual time, as Linux has since 6.6.
    Fair,
}

/// Which processes are fixed to a processor for life (Torrellas 1995, §5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attachment {
    /// None but those that an application names.
    #[default]
    None,
    /// All, to one processor after the other in the order in which they start.
    RoundRobin,
    /// All, as for round-robin, except that an application whose work comes in jobs has one processor: what starts its
    /// processes is attached to it, and they inherit that.
    Inherited,
    /// All, each to a processor drawn when it starts.
    Random,
}

impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::RoundRobin => "round-robin",
            Self::Inherited => "inherited",
            Self::Random => "random",
        })
    }
}

/// The scheduler as the document has it. What is absent has its kind's default; a constant of the other kind is refused.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    kind: SchedulerKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    tick_ms: Option<f64>,
    attach: Attachment,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantum_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantum_by_ticks: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_p: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_t: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complex: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay_to: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay_spares_old: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclude_yielder: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slice_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    migration_cost_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_to_parity: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wakeup_preemption: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_dequeue: Option<bool>,
}

impl From<UnixScheduler> for Scheduler {
    fn from(one: UnixScheduler) -> Self {
        Self {
            kind: SchedulerKind::Unix,
            tick_ms: Some(one.tick_ms),
            attach: one.attach,
            quantum_ms: Some(one.quantum_ms),
            quantum_by_ticks: Some(one.quantum_by_ticks),
            a_p: Some(one.a_p),
            a_t: Some(one.a_t),
            complex: Some(one.complex),
            decay_ms: Some(one.decay_ms),
            decay_to: Some(one.decay_to),
            decay_spares_old: Some(one.decay_spares_old),
            cap: Some(one.cap),
            exclude_yielder: Some(one.exclude_yielder),
            ..Self::default()
        }
    }
}

impl From<FairScheduler> for Scheduler {
    fn from(one: FairScheduler) -> Self {
        Self {
            kind: SchedulerKind::Fair,
            tick_ms: Some(one.tick_ms),
            attach: one.attach,
            slice_ms: one.slice_ms,
            migration_cost_ms: Some(one.migration_cost_ms),
            run_to_parity: Some(one.run_to_parity),
            wakeup_preemption: Some(one.wakeup_preemption),
            delay_dequeue: Some(one.delay_dequeue),
            ..Self::default()
        }
    }
}

impl Scheduler {
    /// What kind it is.
    #[must_use]
    pub const fn kind(&self) -> SchedulerKind {
        self.kind
    }

    /// Which processes are fixed to a processor.
    #[must_use]
    pub const fn attach(&self) -> Attachment {
        self.attach
    }

    /// The UNIX scheduler of this document; the standard one, with the same attachment, if it has a fair scheduler.
    #[must_use]
    pub fn unix(&self) -> UnixScheduler {
        let default = UnixScheduler { attach: self.attach, ..UnixScheduler::default() };
        if self.kind != SchedulerKind::Unix {
            return default;
        }
        UnixScheduler {
            tick_ms: self.tick_ms.unwrap_or(default.tick_ms),
            quantum_ms: self.quantum_ms.unwrap_or(default.quantum_ms),
            quantum_by_ticks: self.quantum_by_ticks.unwrap_or(default.quantum_by_ticks),
            a_p: self.a_p.unwrap_or(default.a_p),
            a_t: self.a_t.unwrap_or(default.a_t),
            complex: self.complex.unwrap_or(default.complex),
            decay_ms: self.decay_ms.unwrap_or(default.decay_ms),
            decay_to: self.decay_to.unwrap_or(default.decay_to),
            decay_spares_old: self.decay_spares_old.unwrap_or(default.decay_spares_old),
            cap: self.cap.unwrap_or(default.cap),
            exclude_yielder: self.exclude_yielder.unwrap_or(default.exclude_yielder),
            attach: self.attach,
        }
    }

    /// The fair scheduler of this document; Linux's, with the same attachment, if it has a UNIX scheduler.
    #[must_use]
    pub fn fair(&self) -> FairScheduler {
        let default = FairScheduler { attach: self.attach, ..FairScheduler::default() };
        if self.kind != SchedulerKind::Fair {
            return default;
        }
        FairScheduler {
            slice_ms: self.slice_ms,
            tick_ms: self.tick_ms.unwrap_or(default.tick_ms),
            migration_cost_ms: self.migration_cost_ms.unwrap_or(default.migration_cost_ms),
            run_to_parity: self.run_to_parity.unwrap_or(default.run_to_parity),
            wakeup_preemption: self.wakeup_preemption.unwrap_or(default.wakeup_preemption),
            delay_dequeue: self.delay_dequeue.unwrap_or(default.delay_dequeue),
            attach: self.attach,
        }
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        let unix = [
            ("quantum_ms", self.quantum_ms.is_some()),
            ("quantum_by_ticks", self.quantum_by_ticks.is_some()),
            ("a_p", self.a_p.is_some()),
            ("a_t", self.a_t.is_some()),
            ("complex", self.complex.is_some()),
            ("decay_ms", self.decay_ms.is_some()),
            ("decay_to", self.decay_to.is_some()),
            ("decay_spares_old", self.decay_spares_old.is_some()),
            ("cap", self.cap.is_some()),
            ("exclude_yielder", self.exclude_yielder.is_some()),
        ];
        let fair = [
            ("slice_ms", self.slice_ms.is_some()),
            ("migration_cost_ms", self.migration_cost_ms.is_some()),
            ("run_to_parity", self.run_to_parity.is_some()),
            ("wakeup_preemption", self.wakeup_preemption.is_some()),
            ("delay_dequeue", self.delay_dequeue.is_some()),
        ];
        match self.kind {
            SchedulerKind::Unix => {
                refuse(
                    &fair,
                    "none, since it belongs to the fair scheduler: add `kind = \"fair\"`, or leave it out",
                )?;
                self.unix().check()
            }
            SchedulerKind::Fair => {
                refuse(
                    &unix,
                    "none, since it belongs to the UNIX scheduler: leave out `kind = \"fair\"`, or it",
                )?;
                self.fair().check()
            }
        }
    }
}

/// Refuses a constant that is given, of those that another kind of scheduler has.
fn refuse(others: &[(&str, bool)], expected: &str) -> Result<(), Fault> {
    match others.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Fault::new(format!("scheduler.{name}"), "given", expected)),
        None => Ok(()),
    }
}
