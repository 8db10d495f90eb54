//! Which states are dropped by rule: those unused for long, and those that are too many.
//!
//! Time goes in **epochs**, each a quarter of the idle time or longer, and a use notes its epoch. A state whose last use
//! was in epoch `e` has been unused since epoch `e + 1` began: when four more have passed, that is the idle time at least.
//! The clock is read by one use of a state in 32, and where states are made.

use crate::sync::{AtomicU64, Clock, Ordering};
use core::time::Duration;

/// Epochs in the idle time.
const EPOCHS: u64 = 4;

/// What was chosen.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Limits {
    /// How long an epoch lasts at least, in nanoseconds.
    pub(super) epoch: Option<u64>,
    pub(super) most: Option<u64>,
}

impl Limits {
    /// States are dropped that were unused for so long.
    pub(super) fn idle(self, time: Duration) -> Self {
        let epoch = time.as_nanos().div_ceil(EPOCHS.into());
        Self { epoch: Some(epoch.try_into().unwrap_or(u64::MAX)), ..self }
    }

    /// Whether states are dropped by rule at all.
    pub(super) const fn any(&self) -> bool {
        self.epoch.is_some() || self.most.is_some()
    }
}

/// Time, in parts of the idle time.
#[derive(Default)]
pub(super) struct Epochs {
    now: AtomicU64,
    /// When this epoch began, by the processor's clock.
    began: AtomicU64,
}

impl Epochs {
    /// The epoch, as far as somebody has looked at the clock.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Looks at the clock, and begins the next epoch if this one has lasted `longest` nanoseconds.
    pub(super) fn look(&self, clock: &Clock, longest: u64) {
        let (now, began) = (clock.raw(), self.began.load(Ordering::Relaxed));
        if clock.delta_as_nanos(began.min(now), now) < longest {
            return;
        }
        // One of those who see that begins it; if this fails for another reason, the next one who looks does.
        let changed = self.began.compare_exchange_weak(began, now, Ordering::Relaxed, Ordering::Relaxed);
        if changed.is_ok() {
            self.now.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a state that was used last in epoch `used` has been idle.
    pub(super) fn is_idle(&self, used: u64) -> bool {
        used + EPOCHS < self.now()
    }
}

/// How many states there are.
#[derive(Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn subtract(&self, states: u64) {
        self.0.fetch_sub(states, Ordering::Relaxed);
    }

    /// Takes one off if there are more than `most`: whoever does so drops one.
    pub(super) fn subtract_if_above(&self, most: u64) -> bool {
        let mut count = self.get();
        while count > most {
            match self.0.compare_exchange_weak(count, count - 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => count = now,
            }
        }
        false
    }
}
