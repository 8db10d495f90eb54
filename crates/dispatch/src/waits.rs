//! Which workers wait for events of their own dispatcher, so that no handler waits for what cannot come before it ends.
//!
//! A worker that is to wait enters what it waits for into a table, under a lock. Whoever has the result takes it out before
//! anybody can see the result. So a worker in the table waits for an event that has not ended; and if that is so of all
//! workers, or in a circle of keys that are held, then none of these events ever runs.

use crate::slow::SAYS;
use crate::sync::{Arc, AtomicBool, AtomicU64, Clock, Mutex, MutexGuard, Ordering};
use core::cell::RefCell;
use crossbeam_utils::CachePadded;
use std::collections::HashSet;
use std::sync::OnceLock;
use warmcore_policy::pdq::rules::Partitions;

/// What a handler has to itself while it runs.
#[derive(Clone, Debug)]
pub(crate) enum Holds {
    /// Nothing but the hash that its worker has noted.
    Nothing,
    Key(u64),
    Keys(Box<[u64]>),
    /// A sequential event: nothing else runs.
    All,
}

impl Holds {
    fn hashes(&self) -> &[u64] {
        match self {
            Self::Nothing | Self::All => &[],
            Self::Key(hash) => core::slice::from_ref(hash),
            Self::Keys(hashes) => hashes,
        }
    }

    /// In the words of the rules: partitions are hashes of keys.
    fn touches(&self) -> Partitions<&[u64]> {
        match self {
            Self::All => Partitions::All,
            _ => Partitions::Of(self.hashes()),
        }
    }

    /// Whether both cannot run at once.
    fn excludes(&self, other: &Self) -> bool {
        self.touches().conflict(&other.touches())
    }
}

/// Where an event will be handled.
#[derive(Clone)]
pub struct Place {
    pub(crate) waits: Arc<Waits>,
    pub(crate) needs: Holds,
    /// Workers that it cannot do without.
    pub(crate) workers: Box<[usize]>,
}

pub(crate) struct Waits {
    /// What each worker waits for.
    awaited: Mutex<Vec<Option<Place>>>,
    doing: Box<[CachePadded<Doing>]>,
    aborted: AtomicBool,
    clock: Clock,
}

/// What a worker does.
pub(crate) struct Doing {
    /// The hash of the event that it handles, or of the last one.
    hash: AtomicU64,
    /// What it holds besides.
    more: Mutex<Holds>,
    /// Hashes of events that the handler has dispatched and that cannot run before it ends: what is dispatched behind them
    /// cannot, either.
    behind: Mutex<HashSet<u64>>,
    has_behind: AtomicBool,
    /// Since when it has handled that event; 0 if it handles none. Kept in debug builds.
    since: AtomicU64,
    thread: OnceLock<String>,
}

impl Doing {
    /// An event of `hash` is handled from now on.
    #[inline]
    pub(crate) fn handles(&self, hash: u64, clock: &Clock) {
        self.hash.store(hash, Ordering::Relaxed);
        if self.has_behind.load(Ordering::Relaxed) {
            self.has_behind.store(false, Ordering::Relaxed);
            crate::lock(&self.behind).clear();
        }
        if SAYS {
            self.since.store(clock.raw().max(1), Ordering::Relaxed);
        }
    }

    /// None is handled.
    pub(crate) fn rests(&self) {
        if SAYS {
            self.since.store(0, Ordering::Relaxed);
        }
    }

    /// An event that holds more than its hash is handled from now on, or no longer.
    pub(crate) fn holds(&self, more: Holds) {
        *crate::lock(&self.more) = more;
    }

    /// The handler has dispatched an event with several keys, which may have to wait for the handler.
    pub(crate) fn dispatched(&self, needs: &Holds) {
        let mut behind = crate::lock(&self.behind);
        if needs.hashes().iter().any(|hash| behind.contains(hash)) || self.excludes(needs) {
            behind.extend(needs.hashes());
            self.has_behind.store(true, Ordering::Relaxed);
        }
    }

    /// Whether what the handler dispatches now comes to wait for it, if that needs this.
    pub(crate) fn is_behind(&self, needs: &Holds) -> bool {
        self.has_behind.load(Ordering::Relaxed) && {
            let behind = crate::lock(&self.behind);
            needs.hashes().iter().any(|hash| behind.contains(hash))
        }
    }

