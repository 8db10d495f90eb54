//! Shuttle's threads.
//!
//! Whoever is in a scope must not wait for anything but its end: when the last thread of the scope ends,
//! shuttle 0.9.9 wakes them whatever they wait for.
//!
//! Shuttle knows no time. Its clock counts steps. A nap lasts until others have had a turn; or, if naps do
//! not end, until the sleeper is woken, so that a wake-up that is lost shows as a deadlock.

pub(crate) use shuttle::hint::spin_loop;
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::thread::{JoinHandle, Scope, Thread, current, park, scope, yield_now};
pub(crate) use shuttle::thread_local;

use core::cell::Cell;
use core::time::Duration;
use shuttle::thread;
use std::io;

/// What a step takes, in nanoseconds.
const STEP_NS: u64 = 20;

std::thread_local! {
    // All threads of an execution are one of the system's.
    static NAPS_END: Cell<bool> = const { Cell::new(true) };
}

/// Whether naps end by themselves in the execution that begins.
#[cfg(test)]
pub(crate) fn let_naps_end(end: bool) {
    NAPS_END.set(end);
}

/// Parks until it is woken, or for a while.
pub(crate) fn park_timeout(_longest: Duration) {
    if NAPS_END.get() {
        thread::yield_now();
    } else {
        park();
    }
}

/// Starts a thread that is called `name`.
pub(crate) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name).spawn(run)
}

/// The same of one that ends with `scope`; shuttle has no names for those.
pub(crate) fn spawn_scoped<'scope>(
    scope: &'scope Scope<'scope, '_>,
    _name: String,
    run: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    scope.spawn(run);
    Ok(())
}

/// A clock of steps: a schedule that is repeated finds the same times.
#[derive(Clone, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) const fn new() -> Self {
        Self
    }

    #[allow(clippy::unused_self)]
    pub(crate) fn raw(&self) -> u64 {
        shuttle::current::context_switches() as u64
    }

    #[allow(clippy::unused_self)]
    pub(crate) const fn delta_as_nanos(&self, began: u64, ended: u64) -> u64 {
        ended.saturating_sub(began) * STEP_NS
    }
}
