//! Who watches those that may hang: a test that does not end does not fail.

use core::convert::Infallible;
use core::time::Duration;
use std::io::{Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};

/// Far longer than a plan takes, on a busy machine too.
const LONGEST: Duration = Duration::from_secs(300);

/// Aborts the process if it is not dropped for long, and tells how a failure is repeated.
pub(super) struct Watchdog {
    /// `None` when it is over.
    alive: Option<Sender<Infallible>>,
    watch: Option<JoinHandle<()>>,
    again: String,
}

impl Watchdog {
    /// What hangs or fails is repeated by the command line `again`.
    pub(super) fn begin(again: String) -> Self {
        let (alive, ended) = channel();
        let line = again.clone();
        let watch = thread::spawn(move || {
            // Nothing is ever sent: it is over when the sender is gone.
            if ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                // Not `eprintln`: what the test has printed is not shown any more.
                let _ = writeln!(stderr(), "aborted, as it has not ended after {LONGEST:?}; again: {line}");
                std::process::abort();
            }
        });
        Self { alive: Some(alive), watch: Some(watch), again }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(watch) = self.watch.take() {
            watch.join().expect("it only waits");
        }
        if thread::panicking() {
            eprintln!("again: {}", self.again);
        }
    }
}
