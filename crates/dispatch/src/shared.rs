//! What workers and those who dispatch share.

use crate::arrival::Why;
use crate::bound::Bound;
use crate::counters::Counters;
use crate::gate::Gate;
use crate::options::{Binding, Idle, OnPanic, Overload};
use crate::poisoned::Poisoned;
use crate::ready::Ready;
use crate::report::Reports;
use crate::sleepers::Sleepers;
use crate::strand::{Back, Pushed, Strand};
use crate::sync::{Arc, AtomicU32, AtomicU64, Clock, HashBuilder, Mutex, Ordering, fence, prepare_fences};
use crate::trace::{Overloaded, tell};
use crate::waiters::Waiters;
use crate::waits::{self, Place, Waits};
use crossbeam_utils::CachePadded;
use std::cell::Cell;

/// Nothing more can be dispatched.
pub(crate) const CLOSED: u32 = 1;
/// Nothing more is handled.
pub(crate) const ABORTED: u32 = 2;
/// A sequential event waits or runs.
pub(crate) const SHUT: u32 = 4;
/// Some keys are poisoned.
pub(crate) const POISONED: u32 = 8;
/// A sequential event runs.
pub(crate) const ALONE: u32 = 16;

/// A worker that attends no strand.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Events that take longer are worth waking another worker for at once: to wake one costs tens of microseconds.
const WORTH_WAKING_NS: u32 = 1_000;

/// Producers may fill a quarter of the capacity with events of one strand, and so many anyway.
const LEAST_SHARE: usize = 16;

/// Groups of those who wait for room in a strand.
const GROUPS: usize = 16;

/// Everything that a dispatcher is made of, but for its threads and its handler.
pub(crate) struct Shared<K, E> {
    pub(crate) strands: Box<[Strand<K, E>]>,
    pub(crate) ready: Ready,
    pub(crate) bound: Bound,
    /// Events of one strand that producers may have waiting.
    pub(crate) share: usize,
    pub(crate) gate: Gate<K, E>,
    pub(crate) sleepers: Sleepers,
    pub(crate) settings: Settings,
    pub(crate) hasher: HashBuilder,
    pub(crate) clock: Clock,
    pub(crate) counters: Box<[CachePadded<Counters>]>,
    /// The strand where each worker is, or [`NOWHERE`].
    pub(crate) attended: Box<[CachePadded<AtomicU32>]>,
    /// What an event took lately, in nanoseconds.
    pub(crate) pace: CachePadded<AtomicU32>,
    /// Held while lent room is taken back.
    pub(crate) taking_back: Mutex<()>,
    /// Held while the parts of an event with several keys are placed.
    pub(crate) joint: Mutex<()>,
    /// `CLOSED`, `ABORTED`, `SHUT`, `POISONED`, `ALONE`.
    pub(crate) flags: CachePadded<AtomicU32>,
    pub(crate) poisoned: Poisoned<K>,
    pub(crate) reports: Reports<K>,
    /// Workers that have not ended.
    pub(crate) workers_left: AtomicU32,
    /// What is counted on other threads than the workers'.
    pub(crate) outside: Mutex<Counters>,
    /// Events that an abort has dropped.
    pub(crate) discarded: AtomicU64,
    /// Whoever waits for room in the dispatcher.
    pub(crate) room: Waiters,
    /// Whoever waits for room in a strand, or of a key.
    pub(crate) strand_room: [Waiters; GROUPS],
    pub(crate) overloaded: Overloaded,
    /// Whoever waits until nothing is left.
    pub(crate) quiet: Waiters,
    /// Handlers that wait for events of this dispatcher.
    pub(crate) waits: Arc<Waits>,
    /// Whether futures handle events.
    pub(crate) asynchronous: bool,
    /// [`Handler::NOTE`](crate::Handler::NOTE) of the handler.
    pub(crate) note: Option<fn(&E, Option<Place>)>,
}

/// What was chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) binding: Binding,
    pub(crate) strands: Option<usize>,
    pub(crate) capacity: usize,
    pub(crate) overload: Overload,
    pub(crate) on_panic: OnPanic,
    pub(crate) idle: Idle,
    /// Events of one key that may wait.
    pub(crate) key_limit: Option<u64>,
    /// Events that handlers may dispatch beyond the capacity.
    pub(crate) follow_ups: usize,
}

