//! One dispatch queue: events in the order in which they came, and which of them may run now.
//!
//! Workers **claim** events under the queue's lock, run them without it, and **release** the claim
//! under the lock again. An event may be claimed if nothing before it in the queue that has not
//! finished touches the same partition, other than what the same claim has taken before it: a
//! worker runs a claim in order. This is the associative search of the parallel dispatch queue
//! (Falsafi 1998, §2.3.2), bounded by a window; while one worker alone is at the queue, there is
//! nothing to search, and it takes what is at the head.
//!
//! ```text
//!  state:   done claimed waiting claimed │ waiting waiting ...
//!           ▲                            ▲
//!           head: freed before it        fresh: nothing claimed from here on
//! ```
//!
//! Invariants, under the lock: `head <= fresh <= tail`; positions in `head..fresh` are published and
//! have a state, from `fresh` on all are waiting; a position is claimed from its claim to its
//! release, and then done; `head` passes done positions only.

use crate::joint::{Barrier, KeySet};
use crate::label::{ALL, Label, MUCH, NOTHING, Seen};
use crate::ring::{Ring, Run};
use crate::sync::{Arc, AtomicU32, MutexGuard, Ordering, spin_loop};
use front::{Front, FrontLock, State};

mod front;
mod run;
mod search;

/// See the module's documentation.
pub(crate) struct Queue<K, E> {
    ring: Ring<K, E>,
    front: FrontLock,
    rule: QueueRule,
    /// What the claims now in hand touch: [`NOTHING`], [`MUCH`], or one tag; [`ALL`], if there are none and
    /// none can be made before the event at the head, which runs alone, has finished.
    touched: AtomicU32,
}

/// How a queue is searched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueRule {
    /// Its own number.
    pub(crate) index: usize,
    /// Positions that are searched at most.
    pub(crate) window: u64,
    /// Whether several workers may have claims at once.
    pub(crate) shared: bool,
    /// Whether keys are told apart by themselves; by their tags alone, if not.
    pub(crate) exact: bool,
}

/// Positions that a worker has claimed, in order: either all from one to another, or some that a
/// search has found. It is reused from claim to claim.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// Where they begin, if they are all that follow.
    start: u64,
    /// How many there are.
    length: usize,
    /// Whether they are, and each has a key and stands in its place itself.
    keyed: bool,
    /// Which they are, if they are not all that follow.
    found: Vec<u64>,
    /// In which order they run, if it is not that of the queue.
    order: Vec<u64>,
    /// The next of them to run.
    next: usize,
    /// Where a search has found what may not run now.
    blocked: Vec<u64>,
}

/// What a worker finds at a queue.
#[derive(Debug)]
pub(crate) struct Found<K, E> {
    /// An event that stands in several queues and can run now. The claim may have others.
    pub(crate) joint: Option<Joint<K, E>>,
    /// Whether more is there that somebody might run.
    pub(crate) more: bool,
    /// Where the next event will stand, if nothing more is there: what comes later was not seen.
    pub(crate) tail: u64,
    /// Events that must wait for others.
    pub(crate) conflicts: u32,
    /// Those of them that would not if all keys could be told apart.
    pub(crate) false_conflicts: u32,
}

/// An event that stands in several queues.
#[derive(Debug)]
pub(crate) enum Joint<K, E> {
    /// It touches several partitions.
    Keys(Arc<KeySet<K, E>>),
    /// It runs alone, and nothing else does.
    Alone(Arc<Barrier<E>>),
}

impl Claim {
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether all have a key, and stand in their places themselves, one after the other.
    pub(crate) const fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The position that is the `index`-th of them.
    #[inline(always)]
    fn position(&self, index: usize) -> u64 {
        if self.found.is_empty() { self.start + index as u64 } else { self.found[index] }
    }
}

impl<K: Eq, E> Queue<K, E> {
    /// With room for `capacity` events, a power of two.
    pub(crate) fn new(capacity: usize, rule: QueueRule) -> Self {
        Self {
            ring: Ring::new(capacity),
            front: FrontLock::new(capacity),
            rule,
            touched: AtomicU32::new(NOTHING),
        }
    }

