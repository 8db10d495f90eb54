//! In debug builds, a wait that lasts says so on standard error: who waits, for what, and what the workers do meanwhile.
//! First within a second, then whenever it has lasted twice as long.

use crate::sync::{CHECKED, JoinHandle};
use crate::trace::tell;
use crate::waits::Waits;
use core::cell::Cell;
use core::time::Duration;
use std::io::Write;
use std::time::Instant;

/// Whether anything is said. Checkers know no time.
pub(crate) const SAYS: bool = cfg!(debug_assertions) && !CHECKED && !cfg!(miri);

const FIRST: Duration = Duration::from_millis(900);

/// Between two looks whether a worker has ended.
#[cfg(all(debug_assertions, not(any(loom, shuttle, miri))))]
const LONGEST_NAP: Duration = Duration::from_millis(10);

/// A wait of this thread, which may last.
pub(crate) struct SlowWait<'a, W> {
    /// `None` where nothing is said.
    since: Option<Instant>,
    next: Cell<Duration>,
    waits: Option<&'a Waits>,
    what: W,
}

impl<'a, W: Fn() -> String> SlowWait<'a, W> {
    /// A wait that begins now, for `what`, which the workers of `waits` are to bring about, if it is known which.
    pub(crate) fn begin(waits: Option<&'a Waits>, what: W) -> Self {
        Self { since: SAYS.then(Instant::now), next: Cell::new(FIRST), waits, what }
    }

    /// When something is to be said next.
    pub(crate) fn left(&self) -> Duration {
        self.since.map_or(Duration::MAX, |since| self.next.get().saturating_sub(since.elapsed()))
    }

    /// Says that this thread waits, if it is time to, unless what it waits for `is_so`, which is given back.
    pub(crate) fn until(&self, is_so: bool) -> bool {
        if SAYS && !is_so && self.left().is_zero() {
            self.say();
        }
        is_so
    }

    /// Waits for the end of a worker.
    pub(crate) fn join(&self, thread: JoinHandle<()>) {
        #[cfg(all(debug_assertions, not(any(loom, shuttle, miri))))]
        {
            let mut nap = Duration::from_micros(10);
            while !self.until(thread.is_finished()) {
                std::thread::sleep(nap);
                nap = (2 * nap).min(LONGEST_NAP);
            }
        }
        // Handlers' panics are caught.
        let _ = thread.join();
    }

    #[cold]
    fn say(&self) {
        let Some(since) = self.since else { return };
        let (elapsed, thread) = (since.elapsed(), std::thread::current());
        self.next.set(2 * elapsed);
        let workers = self.waits.map(|waits| format!(": {}", waits.describe())).unwrap_or_default();
        let (name, what, seconds) =
            (thread.name().unwrap_or("unnamed"), (self.what)(), elapsed.as_secs_f64());
        tell!(WARN, "thread `{name}` has waited {seconds:.1} s for {what}{workers}");
        // It may be closed, or full.
        let _ = writeln!(
            std::io::stderr(),
            "warmcore-dispatch: thread `{name}` has waited {seconds:.1} s for {what}{workers}"
        );
    }
}
