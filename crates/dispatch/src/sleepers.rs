//! Which workers work, search or sleep, and how sleepers are woken.
//!
//! A worker **works** on claims, **searches** for some, or **sleeps**. Whoever puts something into a
//! queue that was empty wakes a sleeper only if nobody searches; a worker that ends a search with
//! success, as the last of those who searched, wakes another if more is there. So workers wake each
//! other one by one, as far as there is work, and no crowd comes for one event.
//!
//! **No lost wake-up.** A worker leaves the searchers, enters the sleepers, and looks for work once
//! more; a producer puts the work in, and looks for searchers and sleepers. All of these are
//! sequentially consistent: either the worker sees the work, or the producer sees no searcher, and
//! the sleeper.
//!
//! Who sleeps **watches** if it looks around again soon, by itself. Where somebody does, nobody need be woken for
//! what another worker will come to soon.
//!
//! Of those who sleep, the one that was asked for is woken, or else the one that went to sleep last,
//! whose caches are the warmest (`policy`'s most-recently-used order).

use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering, Thread, current, fence, park, park_timeout};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::sync::OnceLock;
use warmcore_policy::Recency;

pub(crate) struct Sleepers {
    workers: Box<[CachePadded<Worker>]>,
    /// Who sleeps, by how recently they worked.
    asleep: Mutex<Recency>,
    sleepers: CachePadded<AtomicU32>,
    /// Sleepers who look around again soon.
    watchers: CachePadded<AtomicU32>,
    searchers: CachePadded<AtomicU32>,
}

struct Worker {
    asleep: AtomicBool,
    /// Whether it looks around again soon, if it sleeps. Changed with those who sleep.
    watches: AtomicBool,
    working: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Sleepers {
    /// For so many workers, who all begin by searching.
    pub(crate) fn new(workers: usize) -> Self {
        let worker = |_| {
            CachePadded::new(Worker {
                asleep: AtomicBool::new(false),
                watches: AtomicBool::new(false),
                working: AtomicBool::new(false),
                thread: OnceLock::new(),
            })
        };
        Self {
            workers: (0..workers).map(worker).collect(),
            asleep: Mutex::new(Recency::empty(workers as u32)),
            sleepers: CachePadded::new(AtomicU32::new(0)),
            watchers: CachePadded::new(AtomicU32::new(0)),
            searchers: CachePadded::new(AtomicU32::new(workers as u32)),
        }
    }

    /// The calling thread is the worker `me`.
    pub(crate) fn register(&self, me: usize) {
        let _ = self.workers[me].thread.set(current());
    }

    /// Whether a worker other than `me` works.
    pub(crate) fn is_another_busy(&self, me: usize) -> bool {
        let mut others = self.workers.iter().enumerate().filter(|&(worker, _)| worker != me);
        others.any(|(_, other)| other.working.load(Ordering::SeqCst))
    }

    /// Whether `worker` sleeps.
    #[inline]
    pub(crate) fn sleeps(&self, worker: usize) -> bool {
        self.workers[worker].asleep.load(Ordering::SeqCst)
    }

    /// Whether somebody sleeps and nobody searches, so that somebody might be woken.
    #[inline]
    pub(crate) fn could_wake(&self) -> bool {
        self.searchers.load(Ordering::SeqCst) == 0 && self.sleepers.load(Ordering::SeqCst) > 0
    }

    /// Whether no worker works or searches.
    #[inline]
    pub(crate) fn all_sleep(&self) -> bool {
        self.sleepers.load(Ordering::SeqCst) as usize == self.workers.len()
    }

    /// Whether two workers or more neither sleep nor search.
    pub(crate) fn do_several_work(&self) -> bool {
        let others = self.sleepers.load(Ordering::SeqCst) + self.searchers.load(Ordering::SeqCst);
        self.workers.len() >= others as usize + 2
    }

    /// Whether one of those who sleep looks around again soon.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::SeqCst) > 0
    }