    /// What an event needs that waits for the handler.
    pub(crate) fn with_own(&self, needs: &Holds) -> Holds {
        let more = crate::lock(&self.more);
        let mine = match &*more {
            Holds::Nothing => &[self.hash.load(Ordering::Relaxed)],
            Holds::All => return Holds::All,
            more => more.hashes(),
        };
        Holds::Keys([needs.hashes(), mine].concat().into())
    }

    fn excludes(&self, needs: &Holds) -> bool {
        let more = crate::lock(&self.more);
        match &*more {
            Holds::Nothing => Holds::Key(self.hash.load(Ordering::Relaxed)).excludes(needs),
            more => more.excludes(needs),
        }
    }
}

type Here = RefCell<Option<(Arc<Waits>, usize)>>;

#[cfg(loom)]
loom::thread_local! {
    static HERE: Here = RefCell::new(None);
}

#[cfg(not(loom))]
crate::sync::thread_local! {
    /// The worker that this thread is.
    static HERE: Here = const { RefCell::new(None) };
}

/// The worker that the calling thread is, and the waits of its dispatcher.
pub(crate) fn here() -> Option<(Arc<Waits>, usize)> {
    HERE.with(|here| here.borrow().clone())
}

impl Waits {
    pub(crate) fn new(workers: usize) -> Self {
        let doing = |_| {
            CachePadded::new(Doing {
                hash: AtomicU64::new(0),
                more: Mutex::new(Holds::Nothing),
                behind: Mutex::default(),
                has_behind: AtomicBool::new(false),
                since: AtomicU64::new(0),
                thread: OnceLock::new(),
            })
        };
        Self {
            awaited: Mutex::new((0..workers).map(|_| None).collect()),
            doing: (0..workers).map(doing).collect(),
            aborted: AtomicBool::new(false),
            clock: Clock::new(),
        }
    }

    /// The calling thread is `worker` from now on.
    pub(crate) fn work_here(waits: &Arc<Self>, worker: usize) {
        if SAYS {
            let thread = std::thread::current();
            let _ = waits.doing[worker].thread.set(thread.name().unwrap_or("unnamed").to_owned());
        }
        HERE.with(|here| *here.borrow_mut() = Some((waits.clone(), worker)));
    }

    pub(crate) fn doing(&self, worker: usize) -> &Doing {
        &self.doing[worker]
    }

    /// Handlers are to wait no longer.
    pub(crate) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    /// What workers wait for.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Option<Place>>> {
        crate::lock(&self.awaited)
    }

    /// What each worker does.
    pub(crate) fn describe(&self) -> String {
        let (awaited, now) = (self.lock(), self.clock.raw());
        let describe = |(worker, doing): (usize, &CachePadded<Doing>)| {
            let (since, hash) = (doing.since.load(Ordering::Relaxed), doing.hash.load(Ordering::Relaxed));
            let thread = doing.thread.get().map_or("not started", String::as_str);
            let seconds = self.clock.delta_as_nanos(since.min(now), now) as f64 / 1e9;
            let does = match &awaited[worker] {
                _ if since == 0 => "has nothing to do".to_owned(),
                None => format!("has been handling an event with hash {hash:#018x} for {seconds:.1} s"),
                Some(_) => format!("handles an event with hash {hash:#018x}, and waits for another"),
            };
            format!("worker {worker} (thread `{thread}`) {does}")
        };
        self.doing.iter().enumerate().map(describe).collect::<Vec<_>>().join("; ")
    }

    /// Whether an event at `place` can only run when the handler on the worker `me` has ended, if what others wait for is
    /// `awaited`.
    pub(crate) fn is_circle(&self, awaited: &[Option<Place>], me: usize, place: &Place) -> bool {
        let mut reached = vec![false; awaited.len()];
        let mut places = vec![place];
        while let Some(place) = places.pop() {
            for (worker, next) in awaited.iter().enumerate() {
                let is_in_the_way =
                    place.workers.contains(&worker) || self.doing[worker].excludes(&place.needs);
                if worker == me && is_in_the_way {
                    return true;
                }
                if let Some(next) = next
                    && is_in_the_way
                    && !core::mem::replace(&mut reached[worker], true)
                {
                    places.push(next);
                }
            }
        }
        awaited.iter().enumerate().all(|(worker, place)| worker == me || place.is_some())
    }
}