    /// What producers put in, and all may look at.
    #[inline]
    pub(crate) const fn ring(&self) -> &Ring<K, E> {
        &self.ring
    }

    /// What the claims now in hand touch, or an event that runs alone: [`NOTHING`], [`MUCH`], [`ALL`], or one
    /// tag. Soon out of date.
    #[inline]
    pub(crate) fn touched(&self) -> u32 {
        self.touched.load(Ordering::Relaxed)
    }

    /// Releases `claim`, all of which has run, and claims up to `limit` further events with it. What is
    /// found is `noted` before anybody else may look.
    #[inline]
    pub(crate) fn turn(
        &self,
        claim: &mut Claim,
        limit: usize,
        noted: impl FnOnce(&Found<K, E>),
    ) -> Found<K, E> {
        let mut front = self.front.take();
        self.give_up(&mut front, claim);
        let found = self.claim(&mut front, claim, limit);
        // Not before: a queue that is attended is not to look free in between.
        self.touch_if_unclaimed(&front);
        noted(&found);
        found
    }

    /// Claims up to `limit` events with `claim`, which is empty, likewise; `None` if somebody else is
    /// just looking at this queue, or has claims of a queue that is not shared.
    pub(crate) fn try_claim(
        &self,
        claim: &mut Claim,
        limit: usize,
        noted: impl FnOnce(&Found<K, E>),
    ) -> Option<Found<K, E>> {
        debug_assert!(claim.is_empty());
        let mut front = self.front.try_take()?;
        if front.claims > 0 && !self.rule.shared {
            return None;
        }
        let found = self.claim(&mut front, claim, limit);
        self.touch_if_unclaimed(&front);
        noted(&found);
        Some(found)
    }

    /// Releases `claim`, all of which has run; whether something waits here.
    pub(crate) fn release(&self, claim: &mut Claim) -> bool {
        let mut front = self.front.take();
        self.give_up(&mut front, claim);
        self.touch_if_unclaimed(&front);
        front.head < self.ring.tail()
    }

    /// What stood at `position` and in other queues has run.
    pub(crate) fn finish_joint(&self, position: u64) {
        let mut front = self.front.take();
        front.set(position, State::Done);
        self.advance(&mut front);
    }

    /// The event that runs alone, and stands at the head of every queue, has run.
    pub(crate) fn finish_alone(&self) {
        let mut front = self.front.take();
        let head = front.head;
        debug_assert!(front.at_barrier && head < front.fresh);
        front.at_barrier = false;
        front.set(head, State::Done);
        self.advance(&mut front);
        self.touch_if_unclaimed(&front);
    }

    /// Whoever looks at the queue from now on sees what was done before; and somebody is to look, as what is
    /// at the head may be withdrawn.
    pub(crate) fn pass(&self) {
        let front = self.front.take();
        if front.claims == 0 {
            self.touched.store(NOTHING, Ordering::Relaxed);
        }
    }