#[cfg(loom)]
loom::thread_local! {
    // All of a model's threads share one of the system's.
    static HANDLING: Cell<(usize, usize)> = Cell::new((0, 0));
}

#[cfg(not(loom))]
crate::sync::thread_local! {
    /// The dispatcher whose worker this thread is, by address, and the worker; or whose future it polls, and [`POLLS`].
    static HANDLING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// In the place of a worker: the thread polls the future of an event.
const POLLS: usize = usize::MAX;

/// Puts back what a thread handled before it polled a future.
pub(crate) struct Polling((usize, usize));

impl Drop for Polling {
    fn drop(&mut self) {
        HANDLING.with(|here| here.set(self.0));
    }
}

/// Whether this thread is a worker of any dispatcher, or polls the future of an event.
#[inline]
pub(crate) fn is_worker() -> bool {
    HANDLING.with(Cell::get).0 != 0
}

impl<K, E> Shared<K, E> {
    pub(crate) fn new(workers: usize, settings: Settings) -> Self {
        prepare_fences();
        let strands = settings.strands.unwrap_or_else(|| default_strands(workers));
        let follow_ups = if settings.overload == Overload::Block { settings.follow_ups } else { 0 };
        let nowhere = |_| CachePadded::new(AtomicU32::new(NOWHERE));
        Self {
            strands: (0..strands).map(|_| Strand::default()).collect(),
            ready: Ready::new(workers, strands),
            bound: Bound::new(workers, strands, settings.capacity, follow_ups),
            share: (settings.capacity / 4).max(LEAST_SHARE),
            gate: Gate::new(),
            sleepers: Sleepers::new(workers),
            settings,
            hasher: HashBuilder::default(),
            clock: Clock::new(),
            counters: (0..workers).map(|_| CachePadded::new(Counters::default())).collect(),
            attended: (0..workers).map(nowhere).collect(),
            pace: CachePadded::new(AtomicU32::new(WORTH_WAKING_NS / 2)),
            taking_back: Mutex::new(()),
            joint: Mutex::new(()),
            flags: CachePadded::new(AtomicU32::new(0)),
            poisoned: Poisoned::none(),
            reports: Reports::new(),
            workers_left: AtomicU32::new(workers as u32),
            outside: Mutex::new(Counters::default()),
            discarded: AtomicU64::new(0),
            room: Waiters::default(),
            strand_room: core::array::from_fn(|_| Waiters::default()),
            overloaded: Overloaded::default(),
            quiet: Waiters::default(),
            waits: Arc::new(Waits::new(workers)),
            asynchronous: false,
            note: None,
        }
    }

    /// The strand of what has this hash.
    #[inline]
    pub(crate) fn strand_of(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.strands.len() - 1)
    }

    /// Whether one of `flags` is set.
    #[inline]
    pub(crate) fn has(&self, flags: u32) -> bool {
        self.flags.load(Ordering::SeqCst) & flags != 0
    }

    /// Something was pushed into `strand`.
    #[inline]
    pub(crate) fn pushed(&self, strand: usize, pushed: Pushed) {
        match pushed {
            Pushed::Scheduled => self.announce(strand),
            // Its worker comes to it; somebody is to see to it if that takes long.
            Pushed::Already if self.settings.binding == Binding::Dynamic => self.have_it_watched(strand),
            Pushed::Already => {}
        }
    }

    /// There may be something to do in `strand`, which nobody attends.
    #[inline]
    pub(crate) fn announce(&self, strand: usize) {
        self.ready.set(strand);
        let home = self.ready.home(strand);
        if self.settings.binding == Binding::Static {
            self.sleepers.wake_exactly(home);
        } else if self.sleepers.could_wake() {
            let is_long = || self.pace.load(Ordering::Relaxed) >= WORTH_WAKING_NS;
            if self.sleepers.all_sleep() || !self.sleepers.is_watched() || is_long() {
                self.sleepers.wake(home);
            }
        }
    }

    /// Wakes somebody if all that do not work sleep for good: whoever works may be stuck.
    #[inline]
    pub(crate) fn have_it_watched(&self, strand: usize) {
        if self.sleepers.could_wake() && !self.sleepers.is_watched() {
            self.sleepers.wake(self.ready.home(strand));
        }
    }

    /// Those who wait for room in `strand`.
    #[inline]
    pub(crate) fn room_in(&self, strand: usize) -> &Waiters {
        &self.strand_room[strand % GROUPS]
    }

    /// Whether what this thread dispatches comes in whatever a strand holds, or waits of its key.
    #[inline]
    pub(crate) fn comes_in_anyway(&self) -> bool {
        is_worker() && self.settings.overload == Overload::Block
    }

    /// An event was dropped for want of room.
    pub(crate) fn shed(&self) {
        self.counters[0].shed();
    }

    /// Where those wait who were refused.
    pub(crate) fn room_of(&self, why: Why) -> &Waiters {
        match why {
            Why::StrandFull(strand) | Why::KeyFull(strand) => self.room_in(strand),
            Why::Full | Why::Closed => &self.room,
        }
    }

    /// The worker that this thread is, if it is one of this dispatcher.
    #[inline]
    pub(crate) fn worker_here(&self) -> Option<usize> {
        let (dispatcher, worker) = HANDLING.with(Cell::get);
        (dispatcher == core::ptr::from_ref(self).addr() && worker != POLLS).then_some(worker)
    }

    /// Whether an event of this dispatcher is handled on this thread, or is to be.
    pub(crate) fn handles_here(&self) -> bool {
        // A worker may poll the future of another dispatcher's event.
        let is_worker = || waits::here().is_some_and(|(waits, _)| Arc::ptr_eq(&waits, &self.waits));
        HANDLING.with(Cell::get).0 == core::ptr::from_ref(self).addr() || is_worker()
    }

    /// As long as the result lives, the calling thread polls the future of an event.
    pub(crate) fn poll_here(&self) -> Polling {
        Polling(HANDLING.with(|here| here.replace((core::ptr::from_ref(self).addr(), POLLS))))
    }

    /// The calling thread is `worker` from now on.
    pub(crate) fn work_here(&self, worker: usize) {
        HANDLING.with(|here| here.set((core::ptr::from_ref(self).addr(), worker)));
        self.sleepers.register(worker);
        Waits::work_here(&self.waits, worker);
    }

    /// Nothing more can be dispatched.
    pub(crate) fn close(&self) {
        if self.flags.fetch_or(CLOSED, Ordering::SeqCst) & CLOSED == 0 {
            tell!(DEBUG, "the dispatcher is closed");
        }
        self.tell_everybody();
    }

    /// Nothing more is handled; what waits stays where it is.
    pub(crate) fn abort(&self) {
        if self.flags.fetch_or(CLOSED | ABORTED, Ordering::SeqCst) & ABORTED == 0 {
            tell!(DEBUG, "the dispatcher is aborted");
        }
        self.waits.abort();
        self.tell_everybody();
    }

    pub(crate) fn tell_everybody(&self) {
        self.room.tell();
        self.strand_room.iter().for_each(Waiters::tell);
        self.quiet.tell();
        self.sleepers.wake_all();
    }

    /// Whether everything that was dispatched so far has been handled, and all that handlers have dispatched.
    pub(crate) fn is_quiet(&self) -> bool {
        self.bound.events() == 0
    }

    /// What is waited for by those who wait until nothing is left.
    pub(crate) fn describe_end(&self) -> String {
        let by = if self.asynchronous { ", which futures handle" } else { "" };
        format!("all events to end ({} left{by})", self.bound.events())
    }

    /// Whether it is closed, and nothing is left. Whoever dispatches admits first and looks whether it is closed after.
    pub(crate) fn is_over(&self) -> bool {
        self.has(CLOSED) && {
            fence(Ordering::SeqCst);
            self.is_quiet()
        }
    }

    /// Whether a sequential event may run now.
    pub(crate) fn is_gate_due(&self) -> bool {
        self.flags.load(Ordering::SeqCst) & (SHUT | ALONE) == SHUT && {
            fence(Ordering::SeqCst);
            self.bound.in_strands() == 0
        }
    }

    /// Wakes a worker for the sequential event, if it may run now.
    pub(crate) fn see_to_gate(&self) {
        if self.is_gate_due() {
            self.sleepers.wake(0);
        }
    }

    /// An event was finished by somebody who is no worker, or its admission is taken back.
    pub(crate) fn finish_elsewhere(&self, count: u64) {
        self.bound.finish_elsewhere(count);
        self.tell_of_end();
    }

    /// Tells everybody of an event that has ended, or of an admission that was taken back.
    pub(crate) fn tell_of_end(&self) {
        self.see_to_gate();
        self.tell_of_room();
        self.tell_if_quiet();
    }

    /// Takes back the room that is lent to strands and not used; whether there is some now.
    #[cold]
    pub(crate) fn take_back_lent(&self) -> bool {
        let has_some = {
            // Whoever comes meanwhile waits for what is taken back.
            let _one_by_one = crate::lock(&self.taking_back);
            if !self.bound.has_lent() {
                return self.bound.has_room();
            }
            self.bound.stop_lending();
            let returned = self.strands.iter().filter(|strand| self.return_lent(&mut strand.back()));
            returned.count() > 0
        };
        self.tell_of_end();
        has_some
    }

    /// Returns the room that a strand was lent and has not used, under the lock of its back: whoever finds no room finds it
    /// lent, or free. Whether there was some.
    pub(crate) fn return_lent(&self, back: &mut Back<K, E>) -> bool {
        let unused = core::mem::take(&mut back.lent);
        self.bound.finish_elsewhere(unused.into());
        unused > 0
    }

    /// Events that are in: never too few, and as long as others dispatch perhaps some too many, for which room is lent.
    pub(crate) fn depth(&self) -> u64 {
        if self.is_quiet() {
            return 0;
        }
        self.take_back_lent();
        self.bound.events()
    }

    /// The future of a sequential event has ended.
    pub(crate) fn end_alone_elsewhere(&self) {
        self.bound.end_deferred(1);
        self.finish_elsewhere(0);
        if self.has(ABORTED) {
            self.discard_if_alone();
        }
    }

    /// Releases the keys with these hashes, which an event held.
    pub(crate) fn release_keys<'h>(&self, hashes: impl IntoIterator<Item = &'h u64>) {
        for &hash in hashes {
            let strand = self.strand_of(hash);
            let pushed = self.strands[strand].release_from_outside(hash);
            self.pushed(strand, pushed);
        }
    }

    /// Tells those who wait for room in `strand`. The lock of its back, which both sides have taken, orders this after they
    /// have said that they wait, or their look after there was room.
    pub(crate) fn tell_of_room_in(&self, strand: usize) {
        let waiters = self.room_in(strand);
        if waiters.may_be_awaited() {
            waiters.tell();
        }
    }

    /// Tells those who wait for room, if there is some.
    pub(crate) fn tell_of_room(&self) {
        if self.room.is_awaited() && self.bound.has_room() {
            self.room.tell();
        }
    }

    /// Tells those who wait until nothing is left, if that is so; and workers that may end now.
    pub(crate) fn tell_if_quiet(&self) {
        if self.quiet.is_awaited() && self.is_quiet() {
            self.quiet.tell();
        }
        if self.is_over() {
            self.sleepers.wake_all();
        }
    }

    /// Events that touch `keys` are not handled any more.
    #[cold]
    pub(crate) fn poison(&self, keys: &[K])
    where
        K: Eq + core::hash::Hash + Clone,
    {
        self.poisoned.add(keys.iter());
        self.flags.fetch_or(POISONED, Ordering::SeqCst);
    }

    /// Whether an event that touches `keys` is not to be handled.
    #[inline]
    pub(crate) fn is_poisoned(&self, keys: &[K]) -> bool
    where
        K: Eq + core::hash::Hash + Clone,
    {
        self.has(POISONED) && keys.iter().any(|key| self.poisoned.has(key))
    }
}

/// Strands for so many workers: enough that keys seldom share one, and few enough to stay in caches.
fn default_strands(workers: usize) -> usize {
    if crate::sync::CHECKED { 4 } else { (workers * 64).next_power_of_two().clamp(256, 4_096) }
}