    /// `me`, who searched, has found something; whether nobody else searches now.
    #[inline]
    pub(crate) fn begin(&self, me: usize) -> bool {
        self.workers[me].working.store(true, Ordering::SeqCst);
        self.searchers.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// `me`, who worked, searches.
    #[inline]
    pub(crate) fn end(&self, me: usize) {
        self.searchers.fetch_add(1, Ordering::SeqCst);
        self.workers[me].working.store(false, Ordering::Relaxed);
    }

    /// Wakes `preferred` if it sleeps, or else the one that fell asleep last, to search.
    #[cold]
    pub(crate) fn wake(&self, preferred: usize) {
        let mut asleep = crate::lock(&self.asleep);
        let preferred = Some(preferred as u32).filter(|&worker| asleep.contains(worker));
        let Some(worker) = preferred.or_else(|| asleep.newest()) else { return };
        self.rouse(&mut asleep, worker);
    }

    /// Wakes `worker`, if it sleeps.
    #[inline]
    pub(crate) fn wake_exactly(&self, worker: usize) {
        if self.sleeps(worker) {
            let mut asleep = crate::lock(&self.asleep);
            if asleep.contains(worker as u32) {
                self.rouse(&mut asleep, worker as u32);
            }
        }
    }

    /// Wakes everybody.
    pub(crate) fn wake_all(&self) {
        let mut asleep = crate::lock(&self.asleep);
        while let Some(worker) = asleep.newest() {
            self.rouse(&mut asleep, worker);
        }
    }

    fn rouse(&self, asleep: &mut Recency, worker: u32) {
        self.rise(asleep, worker);
        if let Some(thread) = self.workers[worker as usize].thread.get() {
            thread.unpark();
        }
    }

    /// `worker` is among the searchers again.
    fn rise(&self, asleep: &mut Recency, worker: u32) {
        asleep.remove(worker);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        self.searchers.fetch_add(1, Ordering::SeqCst);
        let this = &self.workers[worker as usize];
        if this.watches.load(Ordering::Relaxed) {
            self.watchers.fetch_sub(1, Ordering::SeqCst);
        }
        this.asleep.store(false, Ordering::Release);
    }

    /// `me`, who searches, sleeps, unless `awake` finds a reason not to: until it is woken, or for
    /// `longest` at most. It searches again then. Whether somebody has woken it.
    #[cold]
    pub(crate) fn sleep(&self, me: usize, longest: Option<Duration>, awake: impl FnOnce() -> bool) -> bool {
        let this = &self.workers[me];
        {
            let mut asleep = crate::lock(&self.asleep);
            this.asleep.store(true, Ordering::SeqCst);
            asleep.push(me as u32);
            this.watches.store(longest.is_some(), Ordering::Relaxed);
            self.watchers.fetch_add(u32::from(longest.is_some()), Ordering::SeqCst);
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            self.searchers.fetch_sub(1, Ordering::SeqCst);
        }
        // What it looks at now it looks at after it was to be seen as a sleeper.
        fence(Ordering::SeqCst);
        if !awake() {
            match longest {
                Some(longest) if this.asleep.load(Ordering::Acquire) => park_timeout(longest),
                Some(_) => {}
                None => {
                    while this.asleep.load(Ordering::Acquire) {
                        park();
                    }
                }
            }
        }
        let mut asleep = crate::lock(&self.asleep);
        let woken = !asleep.contains(me as u32);
        if !woken {
            // Not by waking itself: its next sleep would end at once.
            self.rise(&mut asleep, me as u32);
        }
        woken
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn every_nap_lasts_though_nobody_ended_the_last_one() {
        const NAP: Duration = Duration::from_millis(10);
        let sleepers = Sleepers::new(1);
        sleepers.register(0);
        let begun = Instant::now();
        let woken = (0..10).filter(|_| sleepers.sleep(0, Some(NAP), || false)).count();
        assert_eq!(woken, 0);
        assert!(begun.elapsed() >= 8 * NAP, "{:?}", begun.elapsed());
    }
}
