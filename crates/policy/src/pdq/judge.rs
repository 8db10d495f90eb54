//! Judges what a parallel dispatch queue did by the [rules](super::rules): how machines that share no code, simulated and
//! live, are held to the same ones.
//!
//! A driver tells what happened, in order of time. Events that were never handled are left out: whether one is lost, and
//! how soon any begins, is not judged.
//!
//! ```
//! use warmcore_policy::pdq::judge::{Broken, Event, Judge};
//! use warmcore_policy::pdq::{Label, rules::Partitions};
//!
//! let mut judge = Judge::new(|_| None);
//! let [first, second] = [(); 2].map(|()| judge.arrive(Event::new(0, Partitions::Of([7]))));
//! assert_eq!(judge.begin(second, Some(0)), Err(Broken::Overtakes { event: second, other: first }));
//! ```

use super::rules::Partitions;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// An event that arrives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    source: usize,
    touches: Partitions<Box<[u64]>>,
    replaces: bool,
}

impl Event {
    /// An event of what `source` dispatches: one source's events arrive in the order in which they are told.
    #[must_use]
    pub fn new<I: AsRef<[u64]>>(source: usize, touches: Partitions<I>) -> Self {
        let touches = match touches {
            Partitions::Of(ids) => Partitions::Of(ids.as_ref().into()),
            Partitions::All => Partitions::All,
        };
        Self { source, touches, replaces: false }
    }

    /// The same, but if another such event of its partition waits, it takes the place of that one, which is dropped. The
    /// driver need not know whether it did.
    #[must_use]
    pub fn replacing(self) -> Self {
        Self { replaces: true, ..self }
    }
}

/// A rule that was broken, and by which event. Events are named by their number in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// It begins while another runs with which it conflicts.
    Beside {
        /// The event.
        event: usize,
        /// The one that runs.
        other: usize,
    },
    /// It begins before another one that arrived earlier and conflicts with it.
    Overtakes {
        /// The event.
        event: usize,
        /// The one that waits.
        other: usize,
    },
    /// It begins on a thread to which none of its partitions is bound.
    Elsewhere {
        /// The event.
        event: usize,
        /// The thread.
        thread: usize,
    },
    /// It begins, and did not wait: it has begun before.
    Twice(usize),
    /// It ends, and did not run.
    Idle(usize),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beside { event, other } => write!(f, "event {event} runs beside {other}"),
            Self::Overtakes { event, other } => write!(f, "event {event} overtakes {other}"),
            Self::Elsewhere { event, thread } => {
                write!(f, "event {event} runs on thread {thread}, to which it is not bound")
            }
            Self::Twice(event) => write!(f, "event {event} begins twice"),
            Self::Idle(event) => write!(f, "event {event} ends but does not run"),
        }
    }
}

impl core::error::Error for Broken {}

/// See the module's documentation. `H` says to which thread a partition is bound for good, if to any.
#[derive(Clone, Debug)]
pub struct Judge<H> {
    home: H,
    /// By number, in the order in which they began to arrive.
    waiting: BTreeMap<usize, Waiting>,
    running: BTreeMap<usize, Partitions<Box<[u64]>>>,
    arrivals: usize,
}

#[derive(Clone, Debug)]
struct Waiting {
    event: Event,
    /// Arrivals that had begun when this one was over. Those that begin later are after it.
    arrived: Option<usize>,
    /// Partitions in which one that replaces another was before it, though it arrived later.
    overtaken: Vec<u64>,
}

impl<H: Fn(u64) -> Option<usize>> Judge<H> {
    /// Nothing waits yet.
    #[must_use]
    pub const fn new(home: H) -> Self {
        Self { home, waiting: BTreeMap::new(), running: BTreeMap::new(), arrivals: 0 }
    }

    /// An event arrives, before what arrives later; its number.
    pub fn arrive(&mut self, event: Event) -> usize {
        let number = self.arriving(event);
        self.arrived(number);
        number
    }

    /// An event begins to arrive; its number. Until it [has](Self::arrived), those of other sources may come before it.
    pub fn arriving(&mut self, event: Event) -> usize {
        let number = self.arrivals;
        self.waiting.insert(number, Waiting { event, arrived: None, overtaken: Vec::new() });
        self.arrivals += 1;
        number
    }

    /// The arrival of `event` is over. It may have run meanwhile.
    pub fn arrived(&mut self, event: usize) {
        if let Some(waiting) = self.waiting.get_mut(&event) {
            waiting.arrived = Some(self.arrivals);
        }
    }

    /// A handler begins with `event`, on `thread` if that is known.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn begin(&mut self, event: usize, thread: Option<usize>) -> Result<(), Broken> {
        let Some(Waiting { event: begun, .. }) = self.waiting.remove(&event) else {
            return Err(Broken::Twice(event));
        };
        if let Some((&other, _)) = self.running.iter().find(|(_, touches)| touches.conflict(&begun.touches)) {
            return Err(Broken::Beside { event, other });
        }
        for (&other, earlier) in self.waiting.range_mut(..event) {
            if earlier.is_before(event, begun.source)
                && earlier.event.touches.conflict(&begun.touches)
                && !earlier.lets_pass(&begun)
            {
                return Err(Broken::Overtakes { event, other });
            }
        }
        if let (Some(thread), Partitions::Of(ids)) = (thread, &begun.touches)
            && !ids.is_empty()
            && ids.iter().all(|&id| (self.home)(id).is_some_and(|home| home != thread))
        {
            return Err(Broken::Elsewhere { event, thread });
        }
        self.running.insert(event, begun.touches);
        Ok(())
    }

    /// The handler of `event` ends.
    ///
    /// # Errors
    /// If it did not run.
    pub fn end(&mut self, event: usize) -> Result<(), Broken> {
        self.running.remove(&event).map(drop).ok_or(Broken::Idle(event))
    }

    /// How many events wait or run.
    #[must_use]
    pub fn left(&self) -> usize {
        self.waiting.len() + self.running.len()
    }
}

