//! What workers and those who dispatch share.

use crate::aside::Aside;
use crate::counters::{Counters, Sample};
use crate::entry::{Entry, Plain, Why};
use crate::keyed::Keyed;
use crate::label::{ALL, NOTHING, Seen};
use crate::options::{Idle, OnPanic, Overload, Rule};
use crate::poisoned::Poisoned;
use crate::queue::{Queue, QueueRule};
use crate::ready::Ready;
use crate::report::Reports;
use crate::room::Room;
use crate::seats::Seats;
use crate::sync::{AtomicBool, AtomicU32, Clock, HashBuilder, Mutex, Ordering, fence};
use crate::worker::searches;
use core::hash::Hash;
use core::task::Waker;
use crossbeam_utils::CachePadded;
use std::cell::Cell;

/// An event waits no longer than this, by what its queue's events took lately, before a worker that
/// has nothing else to do is called to help.
pub(crate) const PATIENCE_NS: u64 = 2_000;

/// Events that take less are done sooner by one worker alone than by several at one queue, who take from each
/// other's caches what they share.
const WORTH_SHARING_NS: u32 = 500;

/// Who waits for room is told of it by a worker that has nothing to do where what would find room takes so long: to
/// wake somebody takes tens of microseconds.
pub(crate) const WORTH_COMING_NS: u64 = 500_000;
/// By a worker that could take part where others are, only where it takes so long: to take part costs less than to wake
/// somebody often, and more than to wake somebody who then brings enough for long.
pub(crate) const WORTH_MUCH_NS: u64 = 2_000_000;

/// Everything that a dispatcher is made of, but for its threads and its handler.
pub(crate) struct Shared<K, E> {
    pub(crate) queues: Box<[CachePadded<Lane<K, E>>]>,
    pub(crate) ready: Ready,
    pub(crate) seats: Seats,
    pub(crate) settings: Settings,
    /// Searches without success before a worker sleeps.
    pub(crate) searches: u32,
    pub(crate) hasher: HashBuilder,
    pub(crate) clock: Clock,
    pub(crate) counters: Box<[CachePadded<Counters>]>,
    /// Held while an event is put into several queues.
    pub(crate) joint: Mutex<()>,
    /// What handlers dispatched that found no room, by worker.
    pub(crate) aside: Box<[CachePadded<Aside<K, E>>]>,
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
    /// Of keys that are looked up.
    pub(crate) keyed: Mutex<Keyed<K, E>>,
}

impl<K: Eq, E> Lane<K, E> {
    /// Those who wait for room are told by those who work when so many events are left: they should come before the
    /// workers have nothing to do, and not more often than that needs.
    fn low(&self) -> u64 {
        (self.queue.ring().capacity() as u64).div_ceil(4)
    }

    /// Whether there is so much room that those who wait for some are to be told by those who work.
    fn has_much_room(&self) -> bool {
        self.queue.ring().len() <= self.low()
    }

    /// Whether there is room for what takes so many nanoseconds. There is wherever there is much.
    fn has_room(&self, nanos: u64) -> bool {
        let ring = self.queue.ring();
        let capacity = ring.capacity() as u64;
        let events = nanos / u64::from(self.pace.load(Ordering::Relaxed).max(1));
        ring.len() + events.clamp(1, capacity - self.low()) <= capacity
    }

    /// Whether there is less room than that, as far as is known without looking at what producers write.
    #[inline]
    pub(crate) fn is_filling(&self) -> bool {
        self.queue.ring().has_more_than(self.low())
    }
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
    /// Events of one key that may wait.
    pub(crate) key_limit: Option<u64>,
    /// Events that a worker keeps aside for its handlers.
    pub(crate) aside: usize,
}

#[cfg(loom)]
loom::thread_local! {
    // All of a model's threads share one of the system's.
    static HANDLING: Cell<(usize, usize)> = Cell::new((0, 0));
}

