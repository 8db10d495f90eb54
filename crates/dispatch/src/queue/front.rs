//! What the lock of a queue guards, and the lock.

use crate::sync::{CHECKED, Mutex, MutexGuard};
use crossbeam_utils::{Backoff, CachePadded};

/// The lock.
pub(super) struct FrontLock(CachePadded<Mutex<Front>>);

/// What the lock guards.
pub(super) struct Front {
    pub(super) head: u64,
    pub(super) fresh: u64,
    /// By slot, for positions in `head..fresh`.
    states: Box<[State]>,
    /// How many of them are not waiting.
    pub(super) taken: u64,
    pub(super) barren: Barren,
    /// Claims in hand.
    pub(super) claims: u32,
    /// Whether the barrier at the head knows that it is there.
    pub(super) at_barrier: bool,
}

/// What a search in vain has found: everything from `head` to before `end` touches `tag`.
#[derive(Clone, Copy, Default)]
pub(super) struct Barren {
    pub(super) tag: u32,
    pub(super) end: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Waiting,
    Claimed,
    Done,
}

impl FrontLock {
    /// Of a queue with so many slots, in which nothing is.
    pub(super) fn new(slots: usize) -> Self {
        let front = Front {
            head: 0,
            fresh: 0,
            states: vec![State::Done; slots].into(),
            taken: 0,
            barren: Barren::default(),
            claims: 0,
            at_barrier: false,
        };
        Self(CachePadded::new(Mutex::new(front)))
    }

    /// Takes the lock. Nobody has it for as long as it takes to wake a thread: whoever finds it taken looks
    /// again for a while, and gives way, before it sleeps.
    #[inline]
    pub(super) fn take(&self) -> MutexGuard<'_, Front> {
        if CHECKED {
            return crate::lock(&self.0);
        }
        self.try_take().unwrap_or_else(|| self.wait())
    }

    /// Takes the lock, if nobody has it.
    #[inline]
    pub(super) fn try_take(&self) -> Option<MutexGuard<'_, Front>> {
        crate::try_lock(&self.0)
    }

    #[cold]
    fn wait(&self) -> MutexGuard<'_, Front> {
        let backoff = Backoff::new();
        while !backoff.is_completed() {
            backoff.snooze();
            if let Some(front) = self.try_take() {
                return front;
            }
        }
        crate::lock(&self.0)
    }
}

impl Front {
    #[inline(always)]
    pub(super) fn state(&self, position: u64) -> State {
        self.states[self.slot(position)]
    }

    /// Comes to the next position, which is published.
    #[inline]
    pub(super) fn reach(&mut self) {
        let slot = self.slot(self.fresh);
        self.states[slot] = State::Waiting;
        self.fresh += 1;
    }

    /// Claims all positions from `start`, the first that nobody has come to, to before `end`: no more than there
    /// are slots.
    #[inline]
    pub(super) fn claim_all(&mut self, start: u64, end: u64) {
        let (first, length) = (self.slot(start), (end - start) as usize);
        let whole = length.min(self.states.len() - first);
        self.states[first..first + whole].fill(State::Claimed);
        self.states[..length - whole].fill(State::Claimed);
        self.taken += length as u64;
        self.fresh = end;
    }

    /// `position` is claimed or done from now on.
    #[inline(always)]
    pub(super) fn set(&mut self, position: u64, state: State) {
        let slot = self.slot(position);
        self.taken += u64::from(self.states[slot] == State::Waiting);
        self.states[slot] = state;
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> usize {
        position as usize & (self.states.len() - 1)
    }
}
