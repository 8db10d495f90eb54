//! How many events are in a dispatcher, and whether there is room for more.
//!
//! Producers share one count of what they have admitted. Each worker counts for itself what its handlers have admitted
//! and what it has finished, so that workers and producers write no line in common. What is in is the difference of
//! the sums. Counts only grow.
//!
//! While there is much room, it is **lent** to a strand for some events at once, so that producers seldom meet at the
//! common count. Room that is lent counts as taken, until the last worker that leaves the strand gives back what is left
//! of it. Who finds no room has all of it given back first.

use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// The most events that room is lent for at once.
const MOST_LENT: u64 = 8;

pub(crate) struct Bound {
    producers: CachePadded<Producers>,
    workers: Box<[CachePadded<Flow>]>,
    /// Finished by others than workers: by futures, and admissions that were taken back.
    elsewhere: CachePadded<AtomicU64>,
    /// Events that came to wait behind a sequential one, and the sequential ones.
    deferred: CachePadded<AtomicU64>,
    /// Those of them that wait no longer.
    let_in: AtomicU64,
    capacity: u64,
    follow_ups: u64,
    /// Room is lent for one event more for each so many that there is room for.
    lends_per: u64,
    /// Whether room may be lent for several events.
    lent: AtomicBool,
    /// Events after which a worker looks whether somebody waits for room: a power of two.
    often: u64,
}

struct Producers {
    admitted: AtomicU64,
    /// `admitted` may grow so far, as of the last look at the workers.
    limit: AtomicU64,
}

/// What one worker has counted. Nobody else writes.
#[derive(Default)]
pub(crate) struct Flow {
    admitted: AtomicU64,
    finished: AtomicU64,
    /// Events for which room was lent in vain.
    unused: AtomicU64,
}

impl Bound {
    pub(crate) fn new(workers: usize, strands: usize, capacity: usize, follow_ups: usize) -> Self {
        let producers = Producers { admitted: AtomicU64::new(0), limit: AtomicU64::new(capacity as u64) };
        Self {
            producers: CachePadded::new(producers),
            workers: (0..workers).map(|_| CachePadded::new(Flow::default())).collect(),
            elsewhere: CachePadded::new(AtomicU64::new(0)),
            deferred: CachePadded::new(AtomicU64::new(0)),
            let_in: AtomicU64::new(0),
            capacity: capacity as u64,
            follow_ups: follow_ups as u64,
            lends_per: (8 * strands) as u64,
            lent: AtomicBool::new(false),
            often: ((capacity / (8 * workers)).max(1) as u64).next_power_of_two(),
        }
    }

    /// Admits an event of a thread that is no worker. Each admission has a number of its own.
    pub(crate) fn admit(&self) -> Option<u64> {
        self.admit_some(|_| 1).map(|(number, _)| number)
    }

    /// Lends room for some events to a strand, more where there is much; 0 if there is none. To be called under the lock of
    /// the strand's back.
    #[inline]
    pub(crate) fn lend(&self) -> u32 {
        // Who takes all of it back changes this first, and goes from strand to strand then: none is missed.
        let may_lend = self.lent.load(Ordering::SeqCst);
        let mut share = 0;
        let lent = self.admit_some(|room| {
            share = (room / self.lends_per).clamp(1, MOST_LENT);
            if may_lend { share } else { 1 }
        });
        if share > 1 && !may_lend {
            self.lent.store(true, Ordering::SeqCst);
        }
        lent.map_or(0, |(_, lent)| lent as u32)
    }

    /// Whether room may be lent that is not used.
    pub(crate) fn has_lent(&self) -> bool {
        self.lent.load(Ordering::SeqCst)
    }

    /// No room is lent for several events, until there is much of it again.
    pub(crate) fn stop_lending(&self) {
        self.lent.store(false, Ordering::SeqCst);
    }

    /// Admits as many as `some` says, of the room that there is; the first one's number, and how many.
    #[inline]
    fn admit_some(&self, mut some: impl FnMut(u64) -> u64) -> Option<(u64, u64)> {
        let Producers { admitted, limit } = &*self.producers;
        let mut number = admitted.load(Ordering::Acquire);
        loop {
            let mut room = limit.load(Ordering::Relaxed).saturating_sub(number);
            if room == 0 {
                room = self.look().saturating_sub(number);
            }
            let count = if room == 0 { return None } else { some(room) };
            match admitted.compare_exchange_weak(number, number + count, Ordering::SeqCst, Ordering::Acquire)
            {
                Ok(_) => return Some((number, count)),
                Err(other) => number = other,
            }
        }
    }

    /// The limit, as it is now.
    #[cold]
    fn look(&self) -> u64 {
        let finished = self.finished();
        let let_in = self.let_in.load(Ordering::SeqCst);
        let used = self.admitted_by_workers() + self.deferred.load(Ordering::SeqCst);
        let limit = (self.capacity + finished + let_in).saturating_sub(used);
        self.producers.limit.store(limit, Ordering::Relaxed);
        limit
    }