impl Waiting {
    /// Whether this one arrived before `later`, which `source` dispatched and which began to arrive after it.
    fn is_before(&self, later: usize, source: usize) -> bool {
        self.event.source == source || self.arrived.is_some_and(|arrived| arrived <= later)
    }

    /// Whether `later` may have a place before this one: that of an event it replaced. A partition had at most one such event
    /// to replace, as the next one of its kind came behind; and none replaces one that is before a sequential event.
    fn lets_pass(&mut self, later: &Event) -> bool {
        let Partitions::Of(places) = &later.touches else { return false };
        let may_pass = later.replaces && !self.event.replaces && self.event.touches != Partitions::All;
        if !may_pass || places.iter().any(|place| self.overtaken.contains(place)) {
            return false;
        }
        self.overtaken.extend(places);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(_: u64) -> Option<usize> {
        None
    }

    fn of(ids: &[u64]) -> Event {
        Event::new(0, Partitions::Of(ids))
    }

    const ALL: Partitions<[u64; 0]> = Partitions::All;

    #[test]
    fn what_conflicts_is_neither_beside_nor_before() {
        let mut judge = Judge::new(anywhere);
        let events = [of(&[1]), of(&[2]), of(&[1, 2]), of(&[]), Event::new(0, ALL), of(&[])];
        let [one, other, both, none, all, last] = events.map(|event| judge.arrive(event));
        assert_eq!(judge.clone().begin(both, None), Err(Broken::Overtakes { event: both, other: one }));
        assert_eq!(judge.begin(other, None), Ok(()));
        assert_eq!(judge.begin(one, None), Ok(()));
        assert_eq!(judge.clone().begin(both, None), Err(Broken::Beside { event: both, other: one }));
        assert_eq!(judge.clone().begin(last, None), Err(Broken::Overtakes { event: last, other: all }));
        assert_eq!([other, one].map(|event| judge.end(event)), [Ok(()); 2]);
        assert_eq!(judge.clone().begin(all, None), Err(Broken::Overtakes { event: all, other: both }));
        assert_eq!([none, both].map(|event| judge.begin(event, None)), [Ok(()); 2]);
        assert_eq!(judge.clone().begin(all, None), Err(Broken::Beside { event: all, other: both }));
        assert_eq!([none, both].map(|event| judge.end(event)), [Ok(()); 2]);
        assert_eq!((judge.begin(all, None), judge.end(all)), (Ok(()), Ok(())));
        assert_eq!((judge.begin(last, None), judge.left()), (Ok(()), 1));
        assert_eq!(
            (judge.begin(last, None), judge.end(one)),
            (Err(Broken::Twice(last)), Err(Broken::Idle(one)))
        );
    }

    #[test]
    fn arrivals_that_overlap_have_no_order_but_within_a_source() {
        let mut judge = Judge::new(anywhere);
        let events = [0, 0, 1].map(|source| judge.arriving(Event::new(source, Partitions::Of([1]))));
        assert_eq!(judge.clone().begin(events[2], None), Ok(()));
        assert!(judge.clone().begin(events[1], None).is_err());
        judge.arrived(events[0]);
        let late = judge.arriving(Event::new(2, Partitions::Of([1])));
        assert_eq!(judge.begin(late, None), Err(Broken::Overtakes { event: late, other: events[0] }));
    }

    #[test]
    fn one_that_replaces_another_passes_once() {
        let mut judge = Judge::new(anywhere);
        let kept = judge.arrive(of(&[1, 2]));
        let fresh: Vec<usize> = (0..2).map(|_| judge.arrive(of(&[1]).replacing())).collect();
        assert!(judge.clone().begin(fresh[1], None).is_err(), "those that replace keep their order");
        assert_eq!((judge.begin(fresh[0], None), judge.end(fresh[0])), (Ok(()), Ok(())));
        let elsewhere = judge.arrive(of(&[2]).replacing());
        assert_eq!(judge.begin(elsewhere, None), Ok(()));
        assert_eq!(judge.begin(fresh[1], None), Err(Broken::Overtakes { event: fresh[1], other: kept }));
        let mut judge = Judge::new(anywhere);
        let all = judge.arrive(Event::new(0, ALL));
        let fresh = judge.arrive(of(&[1]).replacing());
        assert_eq!(judge.begin(fresh, None), Err(Broken::Overtakes { event: fresh, other: all }));
    }

    #[test]
    fn bound_partitions_are_handled_at_home() {
        let mut judge = Judge::new(|id| Some(id as usize % 2));
        let [even, both] = [of(&[4]), of(&[5, 6])].map(|event| judge.arrive(event));
        assert_eq!(judge.clone().begin(even, Some(1)), Err(Broken::Elsewhere { event: even, thread: 1 }));
        assert_eq!([even, both].map(|event| judge.begin(event, Some(0))), [Ok(()); 2]);
    }
}
