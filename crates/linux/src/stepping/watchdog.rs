//! Ends a traced program when its time is up or somebody asks for it, while its tracer waits for it.

use super::error::SteppingError;
use libc::pid_t;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two looks whether it is to stop.
const PAUSE: Duration = Duration::from_millis(20);

/// Kills a process after a time or when it is to stop, unless it is dropped before.
#[derive(Debug)]
pub(super) struct Watchdog {
    fired: Arc<AtomicBool>,
    cancel: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub(super) fn start(
        process: pid_t,
        limit: Duration,
        stop: Option<&'static AtomicBool>,
    ) -> Result<Self, SteppingError> {
        // It stands for this very process, even if its number is given to another.
        let handle = Pid::from_raw(process).ok_or(rustix::io::Errno::SRCH);
        let handle = handle.and_then(|process| pidfd_open(process, PidfdFlags::empty()));
        let handle =
            handle.map_err(|error| SteppingError::System { call: "pidfd_open", source: error.into() })?;
        let (cancel, cancelled) = channel();
        let fired = Arc::new(AtomicBool::new(false));
        let firing = Arc::clone(&fired);
        let thread = thread::spawn(move || {
            if is_over(&cancelled, limit, stop) {
                firing.store(true, Ordering::SeqCst);
                // Fails only if it has ended, which is what we want.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
            }
        });
        Ok(Self { fired, cancel: Some(cancel), thread: Some(thread) })
    }

    /// Whether it has killed the process.
    pub(super) fn fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }
}

/// Waits until the time is up or `stop` is set; false if the watchdog was dropped before.
fn is_over(cancelled: &Receiver<()>, limit: Duration, stop: Option<&AtomicBool>) -> bool {
    let since = Instant::now();
    loop {
        let left = limit.saturating_sub(since.elapsed());
        let pause = if stop.is_some() { left.min(PAUSE) } else { left };
        if cancelled.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return false;
        }
        if pause == left || stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) {
            return true;
        }
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
