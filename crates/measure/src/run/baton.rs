//! Synchronises the threads of a run with one baton: only its holder acts.
//!
//! A run is a script of numbered phases. Every thread knows which phases are its own, waits for them,
//! acts, and passes the baton on. The state that the threads hand to one another (packet buffers,
//! protocol threads' stacks) is inside the baton, so that it cannot be reached without holding it.
//!
//! Waiting spins, because a sleep would cost a system call, and the kernel's cache lines with it, right
//! before a packet is timed. The wait ends early if a partner failed, if the user stopped the
//! calibration, or after [`TIMEOUT`], so no thread hangs.

use crate::error::RunError;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use std::time::{Duration, Instant};

/// How long a thread waits for its partner: far longer than any phase lasts.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Checks of the baton between two checks of the flags and the clock.
const SPINS_PER_CHECK: u32 = 2048;

/// The flags that end a run early.
#[derive(Debug)]
pub(crate) struct Alarm<'a> {
    stop: &'a AtomicBool,
    failed: CachePadded<AtomicBool>,
}

impl<'a> Alarm<'a> {
    /// An alarm that is raised when `stop` is set.
    pub(crate) fn new(stop: &'a AtomicBool) -> Self {
        Self { stop, failed: CachePadded::new(AtomicBool::new(false)) }
    }

    /// Tells every thread of the run that one of them cannot go on.
    pub(crate) fn raise(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// If the user stopped the calibration, or a thread of this run has failed.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if self.failed.load(Ordering::Relaxed) {
            return Err(RunError::PartnerFailed);
        }
        Ok(())
    }
}

/// Raises the alarm when dropped, unless its thread finished without an error.
pub(crate) struct RaiseUnlessDone<'a, 'b> {
    alarm: &'a Alarm<'b>,
    done: bool,
}

impl<'a, 'b> RaiseUnlessDone<'a, 'b> {
    pub(crate) const fn new(alarm: &'a Alarm<'b>) -> Self {
        Self { alarm, done: false }
    }

    pub(crate) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for RaiseUnlessDone<'_, '_> {
    fn drop(&mut self) {
        if !self.done {
            self.alarm.raise();
        }
    }
}

/// The baton of a run, with the state `T` that is passed between threads.
#[derive(Debug)]
pub(crate) struct Baton<T> {
    /// The current phase. Waiting threads spin on this line.
    phase: CachePadded<AtomicU64>,
    /// Whether a thread holds the baton.
    held: CachePadded<AtomicBool>,
    state: UnsafeCell<T>,
}

// SAFETY: the state is reached only through `BatonGuard`, of which there is at most one at a time
// (`held` ensures that whatever phases the callers wait for), and one holder's writes are visible
// to the next (`held` is released and acquired). So sharing a baton moves its state between
// threads, never shares it.
unsafe impl<T: Send> Sync for Baton<T> {}

impl<T> Baton<T> {
    /// A baton in phase 0, held by nobody.
    pub(crate) fn new(state: T) -> Self {
        Self {
            phase: CachePadded::new(AtomicU64::new(0)),
            held: CachePadded::new(AtomicBool::new(false)),
            state: UnsafeCell::new(state),
        }
    }

    /// Waits for `phase` and takes the baton.
    ///
    /// # Errors
    /// If the alarm went off, or the phase did not come within [`TIMEOUT`].
    #[inline]
    pub(crate) fn take(&self, phase: u64, alarm: &Alarm<'_>) -> Result<BatonGuard<'_, T>, RunError> {
        while self.phase.load(Ordering::Acquire) != phase {
            self.wait(phase, alarm)?;
        }
        if self.held.swap(true, Ordering::Acquire) {
            return Err(RunError::OutOfTurn { phase });
        }
        Ok(BatonGuard { baton: self })
    }

    /// Whether `phase` has come, for a thread that does something else than [wait](Self::take).
    #[inline]
    pub(crate) fn has_come(&self, phase: u64) -> bool {
        self.phase.load(Ordering::Acquire) >= phase
    }

    /// Spins until `phase` is current or the wait must end.
    #[inline]
    fn wait(&self, phase: u64, alarm: &Alarm<'_>) -> Result<(), RunError> {
        let mut since = None;
        loop {
            for _ in 0..SPINS_PER_CHECK {
                if self.phase.load(Ordering::Acquire) == phase {
                    return Ok(());
                }
                core::hint::spin_loop();
            }
            alarm.check()?;
            if since.get_or_insert_with(Instant::now).elapsed() > TIMEOUT {
                return Err(RunError::PartnerLost { phase, waited: TIMEOUT });
            }
        }
    }

    /// The state after the run.
    #[cfg(test)]
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner()
    }
}

/// Exclusive access to the baton.
#[must_use = "dropping it does not end the phase"]
pub(crate) struct BatonGuard<'a, T> {
    baton: &'a Baton<T>,
}

impl<T> BatonGuard<'_, T> {
    /// Ends the phase and starts the next one.
    #[inline]
    pub(crate) fn pass(self) {
        let baton = self.baton;
        let next = baton.phase.load(Ordering::Relaxed) + 1;
        drop(self);
        baton.phase.store(next, Ordering::Release);
    }
}

impl<T> Deref for BatonGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one `BatonGuard` at a time, so nobody else has a reference to the state.
        unsafe { &*self.baton.state.get() }
    }
}

impl<T> DerefMut for BatonGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: there is one `BatonGuard` at a time, and it is borrowed exclusively.
        unsafe { &mut *self.baton.state.get() }
    }
}

impl<T> Drop for BatonGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.baton.held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Two threads take turns; the log shows who acted in which phase.
    #[test]
    fn phases_run_in_order_each_on_its_thread() {
        const PHASES: u64 = 2_000;
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let baton = Baton::new(Vec::new());
        let act = |me: u64| {
            for phase in (0..PHASES).filter(|phase| phase % 2 == me) {
                let mut log = baton.take(phase, &alarm).unwrap();
                log.push((phase, me));
                log.pass();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| act(0));
            scope.spawn(|| act(1));
        });
        let expected: Vec<_> = (0..PHASES).map(|phase| (phase, phase % 2)).collect();
        assert_eq!(baton.into_inner(), expected);
    }

    #[test]
    fn a_thread_whose_partner_fails_stops_waiting() {
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let baton = Baton::new(());
        let outcome = thread::scope(|scope| {
            let waiting = scope.spawn(|| baton.take(1, &alarm).map(drop));
            scope.spawn(|| drop(RaiseUnlessDone::new(&alarm)));
            waiting.join().unwrap()
        });
        assert!(matches!(outcome, Err(RunError::PartnerFailed)));
    }

    #[test]
    fn a_stopped_calibration_ends_the_wait() {
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let baton = Baton::new(());
        let outcome = thread::scope(|scope| {
            let waiting = scope.spawn(|| baton.take(1, &alarm).map(drop));
            stop.store(true, Ordering::Relaxed);
            waiting.join().unwrap()
        });
        assert!(matches!(outcome, Err(RunError::Interrupted)));
    }

    #[test]
    fn a_held_baton_cannot_be_taken_again() {
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let baton = Baton::new(());
        let held = baton.take(0, &alarm).unwrap();
        assert!(matches!(baton.take(0, &alarm), Err(RunError::OutOfTurn { phase: 0 })));
        drop(held);
        assert!(baton.take(0, &alarm).is_ok(), "the phase has not ended");
    }
}
