//! A worker of the server.

use super::source::Request;

/// What a worker does. Moments are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Activity {
    /// Nothing until it is woken.
    Asleep,
    /// It begins at that moment, if its processor is free.
    Waking { at: f64 },
    /// It is woken, and waits until the source of its processor has gone away, and for so long after that.
    Held { after: f64 },
    /// Its cycle ends at that moment, if no source interrupts it.
    Running { until: f64 },
}

/// A worker and the requests in its hands.
pub(super) struct Worker {
    pub(super) activity: Activity,
    /// The requests of the present cycle.
    pub(super) batch: Vec<Request>,
    /// The steps of the first cycle after it was woken: how long that is, and its processor time, sleeping included.
    pub(super) woken: Woken,
}

/// The first cycle of a woken worker, for one request.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Woken {
    pub(super) cycle: f64,
    pub(super) cpu: f64,
}

impl Worker {
    pub(super) fn new() -> Self {
        Self { activity: Activity::Asleep, batch: Vec::with_capacity(64), woken: Woken::default() }
    }

    /// When something happens next, if its source takes the processor at `takes`.
    pub(super) fn next_event(&self, takes: f64) -> f64 {
        match self.activity {
            Activity::Asleep | Activity::Held { .. } => f64::INFINITY,
            Activity::Waking { at } => at,
            // Who is interrupted goes on when the source has gone.
            Activity::Running { until } if until > takes => f64::INFINITY,
            Activity::Running { until } => until,
        }
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.activity == Activity::Asleep
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.activity, Activity::Running { .. })
    }
}
