//! When events were dispatched. What one thread has dispatched before another began to dispatch is before it, in
//! whichever threads that was.
//!
//! That holds of what handlers dispatch too. Only of events of which the freshest counts, one has the place of another.

use crate::random::plan::{Plan, Planned, Touches};
use core::sync::atomic::{AtomicU64, Ordering};

/// See the module's documentation. Times are counted; 0 is none.
pub(super) struct Times {
    now: AtomicU64,
    /// By event.
    began: Box<[AtomicU64]>,
    ended: Box<[AtomicU64]>,
    /// By key, when the last of those began to be dispatched that were handled.
    keys: Box<[AtomicU64]>,
    /// The same of all events.
    any: AtomicU64,
    /// The same of those that ran alone.
    alone: AtomicU64,
}

impl Times {
    pub(super) fn new(plan: &Plan) -> Self {
        let times = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            now: AtomicU64::new(0),
            began: times(plan.events.len()),
            ended: times(plan.events.len()),
            keys: times(plan.keys as usize),
            any: AtomicU64::new(0),
            alone: AtomicU64::new(0),
        }
    }

    /// The event `id` is dispatched from now on.
    pub(super) fn begin(&self, id: usize) {
        self.began[id].store(self.tick(), Ordering::Relaxed);
    }

    /// The events `ids` have been dispatched.
    pub(super) fn end(&self, ids: &[usize]) {
        let now = self.tick();
        ids.iter().for_each(|&id| self.ended[id].store(now, Ordering::Relaxed));
    }

    /// What is done before a time was done before what is done after it: this is part of what is tested, as
    /// threads that dispatch one after the other know of each other.
    fn tick(&self) -> u64 {
        self.now.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Whether the event `id`, which is handled now, was dispatched after all that were handled and are before
    /// it, or with them.
    pub(super) fn is_in_order(&self, id: usize, planned: &Planned, keys: &[u64]) -> bool {
        if matches!(planned.touches, Touches::Freshest(_)) {
            return true;
        }
        let time = |of: &[AtomicU64]| of[id].load(Ordering::Relaxed);
        let (began, ended) = (time(&self.began), time(&self.ended));
        let is_after = |last: &AtomicU64| ended == 0 || last.load(Ordering::Relaxed) < ended;
        let mut is_in_order = is_after(&self.alone);
        for &key in keys {
            let last = &self.keys[key as usize];
            is_in_order &= is_after(last);
            last.fetch_max(began, Ordering::Relaxed);
        }
        if planned.touches == Touches::All {
            is_in_order &= is_after(&self.any);
            self.alone.fetch_max(began, Ordering::Relaxed);
        }
        self.any.fetch_max(began, Ordering::Relaxed);
        is_in_order
    }
}
