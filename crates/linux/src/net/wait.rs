//! Sleeping until there is something to do.

use core::time::Duration;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Why a thread could not sleep, or a [`Bell`] not be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot wait for frames: {0}; expected open descriptors, fewer than this process may have open")]
pub struct WaitError(Errno);

/// Sleeps until one of `descriptors` is readable or has failed, or `timeout` has passed (`None`:
/// for as long as it takes), or a signal came; how many are readable or failed (`ppoll`).
///
/// A failed device counts as readable for good: look with
/// [`FrameDevice::check`](super::FrameDevice::check) when a wait ended and nothing was received.
///
/// # Errors
/// If the kernel cannot wait on so many, or one of them is not open.
pub fn wait_readable(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<usize, WaitError> {
    let mut polled: Vec<_> =
        descriptors.iter().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)).collect();
    // What the kernel's clock cannot hold is longer than anybody waits.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) if polled.iter().any(|polled| polled.revents().contains(PollFlags::NVAL)) => {
            Err(WaitError(Errno::BADF))
        }
        Ok(ready) => Ok(ready),
        Err(Errno::INTR) => Ok(0),
        Err(error) => Err(WaitError(error)),
    }
}

/// Wakes a worker that [waits](wait_readable): its descriptor is readable from the first
/// [`ring`](Self::ring) until it is [`silenced`](Self::silence) (`eventfd`).
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A silent bell.
    ///
    /// # Errors
    /// If this process has too many descriptors open.
    pub fn new() -> Result<Self, WaitError> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self).map_err(WaitError)
    }

    /// Wakes the worker, or keeps it from going to sleep.
    pub fn ring(&self) {
        // Refused only when it has been rung some 2^64 times, and is readable then too.
        let _ = write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Ends the ringing; whether it rang. Look for work after this, not before, or what came in
    /// between waits for the next ring.
    pub fn silence(&self) -> bool {
        read(&self.0, &mut [0; 8]).is_ok()
    }

    /// What to wait on.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_wakes_until_silenced() {
        let (bell, other) = (Bell::new().unwrap(), Bell::new().unwrap());
        let both = [other.descriptor(), bell.descriptor()];
        assert_eq!(wait_readable(&both, Some(Duration::ZERO)), Ok(0));
        bell.ring();
        bell.ring();
        assert_eq!(wait_readable(&both, None), Ok(1));
        assert!(bell.silence());
        assert!(!bell.silence());
        assert_eq!(wait_readable(&both, Some(Duration::from_millis(1))), Ok(0));
    }

    #[test]
    fn a_bell_rung_elsewhere_ends_an_endless_wait() {
        let bell = Bell::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            assert_eq!(wait_readable(&[bell.descriptor()], Some(Duration::MAX)), Ok(1));
        });
    }
}
