//! Counts what a driver shows, so that a run's books can be balanced against it: every frame shown
//! is delivered, refused, dropped, failed or given up, and nothing else.

use super::{Driver, DriverError, Due, Incoming, Opened, Queue, QueueRequest};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_units::Nanos;

/// A driver around a driver.
pub struct Counted {
    within: Box<dyn Driver>,
    shown: Arc<AtomicU64>,
}

impl Counted {
    /// Counts what `driver` shows.
    #[must_use]
    pub fn new(driver: Box<dyn Driver>) -> Self {
        Self { within: driver, shown: Arc::default() }
    }

    /// Frames shown so far, in all runs.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }
}

impl Driver for Counted {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let Opened { queues, prepared } = self.within.open(request)?;
        let counted =
            |within| -> Box<dyn Queue> { Box::new(CountedQueue { within, shown: Arc::clone(&self.shown) }) };
        Ok(Opened { queues: queues.into_iter().map(counted).collect(), prepared })
    }
}

struct CountedQueue {
    within: Box<dyn Queue>,
    shown: Arc<AtomicU64>,
}

impl Queue for CountedQueue {
    fn begin(&mut self, now: Nanos) {
        self.within.begin(now);
    }

    #[inline]
    fn receive(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let shown = self.within.receive(now, limit, take);
        if shown > 0 {
            self.shown.fetch_add(shown as u64, Ordering::Relaxed);
        }
        shown
    }

    #[inline]
    fn due(&self) -> Due {
        self.within.due()
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.within.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.within.flush()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.within.descriptor()
    }

    fn lost(&mut self) -> u64 {
        self.within.lost()
    }
}
