//! When each event came, was handled and by whom; and whether the rules of parallel dispatch queues allow that.
//!
//! What one thread has dispatched before another began to dispatch is before it, in whichever threads that was. That
//! holds of what handlers dispatch too.

use crate::random::plan::{Plan, Planned, Touches};
use core::sync::atomic::{AtomicU64, Ordering};
use warmcore_policy::pdq::judge::{Broken, Event, Judge};
use warmcore_policy::pdq::rules::Partitions;

/// See the module's documentation.
pub(super) struct History {
    now: AtomicU64,
    /// By event.
    times: Box<[Times]>,
}

/// Times are counted; 0 is never.
#[derive(Default)]
struct Times {
    arrives: AtomicU64,
    arrived: AtomicU64,
    began: AtomicU64,
    ended: AtomicU64,
    /// The worker that handled it, counted from 1; 0 if that is not known.
    worker: AtomicU64,
}

/// What happened to an event, by its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::random) enum Happened {
    Arrives(usize),
    Arrived(usize),
    /// On this worker, if that is known.
    Began(usize, Option<usize>),
    Ended(usize),
}

impl History {
    pub(super) fn new(events: usize) -> Self {
        Self { now: AtomicU64::new(0), times: (0..events).map(|_| Times::default()).collect() }
    }

    /// The event `id` is dispatched from now on.
    pub(super) fn arrives(&self, id: usize) {
        self.times[id].arrives.store(self.tick(Ordering::AcqRel), Ordering::Relaxed);
    }

    /// The events `ids` have been dispatched.
    pub(super) fn arrived(&self, ids: &[usize]) {
        let now = self.tick(Ordering::AcqRel);
        ids.iter().for_each(|&id| self.times[id].arrived.store(now, Ordering::Relaxed));
    }

    /// A handler begins with the event `id`, on `worker` if that is known.
    pub(super) fn begins(&self, id: usize, worker: Option<usize>) {
        self.times[id].worker.store(worker.map_or(0, |worker| worker as u64 + 1), Ordering::Relaxed);
        self.times[id].began.store(self.tick(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// It ends.
    pub(super) fn ends(&self, id: usize) {
        self.times[id].ended.store(self.tick(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What is done before a time was done before what is done after it, where events are dispatched: this is part of what
    /// is tested, as threads that dispatch one after the other know of each other. Handlers are ordered by the
    /// dispatcher alone.
    fn tick(&self, ordering: Ordering) -> u64 {
        self.now.fetch_add(1, ordering) + 1
    }

    /// What happened to the events that were handled, in order of time.
    pub(super) fn happened(&self) -> Vec<Happened> {
        let at = |time: &AtomicU64| time.load(Ordering::Relaxed);
        let mut happened = Vec::new();
        for (id, times) in self.times.iter().enumerate().filter(|(_, times)| at(&times.began) != 0) {
            let worker = (at(&times.worker) as usize).checked_sub(1);
            happened.extend([
                (at(&times.arrives), Happened::Arrives(id)),
                (at(&times.arrived), Happened::Arrived(id)),
                (at(&times.began), Happened::Began(id, worker)),
                (at(&times.ended), Happened::Ended(id)),
            ]);
        }
        happened.retain(|&(time, _)| time != 0);
        happened.sort_by_key(|&(time, _)| time);
        happened.into_iter().map(|(_, what)| what).collect()
    }
}

/// Holds what happened to the events of `plan` to the rules. `homes` are the workers that keys are bound to, if they are.
///
/// # Errors
/// With the rule that was broken, and the events that broke it.
pub(super) fn judge(plan: &Plan, homes: &[usize], happened: &[Happened]) -> Result<(), String> {
    let mut judge = Judge::new(|key| homes.get(key as usize).copied());
    let mut numbers = vec![usize::MAX; plan.events.len()];
    let mut arrivals = Vec::new();
    for &what in happened {
        let told = match what {
            Happened::Arrives(id) => {
                numbers[id] = judge.arriving(arrival(&plan.events[id]));
                arrivals.push(id);
                Ok(())
            }
            Happened::Arrived(id) => {
                judge.arrived(numbers[id]);
                Ok(())
            }
            Happened::Began(id, worker) => judge.begin(numbers[id], worker),
            Happened::Ended(id) => judge.end(numbers[id]),
        };
        told.map_err(|broken| describe(plan, &arrivals, broken))?;
    }
    Ok(())
}

fn arrival(planned: &Planned) -> Event {
    match planned.touches {
        Touches::All => Event::new(planned.source, Partitions::<[u64; 0]>::All),
        Touches::Freshest(key) => Event::new(planned.source, Partitions::Of([key])).replacing(),
        Touches::Key(_) | Touches::Keys(_) | Touches::Nothing => {
            Event::new(planned.source, Partitions::Of(planned.keys()))
        }
    }
}

fn describe(plan: &Plan, arrivals: &[usize], broken: Broken) -> String {
    let numbers = match broken {
        Broken::Beside { event, other } | Broken::Overtakes { event, other } => vec![event, other],
        Broken::Elsewhere { event, .. } | Broken::Twice(event) | Broken::Idle(event) => vec![event],
    };
    let planned = |number: &usize| arrivals.get(*number).map(|&id| &plan.events[id]);
    format!("{broken}: {:?}", numbers.iter().map(planned).collect::<Vec<_>>())
}
