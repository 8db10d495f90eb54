//! Ends a traced program when its time is up, while its tracer waits for it.

use super::error::SteppingError;
use libc::pid_t;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Kills a process after a time, unless it is dropped before.
#[derive(Debug)]
pub(super) struct Watchdog {
    fired: Arc<AtomicBool>,
    cancel: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub(super) fn start(process: pid_t, limit: Duration) -> Result<Self, SteppingError> {
        // It stands for this very process, even if its number is given to another.
        let handle = Pid::from_raw(process).ok_or(rustix::io::Errno::SRCH);
        let handle = handle.and_then(|process| pidfd_open(process, PidfdFlags::empty()));
        let handle =
            handle.map_err(|error| SteppingError::System { call: "pidfd_open", source: error.into() })?;
        let (cancel, cancelled) = channel();
        let fired = Arc::new(AtomicBool::new(false));
        let firing = Arc::clone(&fired);
        let thread = thread::spawn(move || {
            if cancelled.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                firing.store(true, Ordering::SeqCst);
                // Fails only if it has ended, which is what we want.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        });
        Ok(Self { fired, cancel: Some(cancel), thread: Some(thread) })
    }

    /// Whether the time was up.
    pub(super) fn fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.cancel.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
