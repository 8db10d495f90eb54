//! What has become of each event, and whether it is what must.
//!
//! The ledger is told when handlers begin and end. It orders nothing itself: all that it does is relaxed, so
//! that it sees what the dispatcher alone has put in order. Under shuttle, the beginning and the end of
//! a handler are steps, between which others may come. When all is over, what happened is judged by the rules that the
//! simulated queue is held to, too.

mod history;

use super::plan::{Plan, Planned};
use crate::sync::{Arc, AtomicU32};
use crate::{OnPanic, Stats};
// What is noted is no step of its own.
use core::sync::atomic::{AtomicU32 as Note, Ordering::Relaxed};
pub(super) use history::Happened;
use history::{History, judge};
use std::sync::Mutex;

/// See the module's documentation.
pub(super) struct Ledger {
    plan: Plan,
    /// What has become of each event: a [`Fate`].
    fates: Box<[Note]>,
    /// Whether each key is poisoned.
    poisoned: Box<[Note]>,
    /// Handlers at work: each change is a step.
    at_work: AtomicU32,
    history: History,
    faults: Mutex<Vec<String>>,
}

/// What becomes of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Fate {
    Handled = 2,
    Panicked,
    GivenBack,
    /// Poisoned, shed, superseded or discarded.
    Dropped,
}

/// Nobody has dispatched it.
const UNKNOWN: u32 = 0;
/// It was dispatched.
const UNDER_WAY: u32 = 1;

/// An event: which one it is.
pub(super) struct Event {
    id: usize,
    ledger: Arc<Ledger>,
    is_settled: bool,
}

/// A handler at work.
pub(super) struct Visit {
    id: usize,
    keys: Vec<u64>,
}

/// What a dispatcher says itself.
#[derive(Debug)]
pub(super) struct Totals {
    pub(super) stats: Stats,
    /// Panics that were reported.
    pub(super) reports: usize,
    pub(super) discarded: u64,
    pub(super) aborted: bool,
    /// The worker that each key is bound to; none if they are not.
    pub(super) homes: Vec<usize>,
}

impl Event {
    /// The event `id` is dispatched.
    pub(super) fn new(ledger: &Arc<Ledger>, id: usize) -> Self {
        ledger.turn_fate(id, UNKNOWN, UNDER_WAY);
        ledger.history.arrives(id);
        Self { id, ledger: ledger.clone(), is_settled: false }
    }

    /// It has come to its end.
    pub(super) fn settle(mut self, fate: Fate) {
        self.is_settled = true;
        self.ledger.turn_fate(self.id, UNDER_WAY, fate as u32);
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.is_settled {
            self.ledger.turn_fate(self.id, UNDER_WAY, Fate::Dropped as u32);
        }
    }
}

impl Ledger {
    pub(super) fn new(plan: Plan) -> Self {
        let notes = |count| (0..count).map(|_| Note::new(0)).collect();
        Self {
            fates: notes(plan.events.len()),
            poisoned: notes(plan.keys as usize),
            at_work: AtomicU32::new(0),
            history: History::new(plan.events.len()),
            faults: Mutex::new(Vec::new()),
            plan,
        }
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn planned(&self, event: &Event) -> &Planned {
        &self.plan.events[event.id]
    }

    /// The events `ids` have been dispatched.
    pub(super) fn dispatched(&self, ids: &[usize]) {
        self.history.arrived(ids);
    }

    /// Notes a fault unless it `is_so`.
    pub(super) fn demand(&self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.faults.lock().expect("nobody panics there").push(fault());
        }
    }

    /// A handler begins with `event`, of which it is told that it touches `told`, on `worker` if that is known.
    pub(super) fn enter(
        &self,
        event: &Event,
        told: impl Iterator<Item = u64>,
        worker: Option<usize>,
    ) -> Visit {
        let planned = self.planned(event);
        let visit = Visit { id: event.id, keys: planned.keys() };
        self.history.begins(event.id, worker);
        self.at_work.fetch_add(1, Relaxed);
        let mut told: Vec<u64> = told.collect();
        told.sort_unstable();
        self.demand(told == visit.keys, || format!("{planned:?} is said to touch {told:?}"));
        let is_poisoned = visit.keys.iter().any(|&key| self.poisoned[key as usize].load(Relaxed) != 0);
        self.demand(!is_poisoned, || format!("{planned:?} is poisoned"));
        visit
    }

    /// The handler of `visit` ends.
    pub(super) fn leave(&self, visit: &Visit) {
        if self.plan.events[visit.id].panics && self.plan.on_panic == OnPanic::Poison {
            visit.keys.iter().for_each(|&key| self.poisoned[key as usize].store(1, Relaxed));
        }
        self.at_work.fetch_sub(1, Relaxed);
        self.history.ends(visit.id);
    }

    /// What happened to the events that were handled, in order of time.
    pub(super) fn happened(&self) -> Vec<Happened> {
        self.history.happened()
    }

    /// Holds what happened to the rules.
    ///
    /// # Errors
    /// With the rule that was broken.
    pub(super) fn judge(&self, homes: &[usize], happened: &[Happened]) -> Result<(), String> {
        judge(&self.plan, homes, happened)
    }

    fn turn_fate(&self, id: usize, from: u32, to: u32) {
        let before = self.fates[id].swap(to, Relaxed);
        self.demand(before == from, || {
            format!("{:?}: what has become of it turns from {before} to {to}", self.plan.events[id])
        });
    }

    /// Demands that all events are at their end that `source` has dispatched, and those that their handlers have.
    pub(super) fn demand_that_all_is_settled(&self, source: usize) {
        let is_over = |id: usize| self.fates[id].load(Relaxed) != UNDER_WAY;
        for (id, event) in self.plan.events.iter().enumerate().filter(|(_, event)| event.source == source) {
            let are_over = is_over(id) && event.follows.iter().all(|&follow| is_over(follow));
            self.demand(are_over, || format!("{event:?} is not over, or what follows it"));
        }
    }

    /// Compares what was seen of events with what the dispatcher says.
    ///
    /// # Panics
    /// If that is not the same, or anything was wrong before.
    pub(super) fn close_the_books(&self, totals: &Totals) {
        let count = |fate: u32| self.fates.iter().filter(|is| is.load(Relaxed) == fate).count() as u64;
        let of = |fate: Fate| count(fate as u32);
        let Totals { stats, reports, discarded, aborted, homes } = totals;
        let equal = |what: &str, seen: u64, said: u64| {
            self.demand(seen == said, || format!("{what}: {seen} were seen, and {said} said"));
        };
        equal("events under way at the end", count(UNDER_WAY), 0);
        equal("handlers at work at the end", self.at_work.load(Relaxed).into(), 0);
        equal("panics", of(Fate::Panicked), stats.panics);
        equal("reports of panics", (of(Fate::Panicked) + stats.cancelled).min(64), *reports as u64);
        let skipped = stats.poisoned + stats.cancelled;
        equal("handled", of(Fate::Handled) + of(Fate::Panicked) + skipped, stats.events);
        let dropped = stats.poisoned + stats.cancelled + stats.shed + stats.superseded + discarded;
        equal("dropped", of(Fate::Dropped), dropped);
        let left = (*discarded, stats.depth);
        self.demand(left == (0, 0) || *aborted, || format!("{left:?} were discarded, or are left in queues"));
        if let Err(fault) = self.judge(homes, &self.happened()) {
            self.demand(false, || fault);
        }
        let faults = self.faults.lock().expect("nobody panics there");
        assert!(faults.is_empty(), "{faults:#?}\n{totals:?}\n{:#?}", self.plan);
    }
}
