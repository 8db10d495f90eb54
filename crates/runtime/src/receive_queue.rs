//! A driver's queue, shared by the workers that poll it.

use crate::driver::{Due, Incoming, Queue, QueueError};
use crate::mailbox::Mailbox;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use warmcore_linux::net::{Bell, wait_readable};
use warmcore_units::{CpuId, Nanos};

/// Most frames that a worker takes from its queue at once.
pub(crate) const MAX_INTAKE: usize = 32;

/// A driver's queue behind a lock, with a hint that is read without the lock.
pub(crate) struct ReceiveQueue {
    /// When the next frame is due, as the bits of a time in nanoseconds: the past if unknown, infinity if
    /// never.
    due: AtomicU64,
    /// When the queue is checked next, as the bits of a time in nanoseconds.
    next_check: AtomicU64,
    /// The idle worker that polls first.
    lookout: AtomicU32,
    inner: spin::Mutex<Box<dyn Queue>>,
    /// The worker that sleeps at the queue, and what it sleeps on.
    sleeper: AtomicU32,
    descriptor: Option<OwnedFd>,
    bell: Bell,
}

/// Exclusive access to a queue.
pub(crate) struct LockedQueue<'a> {
    due: &'a AtomicU64,
    next_check: &'a AtomicU64,
    inner: spin::MutexGuard<'a, Box<dyn Queue>>,
}

impl LockedQueue<'_> {
    /// Passes up to `limit` frames that arrived by `now` to `take`.
    #[inline]
    pub(crate) fn receive(&mut self, now: Nanos, limit: usize, mut sink: impl FnMut(Incoming<'_>)) {
        self.inner.receive(now, limit, &mut sink);
        self.due.store(bits(self.inner.due()), Ordering::Relaxed);
    }

    /// Passes up to `limit` prepared frames that arrived by `now` to `sink`, if the queue has them
    /// [together](Queue::receive_prepared).
    #[inline]
    pub(crate) fn receive_prepared(
        &mut self,
        now: Nanos,
        limit: usize,
        mut sink: impl FnMut(Nanos, &[u32]),
    ) -> usize {
        let received = self.inner.receive_prepared(now, limit, &mut sink);
        if received > 0 {
            self.due.store(bits(self.inner.due()), Ordering::Relaxed);
        }
        received
    }

    /// Checks whether frames can still arrive, if the last check is [long enough](CHECK_EVERY) ago. Call it when
    /// nothing has arrived.
    #[inline]
    pub(crate) fn check(&mut self, now: Nanos) -> Result<(), QueueError> {
        if now.0 < f64::from_bits(self.next_check.load(Ordering::Relaxed)) {
            return Ok(());
        }
        self.next_check.store((now + CHECK_EVERY).0.to_bits(), Ordering::Relaxed);
        self.inner.check()
    }
}

/// Wakes all workers, parked or at their queues.
pub(crate) fn wake_all(mailboxes: &[Mailbox], queues: &[CachePadded<ReceiveQueue>]) {
    mailboxes.iter().for_each(Mailbox::wake);
    for queue in queues {
        if queue.sleeper.load(Ordering::Relaxed) != NO_WORKER {
            queue.bell.ring();
        }
    }
}

/// How long a frame is left to the worker that polls first, before others take it.
const GRACE: Nanos = Nanos(300.0);
/// How often a queue is checked while nothing arrives.
const CHECK_EVERY: Nanos = Nanos(100e6);
/// No worker.
const NO_WORKER: u32 = u32::MAX;

impl ReceiveQueue {
    /// # Errors
    /// If this process has too many descriptors open.
    pub(crate) fn new(queue: Box<dyn Queue>) -> io::Result<Self> {
        Ok(Self {
            due: AtomicU64::new(bits(queue.due())),
            next_check: AtomicU64::new(0.0_f64.to_bits()),
            lookout: AtomicU32::new(NO_WORKER),
            descriptor: queue.descriptor().map(|descriptor| descriptor.try_clone_to_owned()).transpose()?,
            inner: spin::Mutex::new(queue),
            sleeper: AtomicU32::new(NO_WORKER),
            bell: Bell::new().map_err(io::Error::other)?,
        })
    }

    /// The run begins `now`.
    pub(crate) fn begin(&self, now: Nanos) {
        let mut queue = self.inner.lock();
        queue.begin(now);
        self.due.store(bits(queue.due()), Ordering::Relaxed);
    }

    /// When the next frame is due.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        Nanos(f64::from_bits(self.due.load(Ordering::Relaxed)))
    }

    /// Whether the idle `worker` should poll at `now`: at once if it polls first, after [`GRACE`] if not.
    #[inline]
    pub(crate) fn should_poll(&self, worker: CpuId, now: Nanos) -> bool {
        let due = self.due();
        due <= now && (self.lookout.load(Ordering::Relaxed) == worker.0 || due + GRACE <= now)
    }

    /// Sets the idle worker that polls first.
    #[inline]
    pub(crate) fn set_lookout(&self, lookout: Option<CpuId>) {
        let lookout = lookout.map_or(NO_WORKER, |cpu| cpu.0);
        if self.lookout.load(Ordering::Relaxed) != lookout {
            self.lookout.store(lookout, Ordering::Relaxed);
        }
    }

    /// Exclusive access, unless another worker has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<LockedQueue<'_>> {
        self.inner.try_lock().map(|inner| LockedQueue { due: &self.due, next_check: &self.next_check, inner })
    }

    /// Makes `worker` the one that sleeps at the queue; false if another does, or if the queue has no
    /// descriptor. Call it before the last check for work.
    pub(crate) fn claim(&self, worker: CpuId) -> bool {
        self.descriptor.is_some()
            && self.sleeper.compare_exchange(NO_WORKER, worker.0, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// Ends a successful [claim](Self::claim).
    pub(crate) fn release(&self) {
        self.sleeper.store(NO_WORKER, Ordering::Relaxed);
    }

    /// Sleeps until a frame arrives, the bell rings, or `longest` has passed. Requires a
    /// [claim](Self::claim).
    pub(crate) fn wait(&self, longest: Duration) {
        if let Some(descriptor) = &self.descriptor {
            let waited = wait_readable(&[descriptor.as_fd(), self.bell.descriptor()], Some(longest));
            if waited.is_err() {
                std::thread::park_timeout(longest);
            }
            self.bell.silence();
        }
    }

    /// Wakes `worker` if it sleeps here.
    #[inline]
    pub(crate) fn wake(&self, worker: CpuId) {
        if self.sleeper.load(Ordering::Relaxed) == worker.0 {
            self.bell.ring();
        }
    }

    /// Locks the driver's queue.
    pub(crate) fn lock(&self) -> spin::MutexGuard<'_, Box<dyn Queue>> {
        self.inner.lock()
    }
}

fn bits(due: Due) -> u64 {
    let time = match due {
        Due::At(at) => at.0,
        Due::Unknown => 0.0,
        Due::Never => f64::INFINITY,
    };
    time.to_bits()
}
