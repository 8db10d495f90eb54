//! Counts the frames received from a driver, so that the totals of a run can be checked against it:
//! every frame received is delivered, refused, dropped, failed or given up.

use super::{Driver, DriverError, Due, Incoming, Opened, Queue, QueueError, QueueRequest};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_units::Nanos;

/// A driver that counts the frames of another driver.
pub struct CountingDriver {
    inner: Box<dyn Driver>,
    received: Arc<AtomicU64>,
}

impl CountingDriver {
    /// Counts the frames received from `driver`.
    #[must_use]
    pub fn new(driver: Box<dyn Driver>) -> Self {
        Self { inner: driver, received: Arc::default() }
    }

    /// Frames received so far, in all runs.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Driver for CountingDriver {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let Opened { queues, prepared } = self.inner.open(request)?;
        let counted = |inner| -> Box<dyn Queue> {
            Box::new(CountingQueue { inner, received: Arc::clone(&self.received) })
        };
        Ok(Opened { queues: queues.into_iter().map(counted).collect(), prepared })
    }
}

struct CountingQueue {
    inner: Box<dyn Queue>,
    received: Arc<AtomicU64>,
}

impl Queue for CountingQueue {
    fn begin(&mut self, now: Nanos) {
        self.inner.begin(now);
    }

    #[inline]
    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let received = self.inner.receive(now, limit, sink);
        if received > 0 {
            self.received.fetch_add(received as u64, Ordering::Relaxed);
        }
        received
    }

    #[inline]
    fn receive_prepared(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Nanos, &[u32])) -> usize {
        let received = self.inner.receive_prepared(now, limit, sink);
        if received > 0 {
            self.received.fetch_add(received as u64, Ordering::Relaxed);
        }
        received
    }

    #[inline]
    fn due(&self) -> Due {
        self.inner.due()
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.inner.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }

    fn lost(&mut self) -> u64 {
        self.inner.lost()
    }

    fn check(&mut self) -> Result<(), QueueError> {
        self.inner.check()
    }
}
