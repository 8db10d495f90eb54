//! What workers and those who dispatch share.

use crate::counters::{Counters, Sample};
use crate::error::DispatchError;
use crate::joint::{Barrier, KeySet};
use crate::label::{Label, Tagged};
use crate::options::{Idle, OnPanic, Overload, Rule};
use crate::queue::{NOTHING, Queue, QueueRule};
use crate::ready::Ready;
use crate::report::Reports;
use crate::ring::{Refused, Reserved};
use crate::room::Room;
use crate::seats::Seats;
use crate::sync::{Arc, AtomicBool, AtomicU32, Clock, Mutex, Ordering};
use core::hash::{BuildHasher, Hash};
use core::task::Waker;
use crossbeam_utils::CachePadded;
use hashbrown::{DefaultHashBuilder, HashSet};
use std::cell::Cell;
use std::collections::VecDeque;

/// An event waits no longer than this, by what its queue's events took lately, before a worker that
/// has nothing else to do is called to help.
pub(crate) const PATIENCE_NS: u64 = 2_000;

/// Everything that a dispatcher is made of, but for its threads and its handler.
pub(crate) struct Shared<K, E> {
    pub(crate) queues: Box<[CachePadded<Lane<K, E>>]>,
    pub(crate) ready: Ready,
    pub(crate) seats: Seats,
    pub(crate) settings: Settings,
    pub(crate) hasher: DefaultHashBuilder,
    pub(crate) clock: Clock,
    pub(crate) counters: Box<[CachePadded<Counters>]>,
    /// Held while an event is put into several queues.
    joint: Mutex<()>,
    /// What handlers dispatched that found no room, by worker.
    aside: Box<[Aside<K, E>]>,
    pub(crate) closed: AtomicBool,
    pub(crate) aborted: AtomicBool,
    pub(crate) poisoned: Poisoned<K>,
    pub(crate) reports: Reports<K>,
    /// Whoever waits until nothing is left.
    pub(crate) quiet: Room,
}

/// A queue, and what is known of it.
pub(crate) struct Lane<K, E> {
    pub(crate) queue: Queue<K, E>,
    /// What an event took lately, in nanoseconds.
    pub(crate) pace: AtomicU32,
    pub(crate) room: Room,
    pub(crate) samples: Sample,
}

/// What was chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) rule: Rule,
    pub(crate) capacity: usize,
    pub(crate) overload: Overload,
    pub(crate) on_panic: OnPanic,
    pub(crate) idle: Idle,
    /// Bits by which keys are told apart; all of the key, if `None`.
    pub(crate) partition_bits: Option<u32>,
}

/// Keys whose events are not handled any more.
pub(crate) struct Poisoned<K> {
    any: AtomicBool,
    keys: Mutex<HashSet<K>>,
}

type Aside<K, E> = Mutex<VecDeque<Entry<K, E>>>;

/// An event on its way into queues.
pub(crate) enum Entry<K, E> {
    /// Into one.
    Plain { queue: usize, label: Plain<K>, event: E },
    /// Into those of several keys.
    Keys { keys: Box<[Tagged<K>]>, queues: Box<[usize]>, event: E },
    /// Into all.
    Sequential { event: E },
}

/// What an event touches that stands in one queue.
pub(crate) enum Plain<K> {
    Key(Tagged<K>),
    Unordered,
}

impl<K, E> Entry<K, E> {
    pub(crate) fn into_event(self) -> E {
        match self {
            Self::Plain { event, .. } | Self::Keys { event, .. } | Self::Sequential { event } => event,
        }
    }
}

#[cfg(loom)]
loom::thread_local! {
    // All of a model's threads share one of the system's.
    static HANDLING: Cell<(usize, usize)> = Cell::new((0, 0));
}