    /// Takes out everything that waits, and hands it over; what runs goes on. For a queue that is
    /// closed.
    pub(crate) fn clear(&self, mut discard: impl FnMut(Seen<'_, K, E>, Option<E>)) {
        let mut front = self.front.take();
        while front.fresh < self.ring.tail() {
            // What is reserved is published in a moment.
            if !self.ring.is_published(front.fresh) {
                spin_loop();
                continue;
            }
            front.reach();
        }
        for position in front.head..front.fresh {
            if front.state(position) == State::Waiting {
                // SAFETY: it waits: nobody has taken it, and nobody will, as it is done now.
                let label = unsafe { self.ring.label(position) };
                // SAFETY: as above.
                let event = label.is_plain().then(|| unsafe { self.ring.take(position) });
                discard(label, event);
                front.set(position, State::Done);
            }
        }
        front.at_barrier = false;
        self.advance(&mut front);
    }

    fn give_up(&self, front: &mut MutexGuard<'_, Front>, claim: &mut Claim) {
        debug_assert_eq!(claim.next, claim.length);
        if claim.is_empty() {
            return;
        }
        front.claims -= 1;
        let end = claim.start + claim.length as u64;
        if claim.found.is_empty() && front.head == claim.start && Label::<K, E>::is_plain_trivial() {
            // All of it is at the head: it need not be marked, nor its labels dropped.
            front.head = end;
            front.taken -= claim.length as u64;
            // SAFETY: all events before it are taken, and their labels are nothing to be dropped.
            unsafe { self.ring.free_to(end) };
        } else {
            (0..claim.length).for_each(|index| front.set(claim.position(index), State::Done));
        }
        claim.found.clear();
        claim.order.clear();
        (claim.length, claim.next, claim.keyed) = (0, 0, false);
        self.advance(front);
    }

    /// Says what is touched where no claim is in hand.
    fn touch_if_unclaimed(&self, front: &Front) {
        if front.claims == 0 {
            self.touched.store(if front.at_barrier { ALL } else { NOTHING }, Ordering::Relaxed);
        }
    }

    /// Frees what is done at the head.
    #[inline]
    fn advance(&self, front: &mut Front) {
        if front.head == front.fresh || front.state(front.head) != State::Done {
            return;
        }
        let before = front.head;
        while front.head < front.fresh && front.state(front.head) == State::Done {
            // SAFETY: it is done: its event is taken, and nobody uses its label, as that takes the
            // lock or a claim.
            unsafe { self.ring.drop_label(front.head) };
            front.head += 1;
            front.taken -= 1;
        }
        if front.head > before {
            // SAFETY: just dropped.
            unsafe { self.ring.free_to(front.head) };
        }
    }

    #[inline]
    fn claim(&self, front: &mut Front, claim: &mut Claim, limit: usize) -> Found<K, E> {
        if front.taken == 0 {
            // What others have looked at and left is as if nobody had.
            front.fresh = front.head;
        }
        let found = if front.head == front.fresh && self.claim_run(front, claim, limit) {
            let (more, tail) = self.beyond(front.fresh);
            Found { joint: None, more, tail, conflicts: 0, false_conflicts: 0 }
        } else {
            self.search(front, claim, limit)
        };
        if !claim.is_empty() {
            front.claims += 1;
            if front.claims > 1 || !claim.found.is_empty() {
                self.touched.store(MUCH, Ordering::Relaxed);
            }
        }
        found
    }

    /// Whether there is more from `fresh` on, and where the next event will stand, if not. Producers
    /// write the tail with every event: it is looked at only if there seems to be nothing.
    #[inline]
    fn beyond(&self, fresh: u64) -> (bool, u64) {
        if self.ring.is_published(fresh) {
            return (true, fresh + 1);
        }
        let tail = self.ring.tail();
        (fresh < tail, tail)
    }

    /// Claims what is next in line, as nothing is claimed and nothing was passed over; false if
    /// what is next stands elsewhere too.
    #[inline]
    fn claim_run(&self, front: &mut Front, claim: &mut Claim, limit: usize) -> bool {
        let start = front.fresh;
        let Run { length, touched, keyed } = self.ring.single(start, limit);
        if length == 0 {
            return !self.ring.is_published(start);
        }
        front.claim_all(start, start + length as u64);
        (claim.start, claim.length, claim.keyed) = (start, length, keyed);
        self.touched.store(touched, Ordering::Relaxed);
        true
    }
}

impl<K, E> Drop for Queue<K, E> {
    fn drop(&mut self) {
        // Nobody has a claim any more: what is in is waiting, or done and not freed.
        let (head, fresh, tail) = {
            let front = self.front.take();
            (front.head, front.fresh, self.ring.tail())
        };
        for position in head..tail {
            let waiting = position >= fresh || self.front.take().state(position) == State::Waiting;
            // SAFETY: all producers are gone, so that all that is reserved is published; what is not
            // waiting has been taken.
            unsafe {
                if waiting && self.ring.label(position).is_plain() {
                    drop(self.ring.take(position));
                }
                self.ring.drop_label(position);
            }
        }
    }
}