    /// Admits an event that a handler dispatches on `worker`, or on a worker of another dispatcher: beyond the capacity
    /// too. `None` if that is beyond what follow-ups may take.
    #[inline]
    pub(crate) fn admit_follow_up(&self, worker: Option<usize>) -> Option<u64> {
        if !self.has_room_for_follow_up() {
            return None;
        }
        Some(match worker {
            Some(worker) => {
                let number = add(&self.workers[worker].admitted, 1);
                // Producers are to look before they admit another.
                if self.producers.limit.load(Ordering::Relaxed) != 0 {
                    self.producers.limit.store(0, Ordering::SeqCst);
                }
                number
            }
            None => self.admit_anyway(),
        })
    }

    /// Admits something whether there is room or not.
    pub(crate) fn admit_anyway(&self) -> u64 {
        self.producers.admitted.fetch_add(1, Ordering::SeqCst)
    }

    /// Admits an event that was deferred, on `worker` if the thread is one; its number.
    pub(crate) fn admit_deferred(&self, worker: Option<usize>) -> u64 {
        let number = match worker {
            Some(worker) => add(&self.workers[worker].admitted, 1),
            None => self.admit_anyway(),
        };
        self.let_in.fetch_add(1, Ordering::SeqCst);
        number
    }

    /// An event waits behind a sequential one, or is one.
    pub(crate) fn defer(&self) {
        self.deferred.fetch_add(1, Ordering::SeqCst);
        // Producers are to look before they admit another.
        self.producers.limit.store(0, Ordering::SeqCst);
    }

    /// So many deferred events have ended or are gone.
    pub(crate) fn end_deferred(&self, count: u64) {
        self.let_in.fetch_add(count, Ordering::SeqCst);
    }

    /// What `worker` counts.
    pub(crate) fn of_worker(&self, worker: usize) -> &Flow {
        &self.workers[worker]
    }

    /// The worker that counts in `flow` has finished so many; whether it is time to look who waits for room.
    #[inline]
    pub(crate) fn finish(&self, flow: &Flow, count: u64) -> bool {
        let before = add(&flow.finished, count);
        (before ^ (before + count)) >= self.often
    }

    /// The worker that counts in `flow` gives back room that was lent for so many.
    #[inline]
    pub(crate) fn give_back(&self, flow: &Flow, unused: u32) {
        add(&flow.unused, unused.into());
    }

    /// Somebody else has finished so many, or takes back their admission.
    pub(crate) fn finish_elsewhere(&self, count: u64) {
        self.elsewhere.fetch_add(count, Ordering::SeqCst);
    }

    /// What `worker` has finished so far.
    pub(crate) fn finished_by(&self, worker: usize) -> u64 {
        self.workers[worker].finished.load(Ordering::Relaxed)
    }

    fn finished(&self) -> u64 {
        let unused: u64 = self.workers.iter().map(|flow| flow.unused.load(Ordering::SeqCst)).sum();
        self.finished_by_workers() + unused + self.elsewhere.load(Ordering::SeqCst)
    }

    /// Events that workers have finished.
    pub(crate) fn finished_by_workers(&self) -> u64 {
        self.workers.iter().map(|flow| flow.finished.load(Ordering::SeqCst)).sum()
    }

    fn admitted_by_workers(&self) -> u64 {
        self.workers.iter().map(|flow| flow.admitted.load(Ordering::SeqCst)).sum()
    }

    /// Events in strands, those that run among them. If this is 0, then all were empty at one time: what has finished is
    /// counted first, and counts only grow.
    pub(crate) fn in_strands(&self) -> u64 {
        let finished = self.finished();
        let admitted = self.producers.admitted.load(Ordering::SeqCst) + self.admitted_by_workers();
        admitted.saturating_sub(finished)
    }

    /// All events that are in. If this is 0, there was none at one time, as for those in strands.
    pub(crate) fn events(&self) -> u64 {
        let ended = self.let_in.load(Ordering::SeqCst) + self.finished();
        let admitted = self.producers.admitted.load(Ordering::SeqCst) + self.admitted_by_workers();
        (self.deferred.load(Ordering::SeqCst) + admitted).saturating_sub(ended)
    }

    /// Whether more are in than there is room for.
    pub(crate) fn is_overfull(&self) -> bool {
        self.events() > self.capacity
    }

    /// Whether there is room for one more.
    pub(crate) fn has_room(&self) -> bool {
        self.events() < self.capacity
    }

    /// Whether a handler may dispatch one more.
    pub(crate) fn has_room_for_follow_up(&self) -> bool {
        self.events() < self.capacity.saturating_add(self.follow_ups)
    }

    /// Whether a quarter of the capacity is free.
    pub(crate) fn has_much_room(&self) -> bool {
        self.events() <= self.capacity - self.capacity.div_ceil(4)
    }
}

/// Adds to a count that nobody else writes; what it was.
#[inline]
fn add(count: &AtomicU64, more: u64) -> u64 {
    let before = count.load(Ordering::Relaxed);
    count.store(before + more, Ordering::Release);
    before
}