#[cfg(not(loom))]
thread_local! {
    /// The dispatcher whose handler runs on this thread, by address, and the worker.
    static HANDLING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    pub(crate) fn new(workers: usize, settings: Settings) -> Self {
        let Settings { rule, capacity, .. } = settings;
        let queues = rule.queues(workers);
        let window = rule.window().unwrap_or(capacity) as u64;
        let lane = |index| {
            let rule = QueueRule { index, window, shared: rule.shares() };
            CachePadded::new(Lane {
                queue: Queue::new(capacity, rule),
                pace: AtomicU32::new(PATIENCE_NS as u32 / 2),
                room: Room::default(),
                samples: Sample::new(capacity),
            })
        };
        Self {
            queues: (0..queues).map(lane).collect(),
            ready: Ready::new(queues),
            seats: Seats::new(workers),
            settings,
            hasher: DefaultHashBuilder::default(),
            clock: Clock::new(),
            counters: (0..workers).map(|_| CachePadded::new(Counters::default())).collect(),
            joint: Mutex::new(()),
            aside: (0..workers).map(|_| Mutex::new(VecDeque::new())).collect(),
            closed: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            poisoned: Poisoned { any: AtomicBool::new(false), keys: Mutex::new(HashSet::new()) },
            reports: Reports::new(),
            quiet: Room::default(),
        }
    }

    /// The worker at home at `queue`.
    #[inline]
    pub(crate) fn home(&self, queue: usize) -> usize {
        queue % self.seats.workers()
    }

    /// `key` with some bits of its hash, and its queue.
    #[inline]
    fn tagged(&self, key: K) -> (Tagged<K>, usize) {
        let hash = self.hasher.hash_one(&key);
        // Tags 0 and 1 mean something else.
        let tag = match self.settings.partition_bits {
            None => (hash >> 32) as u32 | 2,
            Some(bits) => (((hash >> 32) as u32 & ((1 << bits) - 1)) << 2) | 2,
        };
        // The same queue for all keys that are not told apart.
        let spread = u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let queue = (spread * self.queues.len() as u64) >> 32;
        (Tagged { tag, exact: self.settings.partition_bits.is_none(), key }, queue as usize)
    }

    /// An event that touches `key`.
    #[inline]
    pub(crate) fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        let (key, queue) = self.tagged(key);
        self.put(queue, Plain::Key(key), event)
    }

    /// The same, for a future.
    pub(crate) fn entry(&self, key: K, event: E) -> Entry<K, E> {
        let (key, queue) = self.tagged(key);
        Entry::Plain { queue, label: Plain::Key(key), event }
    }

    /// An event that touches nothing.
    pub(crate) fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        let lengths = self.queues.iter().map(|lane| lane.queue.ring().len()).enumerate();
        let queue = lengths.min_by_key(|&(_, length)| length).map_or(0, |(queue, _)| queue);
        self.put(queue, Plain::Unordered, event)
    }

    #[inline]
    fn put(&self, queue: usize, label: Plain<K>, event: E) -> Result<(), DispatchError<E>> {
        let lane = &self.queues[queue];
        if self.handler_here().is_none()
            && let Ok(place) = lane.queue.ring().reserve()
        {
            self.fill(place, queue, label, event);
            return Ok(());
        }
        self.put_any(Entry::Plain { queue, label, event })
    }

    #[inline]
    fn fill(&self, place: Reserved<'_, K, E>, queue: usize, label: Plain<K>, event: E) {
        self.queues[queue].samples.came(place.position(), &self.clock);
        match label {
            Plain::Key(key) => {
                let tag = key.tag;
                place.fill(Label::Key(key), Some(event));
                self.announce(queue, tag);
            }
            Plain::Unordered => {
                place.fill(Label::Unordered, Some(event));
                self.announce(queue, NOTHING);
            }
        }
    }

    /// An event that touches all of `keys`.
    pub(crate) fn dispatch_keys(
        &self,
        keys: impl IntoIterator<Item = K>,
        event: E,
    ) -> Result<(), DispatchError<E>> {
        let mut tagged: Vec<(Tagged<K>, usize)> = Vec::new();
        for (key, queue) in keys.into_iter().map(|key| self.tagged(key)) {
            if !tagged.iter().any(|(other, _)| other.is(&key)) {
                tagged.push((key, queue));
            }
        }
        if tagged.len() <= 1 {
            return match tagged.pop() {
                Some((key, queue)) => self.put(queue, Plain::Key(key), event),
                None => self.dispatch_unordered(event),
            };
        }
        let mut queues: Vec<usize> = tagged.iter().map(|&(_, queue)| queue).collect();
        queues.sort_unstable();
        queues.dedup();
        let keys = tagged.into_iter().map(|(key, _)| key).collect();
        self.put_any(Entry::Keys { keys, queues: queues.into(), event })
    }

    /// An event that runs alone.
    pub(crate) fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.put_any(Entry::Sequential { event })
    }

    /// Puts `entry` where it belongs, or does what is to be done if there is no room.
    #[cold]
    fn put_any(&self, mut entry: Entry<K, E>) -> Result<(), DispatchError<E>> {
        let worker = self.handler_here();
        if let Some(worker) = worker {
            let mut aside = crate::lock(&self.aside[worker]);
            // What was dispatched before goes first.
            if !aside.is_empty() && self.settings.overload == Overload::Block {
                aside.push_back(entry);
                return Ok(());
            }
        }
        loop {
            let full = match self.try_put(entry) {
                Ok(()) => return Ok(()),
                Err((Why::Closed, entry)) => return Err(DispatchError::Closed(entry.into_event())),
                Err((Why::Full(queue), again)) => {
                    entry = again;
                    queue
                }
            };
            match (self.settings.overload, worker) {
                (Overload::Reject, _) => return Err(DispatchError::Full(entry.into_event())),
                (Overload::Shed, _) => {
                    self.shed_at(full);
                    return Ok(());
                }
                (Overload::Block, Some(worker)) => {
                    crate::lock(&self.aside[worker]).push_back(entry);
                    return Ok(());
                }
                (Overload::Block, None) => self.queues[full].room.wait(|| self.may_try(full)),
            }
        }
    }

    /// Puts in what `worker` has kept aside, as far as there is room; whether anything was dropped, as
    /// the dispatcher is closed.
    pub(crate) fn put_aside(&self, worker: usize) -> bool {
        let mut aside = crate::lock(&self.aside[worker]);
        let mut dropped = false;
        while let Some(entry) = aside.pop_front() {
            match self.try_put(entry) {
                Ok(()) => {}
                Err((Why::Full(_), entry)) => {
                    aside.push_front(entry);
                    break;
                }
                Err((Why::Closed, _)) => {
                    self.counters[worker].shed();
                    dropped = true;
                }
            }
        }
        dropped
    }

    /// Puts `entry` where it belongs, if there is room.
    pub(crate) fn try_put(&self, entry: Entry<K, E>) -> Result<(), (Why, Entry<K, E>)> {
        match entry {
            Entry::Plain { queue, label, event } => match self.queues[queue].queue.ring().reserve() {
                Ok(place) => {
                    self.fill(place, queue, label, event);
                    Ok(())
                }
                Err(refused) => Err((Why::of(refused, queue), Entry::Plain { queue, label, event })),
            },
            Entry::Keys { keys, queues, event } => {
                let set = Arc::new(KeySet::new(keys, queues.iter().copied(), event));
                match self.put_jointly(&queues, || Label::Keys(set.clone())) {
                    Ok(()) => Ok(()),
                    Err(why) => {
                        let event = set.withdraw().expect("it has not come to the front of all its queues");
                        self.announce_withdrawal(&queues);
                        Err((why, Entry::Keys { keys: set.keys.clone(), queues, event }))
                    }
                }
            }
            Entry::Sequential { event } => {
                let barrier = Arc::new(Barrier::new(self.queues.len(), event));
                let queues: Vec<usize> = (0..self.queues.len()).collect();
                match self.put_jointly(&queues, || Label::Sequential(barrier.clone())) {
                    Ok(()) => Ok(()),
                    Err(why) => {
                        let event = barrier.withdraw().expect("it has not come to the front of all queues");
                        self.announce_withdrawal(&queues);
                        Err((why, Entry::Sequential { event }))
                    }
                }
            }
        }
    }

    /// Puts a label into each of `queues`, in an order that all such events are in.
    fn put_jointly(&self, queues: &[usize], label: impl Fn() -> Label<K, E>) -> Result<(), Why> {
        let order = crate::lock(&self.joint);
        let is_full = |&&queue: &&usize| {
            let ring = self.queues[queue].queue.ring();
            ring.len() >= ring.capacity() as u64
        };
        // Looked for before anything is put anywhere; others may still be faster.
        if let Some(&full) = queues.iter().find(is_full) {
            return Err(Why::Full(full));
        }
        for &queue in queues {
            match self.queues[queue].queue.ring().reserve() {
                Ok(place) => place.fill(label(), None),
                Err(refused) => return Err(Why::of(refused, queue)),
            }
        }
        drop(order);
        self.announce_all(queues);
        Ok(())
    }

    fn announce_all(&self, queues: &[usize]) {
        queues.iter().for_each(|&queue| self.announce(queue, NOTHING));
    }

    /// What was put into `queues` was withdrawn, where it may have been seen already.
    fn announce_withdrawal(&self, queues: &[usize]) {
        queues.iter().for_each(|&queue| self.queues[queue].queue.pass());
        self.announce_all(queues);
    }

    /// There may be something to do in `queue`, which touches `tag`.
    #[inline]
    pub(crate) fn announce(&self, queue: usize, tag: u32) {
        if self.ready.set(queue) {
            if !self.settings.rule.moves() {
                self.seats.wake_exactly(self.home(queue));
            } else if self.seats.could_wake() {
                self.call(queue, tag);
            }
        }
    }

    /// Wakes somebody for `queue`, if that is worth the while: not if a worker that is there already
    /// will come to it soon, or must finish first.
    #[cold]
    fn call(&self, queue: usize, tag: u32) {
        let lane = &self.queues[queue];
        let touched = lane.queue.touched();
        if touched == NOTHING || (touched != tag && self.is_late(queue) && self.settings.rule.shares()) {
            self.seats.wake(self.home(queue));
        }
    }

    /// Whether what is in `queue` would wait too long for one worker.
    #[inline]
    pub(crate) fn is_late(&self, queue: usize) -> bool {
        let lane = &self.queues[queue];
        lane.queue.ring().len() * u64::from(lane.pace.load(Ordering::Relaxed)) >= PATIENCE_NS
    }

    /// An event was dropped that belonged to `queue`.
    pub(crate) fn shed_at(&self, queue: usize) {
        self.counters[self.home(queue)].shed();
    }

    /// Whether there is room in `queue` now; `waker` is woken when there is, if not.
    pub(crate) fn room_comes(&self, queue: usize, waker: &Waker) -> bool {
        self.queues[queue].room.leave(waker, || self.may_try(queue))
    }

    /// Whether it is worth the while to put something into `queue`: there is room, or never will be.
    fn may_try(&self, queue: usize) -> bool {
        self.has_room(queue) || self.closed.load(Ordering::SeqCst)
    }

    /// Whether `queue` is at most half full.
    fn has_room(&self, queue: usize) -> bool {
        let ring = self.queues[queue].queue.ring();
        ring.len() <= ring.capacity() as u64 / 2
    }

    /// Tells those who wait for room in `queue`, if there is enough.
    #[inline]
    pub(crate) fn tell_of_room(&self, queue: usize) {
        let lane = &self.queues[queue];
        if lane.room.is_awaited() && self.has_room(queue) {
            lane.room.tell();
        }
    }

    /// The worker whose handler runs on this thread, if it is one of this dispatcher.
    #[inline]
    pub(crate) fn handler_here(&self) -> Option<usize> {
        let (dispatcher, worker) = HANDLING.with(Cell::get);
        (dispatcher == core::ptr::from_ref(self).addr()).then_some(worker)
    }

    /// The calling thread is `worker`, and handles events from now on.
    pub(crate) fn handle_here(&self, worker: usize) {
        HANDLING.with(|here| here.set((core::ptr::from_ref(self).addr(), worker)));
        self.seats.sit(worker);
    }

    /// Nothing more can be dispatched.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for lane in &self.queues {
            lane.queue.ring().close();
            lane.room.tell();
        }
        self.seats.wake_all();
    }

    /// Nothing more is handled; what waits is left in the queues.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        self.close();
        self.quiet.tell();
    }

    /// Whether `worker` has events that wait for room.
    pub(crate) fn has_aside(&self, worker: usize) -> bool {
        !crate::lock(&self.aside[worker]).is_empty()
    }

    /// Takes out all that waits; how many events that were.
    pub(crate) fn discard(&self) -> u64 {
        let mut discarded = 0;
        for lane in &self.queues {
            lane.queue.clear(|label, event| match label {
                Label::Key(_) | Label::Unordered => discarded += u64::from(event.is_some()),
                Label::Keys(set) => discarded += u64::from(set.withdraw().is_some()),
                Label::Sequential(barrier) => discarded += u64::from(barrier.withdraw().is_some()),
            });
        }
        for aside in &self.aside {
            discarded += crate::lock(aside).drain(..).count() as u64;
        }
        discarded
    }

    /// Events that are in, those that run among them; each of those that stand in several queues as
    /// often.
    pub(crate) fn pending(&self) -> u64 {
        self.queues.iter().map(|lane| lane.queue.ring().len()).sum()
    }

    /// Whether everything that was dispatched so far has been handled, and all that handlers have
    /// dispatched.
    pub(crate) fn is_quiet(&self) -> bool {
        let tails = || self.queues.iter().map(|lane| lane.queue.ring().tail()).sum::<u64>();
        let before = tails();
        // If nothing came in between, all queues were empty at one time.
        self.pending() == 0
            && self.aside.iter().all(|aside| crate::lock(aside).is_empty())
            && tails() == before
    }
}

/// Why something could not be put in.
pub(crate) enum Why {
    Full(usize),
    Closed,
}

impl Why {
    fn of(refused: Refused, queue: usize) -> Self {
        match refused {
            Refused::Full => Self::Full(queue),
            Refused::Closed => Self::Closed,
        }
    }
}

impl<K: Eq + Hash + Clone> Poisoned<K> {
    /// Events that touch `keys` are not handled any more.
    pub(crate) fn add<'k>(&self, keys: impl Iterator<Item = &'k K>)
    where
        K: 'k,
    {
        crate::lock(&self.keys).extend(keys.cloned());
        self.any.store(true, Ordering::Release);
    }

    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub(crate) fn has(&self, key: &K) -> bool {
        crate::lock(&self.keys).contains(key)
    }
}
