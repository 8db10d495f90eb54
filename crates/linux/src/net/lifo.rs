//! Waiting for one descriptor by several threads, of which the last to come is woken first.

use super::Bell;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// Where threads wait so that the last to come is woken first: an epoll instance with the descriptor.
#[derive(Debug)]
pub struct LifoQueue {
    epoll: OwnedFd,
    /// Threads that wait, or are about to.
    waiting: AtomicUsize,
    /// Readable once it is closed.
    bell: Bell,
}

/// Each arrival wakes one waiter (edge-triggered). Without it the kernel would wake another one for every waiter that
/// goes to receive.
const ARRIVALS: epoll::EventFlags = epoll::EventFlags::IN.union(epoll::EventFlags::ET);

impl LifoQueue {
    /// A queue of those who wait for `source`.
    ///
    /// # Errors
    /// If this process has too many descriptors open.
    pub fn new(source: impl AsFd) -> Result<Self, Errno> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = Bell::new().map_err(|_| Errno::MFILE)?;
        epoll::add(&epoll, source, epoll::EventData::new_u64(0), ARRIVALS)?;
        // Level-triggered, so that it wakes everyone.
        epoll::add(&epoll, bell.descriptor(), epoll::EventData::new_u64(1), epoll::EventFlags::IN)?;
        Ok(Self { epoll, waiting: AtomicUsize::new(0), bell })
    }

    /// Calls `receive`, which says `None` if `source` has nothing; unless `is_closed`, waits then for an arrival, for up to
    /// `timeout`, and calls it once more.
    ///
    /// # Errors
    /// If the kernel cannot wait.
    pub fn receive<R>(
        &self,
        source: impl AsFd,
        timeout: Option<Duration>,
        is_closed: impl FnOnce() -> bool,
        mut receive: impl FnMut() -> Option<R>,
    ) -> Result<Option<R>, Errno> {
        // Announced before looking: who receives after that, and leaves something queued, passes it on.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut received = receive();
        let mut waited = Ok(());
        if received.is_none() && !is_closed() {
            waited = self.wait(timeout);
            received = receive();
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        if received.is_some() {
            self.pass_on(source);
        }
        match waited {
            Ok(()) | Err(Errno::INTR) => Ok(received),
            Err(error) => Err(error),
        }
    }

    /// Wakes all who wait, now and later.
    pub fn close(&self) {
        self.bell.ring();
    }

    /// Waits for an arrival.
    fn wait(&self, timeout: Option<Duration>) -> Result<(), Errno> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut event =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
        epoll::wait(&self.epoll, &mut event[..], timeout.as_ref()).map(drop)
    }

    /// Wakes another waiter if the source is still readable: two arrivals before a waiter looks are one event.
    fn pass_on(&self, source: impl AsFd) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Modifying the entry makes the kernel look anew. It cannot fail: the entry is there.
            let _ = epoll::modify(&self.epoll, source, epoll::EventData::new_u64(0), ARRIVALS);
        }
    }
}
