//! Lets a worker sleep until a descriptor is readable or another thread wakes it.

use core::time::Duration;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Why a thread could not wait, or a [`Bell`] could not be created.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot wait for frames: {0}; expected open descriptors, fewer than this process may have open")]
pub struct WaitError(Errno);

/// Sleeps until one of `descriptors` is readable or has failed, `timeout` has passed (`None`: no
/// timeout), or a signal has arrived. Returns how many are readable or failed (`ppoll`).
///
/// A failed device stays readable: call [`FrameDevice::check`](super::FrameDevice::check) when a wait
/// ended and nothing was received.
///
/// # Errors
/// If there are more descriptors than the kernel can wait on, or one of them is not open.
pub fn wait_readable(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<usize, WaitError> {
    let mut polled: Vec<_> =
        descriptors.iter().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)).collect();
    // A timeout too long for the kernel's type is treated as none.
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

/// Wakes a worker that [waits](wait_readable) (`eventfd`). Its descriptor is readable from the first
/// [`ring`](Self::ring) until [`silence`](Self::silence).
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// Creates a bell that does not ring.
    ///
    /// # Errors
    /// If this process has too many descriptors open.
    pub fn new() -> Result<Self, WaitError> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self).map_err(WaitError)
    }

    /// Wakes the worker, or keeps it from going to sleep.
    pub fn ring(&self) {
        // Fails only after some 2^64 rings, and the bell is readable then too.
        let _ = write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Stops the ringing. Returns whether the bell rang. Look for work after this call, not before;
    /// otherwise work that arrives in between waits for the next ring.
    pub fn silence(&self) -> bool {
        read(&self.0, &mut [0; 8]).is_ok()
    }

    /// The descriptor to wait on.
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
    fn a_bell_rung_by_another_thread_ends_a_wait_without_timeout() {
        let bell = Bell::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            assert_eq!(wait_readable(&[bell.descriptor()], Some(Duration::MAX)), Ok(1));
        });
    }
}
