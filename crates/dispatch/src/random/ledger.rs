//! What has become of each event, and whether it is what must.
//!
//! The ledger is told when handlers begin and end. It orders nothing itself: all that it does is relaxed, so
//! that it sees what the dispatcher alone has put in order. Under shuttle, the beginning and the end of
//! a handler are steps, between which others may come.

mod times;

use super::plan::{Plan, Planned, Touches};
use crate::sync::{Arc, AtomicBool, AtomicU32};
use crate::{OnPanic, Stats};
// What is noted is no step of its own.
use core::sync::atomic::{AtomicU32 as Note, AtomicU64 as Count, Ordering::Relaxed};
use std::sync::Mutex;
use times::Times;

/// See the module's documentation.
pub(super) struct Ledger {
    plan: Plan,
    /// What has become of each event: a [`Fate`].
    fates: Box<[Note]>,
    keys: Box<[Key]>,
    sources: Box<[Source]>,
    /// What each source has dispatched for each key, by source.
    progress: Box<[Progress]>,
    /// Handlers at work.
    running: AtomicU32,
    /// Whether one of them is to be alone.
    alone: AtomicBool,
    times: Times,
    faults: Mutex<Vec<String>>,
}

/// What is known of a key.
struct Key {
    busy: AtomicBool,
    poisoned: Note,
}

/// What is known of those who dispatch.
struct Source {
    /// The last of its events of which not only the freshest counts that was handled.
    highest: Count,
    /// The last one that ran alone.
    alone: Count,
}

/// What was handled for a key of those that a source has dispatched.
struct Progress {
    /// The last one of which not only the freshest counts.
    last: Count,
    /// The last one of which only the freshest counts, and the one before it.
    freshest: [Count; 2],
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
}

impl Event {
    /// The event `id` is dispatched.
    pub(super) fn new(ledger: &Arc<Ledger>, id: usize) -> Self {
        ledger.turn_fate(id, UNKNOWN, UNDER_WAY);
        ledger.times.begin(id);
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
        let key = |_| Key { busy: AtomicBool::new(false), poisoned: Note::new(0) };
        let source = |_| Source { highest: Count::new(0), alone: Count::new(0) };
        let progress = |_| Progress { last: Count::new(0), freshest: [Count::new(0), Count::new(0)] };
        Self {
            fates: plan.events.iter().map(|_| Note::new(UNKNOWN)).collect(),
            keys: (0..plan.keys).map(key).collect(),
            sources: (0..plan.sources).map(source).collect(),
            progress: (0..plan.sources * plan.keys as usize).map(progress).collect(),
            running: AtomicU32::new(0),
            alone: AtomicBool::new(false),
            times: Times::new(&plan),
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
        self.times.end(ids);
    }

    /// Notes a fault unless it `is_so`.
    pub(super) fn demand(&self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.faults.lock().expect("nobody panics there").push(fault());
        }
    }

    /// A handler begins with `event`, of which it is told that it touches `told`.
    pub(super) fn enter(&self, event: &Event, told: impl Iterator<Item = u64>) -> Visit {
        let planned = self.planned(event);
        let visit = Visit { id: event.id, keys: planned.keys() };
        let mut told: Vec<u64> = told.collect();
        told.sort_unstable();
        self.demand(told == visit.keys, || format!("{planned:?} is said to touch {told:?}"));
        for &key in &visit.keys {
            let key = &self.keys[key as usize];
            self.demand(!key.busy.swap(true, Relaxed), || format!("two at a key, one of them {planned:?}"));
            self.demand(key.poisoned.load(Relaxed) == 0, || format!("{planned:?} is poisoned"));
        }
        let others = self.running.fetch_add(1, Relaxed);
        if planned.touches == Touches::All {
            self.demand(others == 0, || format!("{planned:?} is not alone"));
            self.alone.store(true, Relaxed);
        } else {
            self.demand(!self.alone.load(Relaxed), || {
                format!("{planned:?} comes to one that is to be alone")
            });
        }
        self.put_in_order(planned, &visit.keys);
        let is_in_order = self.times.is_in_order(event.id, planned, &visit.keys);
        self.demand(is_in_order, || format!("{planned:?} comes after one that was dispatched later"));
        visit
    }

    /// The handler of `visit` ends.
    pub(super) fn leave(&self, visit: &Visit) {
        let planned = &self.plan.events[visit.id];
        if planned.touches == Touches::All {
            self.alone.store(false, Relaxed);
        }
        let running = self.running.fetch_sub(1, Relaxed);
        self.demand(planned.touches != Touches::All || running == 1, || format!("{planned:?} was not alone"));
        for &key in &visit.keys {
            let key = &self.keys[key as usize];
            if planned.panics && self.plan.on_panic == OnPanic::Poison {
                key.poisoned.store(1, Relaxed);
            }
            self.demand(key.busy.swap(false, Relaxed), || format!("two at a key, one of them {planned:?}"));
        }
    }

    /// Checks that everything of the same source that is to come before an event has, or never will.
    fn put_in_order(&self, planned: &Planned, keys: &[u64]) {
        let Planned { source, number, ref touches, .. } = *planned;
        let is_freshest = matches!(touches, Touches::Freshest(_));
        let of_source = &self.sources[source];
        let in_order = |before: &Count| {
            let before = before.load(Relaxed);
            self.demand(before < number, || format!("{planned:?} comes after {before}"));
        };
        in_order(&of_source.alone);
        if *touches == Touches::All {
            in_order(&of_source.highest);
            of_source.alone.store(number, Relaxed);
        }
        for key in keys {
            let Progress { last, freshest: [former, freshest] } =
                &self.progress[source * self.plan.keys as usize + *key as usize];
            if is_freshest {
                in_order(last);
                in_order(freshest);
                former.store(freshest.load(Relaxed), Relaxed);
                freshest.store(number, Relaxed);
            } else {
                in_order(last);
                // The last one of the freshest may have taken a place before this one, but not before the
                // one that was handled last before it.
                in_order(former);
                last.store(number, Relaxed);
            }
        }
        if !is_freshest {
            // It takes the place of another, which may be before others that were handled.
            of_source.highest.fetch_max(number, Relaxed);
        }
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
        let Totals { stats, reports, discarded, aborted } = totals;
        let equal = |what: &str, seen: u64, said: u64| {
            self.demand(seen == said, || format!("{what}: {seen} were seen, and {said} said"));
        };
        equal("events under way at the end", count(UNDER_WAY), 0);
        equal("panics", of(Fate::Panicked), stats.panics);
        equal("reports of panics", (of(Fate::Panicked) + stats.cancelled).min(64), *reports as u64);
        let skipped = stats.poisoned + stats.cancelled;
        equal("handled", of(Fate::Handled) + of(Fate::Panicked) + skipped, stats.events);
        let dropped = stats.poisoned + stats.cancelled + stats.shed + stats.superseded + discarded;
        equal("dropped", of(Fate::Dropped), dropped);
        let left = (*discarded, stats.depth);
        self.demand(left == (0, 0) || *aborted, || format!("{left:?} were discarded, or are left in queues"));
        let faults = self.faults.lock().expect("nobody panics there");
        assert!(faults.is_empty(), "{faults:#?}\n{totals:?}\n{:#?}", self.plan);
    }
}