#[cfg(not(loom))]
crate::sync::thread_local! {
    /// The dispatcher whose handler runs on this thread, by address, and the worker.
    static HANDLING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    pub(crate) fn new(workers: usize, settings: Settings) -> Self {
        let Settings { rule, capacity, .. } = settings;
        let queues = rule.queues(workers);
        let window = rule.window().unwrap_or(capacity) as u64;
        let lane = |index| {
            let exact = settings.partition_bits.is_none();
            let rule = QueueRule { index, window, shared: rule.shares(), exact };
            CachePadded::new(Lane {
                queue: Queue::new(capacity, rule),
                pace: AtomicU32::new(PATIENCE_NS as u32 / 2),
                room: Room::default(),
                samples: Sample::new(capacity),
                keyed: Mutex::new(Keyed::default()),
            })
        };
        Self {
            queues: (0..queues).map(lane).collect(),
            ready: Ready::new(queues),
            seats: Seats::new(workers),
            settings,
            searches: searches(),
            hasher: HashBuilder::default(),
            clock: Clock::new(),
            counters: (0..workers).map(|_| CachePadded::new(Counters::default())).collect(),
            joint: Mutex::new(()),
            aside: (0..workers).map(|_| CachePadded::new(Aside::new())).collect(),
            closed: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            poisoned: Poisoned::none(),
            reports: Reports::new(),
            quiet: Room::default(),
        }
    }

    /// The worker at home at `queue`.
    #[inline]
    pub(crate) fn home(&self, queue: usize) -> usize {
        queue % self.seats.workers()
    }

    /// There may be something to do in `queue`, which touches `tag`.
    #[inline]
    pub(crate) fn announce(&self, queue: usize, tag: u32) {
        if self.ready.set(queue) {
            self.rouse(queue, tag);
        }
    }

    /// There may be something to do in `queue` again, in which nothing could be done, so that nobody came
    /// though it was announced.
    pub(crate) fn reopen(&self, queue: usize) {
        self.ready.set(queue);
        // Whoever falls asleep looks at what is touched after, and a fence: one of both sees the other.
        fence(Ordering::SeqCst);
        self.rouse(queue, NOTHING);
    }

    /// Wakes somebody for `queue`, in which there is something that touches `tag`, if nobody is up.
    #[inline]
    fn rouse(&self, queue: usize, tag: u32) {
        if !self.settings.rule.moves() {
            self.seats.wake_exactly(self.home(queue));
        } else if self.seats.could_wake() {
            self.call(queue, tag);
        }
    }

    /// Wakes somebody for `queue`, if that is worth the while: not if a worker that is there already
    /// must finish first, or will come to it soon; and if it does not, somebody sees that soon.
    #[cold]
    fn call(&self, queue: usize, tag: u32) {
        let lane = &self.queues[queue];
        let touched = lane.queue.touched();
        let helps = || touched != tag && touched != ALL && (self.is_late(queue) || !self.seats.is_watched());
        if touched == NOTHING || self.settings.rule.shares() && helps() {
            self.seats.wake(self.home(queue));
        }
    }

    /// Whether what is in `queue` would wait too long for one worker.
    #[inline]
    pub(crate) fn is_late(&self, queue: usize) -> bool {
        let lane = &self.queues[queue];
        lane.queue.ring().len() * u64::from(lane.pace.load(Ordering::Relaxed)) >= PATIENCE_NS
    }

    /// Whether several workers are to serve `queue` at once.
    #[inline]
    pub(crate) fn is_shared(&self, queue: usize) -> bool {
        match self.settings.rule {
            Rule::Window { .. } => true,
            Rule::Elastic { .. } => self.queues[queue].pace.load(Ordering::Relaxed) >= WORTH_SHARING_NS,
            Rule::Sharded | Rule::Bound { .. } => false,
        }
    }

    /// An event was dropped that belonged to `queue`.
    pub(crate) fn shed_at(&self, queue: usize) {
        self.counters[self.home(queue)].shed();
    }

    /// Whether there is room for `entry` now, in `queue`, where there was none, and `why`; `waker` is woken when
    /// there is, if not.
    pub(crate) fn room_comes(&self, queue: usize, why: Why, entry: &Entry<K, E>, waker: &Waker) -> bool {
        self.queues[queue].room.leave(waker, || self.may_try(why, entry))
    }

    /// Whether it is worth the while to try again with `entry`, which could not be put in, and `why`: there
    /// is room, or never will be.
    pub(crate) fn may_try(&self, why: Why, entry: &Entry<K, E>) -> bool {
        let has_room = match (why, entry) {
            (Why::KeyFull(queue), Entry::Plain { label: Plain::Key(key), .. }) => {
                let events = crate::lock(&self.queues[queue].keyed).events(&key.key);
                self.settings.key_limit.is_none_or(|limit| events <= limit / 2)
            }
            (Why::Full(queue) | Why::KeyFull(queue), _) => self.queues[queue].has_room(WORTH_COMING_NS),
            (Why::Closed, _) => true,
        };
        has_room || self.closed.load(Ordering::SeqCst)
    }

    /// Tells those who wait for room in `queue`, if there is much, or may be some for their key. Until then, somebody
    /// who has nothing to do is to look whether there is enough.
    #[inline]
    pub(crate) fn tell_of_room(&self, queue: usize) {
        let lane = &self.queues[queue];
        if !lane.room.is_awaited() {
            return;
        }
        if self.settings.key_limit.is_some() || lane.has_much_room() {
            lane.room.tell();
        } else if self.settings.rule.moves() && self.seats.could_wake() && !self.seats.is_watched() {
            self.seats.wake(self.home(queue));
        }
    }

    /// Tells those who wait for room, wherever there is some for what takes so many nanoseconds. For a worker that has
    /// nothing to do: they may bring something for it too.
    pub(crate) fn tell_of_room_anywhere(&self, nanos: u64) {
        for lane in &self.queues {
            if lane.room.is_awaited() && lane.has_room(nanos) {
                lane.room.tell();
            }
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
        // Workers that see it closed and empty end: nothing may come in any more by then.
        self.queues.iter().for_each(|lane| lane.queue.ring().close());
        self.closed.store(true, Ordering::SeqCst);
        self.queues.iter().for_each(|lane| lane.room.tell());
        self.seats.wake_all();
    }

    /// Nothing more is handled; what waits is left in the queues.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        self.close();
        self.quiet.tell();
    }

    /// Takes out all that waits; how many events that were.
    pub(crate) fn discard(&self) -> u64 {
        let mut discarded = 0;
        for lane in &self.queues {
            lane.queue.clear(|label, event| match label {
                Seen::Key(_) | Seen::Unordered => {
                    discarded += u64::from(self.begin(lane, label, event).is_some());
                }
                Seen::Keys(set) => discarded += u64::from(set.withdraw().is_some()),
                Seen::Sequential(barrier) => discarded += u64::from(barrier.withdraw().is_some()),
            });
        }
        for aside in &self.aside {
            discarded += aside.discard();
        }
        discarded
    }

    /// The event with this plain `label` that is to be handled now: `event`, which stood in the queue, or
    /// that which is kept for its key.
    #[inline]
    pub(crate) fn begin(&self, lane: &Lane<K, E>, label: Seen<'_, K, E>, event: Option<E>) -> Option<E> {
        match label {
            Seen::Key(key) if key.freshest || self.settings.key_limit.is_some() => {
                let kept = crate::lock(&lane.keyed).leave(key.key, key.freshest);
                event.or(kept)
            }
            _ => event,
        }
    }

    /// Whether an event that touches `keys` is not to be handled.
    #[inline]
    pub(crate) fn is_poisoned(&self, keys: &[K]) -> bool {
        self.poisoned.any() && keys.iter().any(|key| self.poisoned.has(key))
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
        self.pending() == 0 && self.aside.iter().all(|aside| aside.is_empty()) && tails() == before
    }
}
