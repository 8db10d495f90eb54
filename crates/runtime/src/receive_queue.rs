//! A driver's queue, shared by the workers that poll it.

use crate::driver::{Due, Incoming, Queue};
use crate::seat::Seat;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use warmcore_linux::net::{Bell, wait_readable};
use warmcore_units::{CpuId, Nanos};

/// A queue behind a lock, with a hint beside it that is read without taking the lock.
pub(crate) struct Lane {
    /// When there will be something, as the bits of a time in nanoseconds: the past if nobody
    /// knows, infinity if never again.
    due: AtomicU64,
    /// The worker that looks out for it while it is idle.
    lookout: AtomicU32,
    queue: spin::Mutex<Box<dyn Queue>>,
    /// Which worker sleeps at the queue, and what it waits on.
    sleeper: AtomicU32,
    descriptor: Option<OwnedFd>,
    bell: Bell,
}

/// The right to receive from a queue.
pub(crate) struct Open<'a> {
    due: &'a AtomicU64,
    queue: spin::MutexGuard<'a, Box<dyn Queue>>,
}

impl Open<'_> {
    /// Shows up to `limit` frames that have arrived by `now`.
    #[inline]
    pub(crate) fn receive(&mut self, now: Nanos, limit: usize, mut take: impl FnMut(Incoming<'_>)) {
        self.queue.receive(now, limit, &mut take);
        self.due.store(bits(self.queue.due()), Ordering::Relaxed);
    }
}

/// Wakes all workers, at their places and at their queues.
pub(crate) fn wake_all(seats: &[Seat], lanes: &[CachePadded<Lane>]) {
    seats.iter().for_each(Seat::wake);
    for lane in lanes {
        if lane.sleeper.load(Ordering::Relaxed) != NOBODY {
            lane.bell.ring();
        }
    }
}

/// How long what has arrived is left to the worker that looks out for it, before others take it.
const GRACE: Nanos = Nanos(300.0);
/// No worker.
const NOBODY: u32 = u32::MAX;

impl Lane {
    /// # Errors
    /// If this process has too many descriptors open.
    pub(crate) fn new(queue: Box<dyn Queue>) -> io::Result<Self> {
        Ok(Self {
            due: AtomicU64::new(bits(queue.due())),
            lookout: AtomicU32::new(NOBODY),
            descriptor: queue.descriptor().map(|descriptor| descriptor.try_clone_to_owned()).transpose()?,
            queue: spin::Mutex::new(queue),
            sleeper: AtomicU32::new(NOBODY),
            bell: Bell::new().map_err(io::Error::other)?,
        })
    }

    /// The run begins `now`.
    pub(crate) fn begin(&self, now: Nanos) {
        let mut queue = self.queue.lock();
        queue.begin(now);
        self.due.store(bits(queue.due()), Ordering::Relaxed);
    }

    /// When there may be something to receive.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        Nanos(f64::from_bits(self.due.load(Ordering::Relaxed)))
    }

    /// Whether `worker`, which is idle, is to look at `now`: at once if it is the one to look out,
    /// and after a grace if not.
    #[inline]
    pub(crate) fn concerns(&self, worker: CpuId, now: Nanos) -> bool {
        let due = self.due();
        due <= now && (self.lookout.load(Ordering::Relaxed) == worker.0 || due + GRACE <= now)
    }

    /// The worker that is to look out from now on.
    #[inline]
    pub(crate) fn appoint(&self, lookout: Option<CpuId>) {
        let lookout = lookout.map_or(NOBODY, |cpu| cpu.0);
        if self.lookout.load(Ordering::Relaxed) != lookout {
            self.lookout.store(lookout, Ordering::Relaxed);
        }
    }

    /// The right to receive, unless another worker has it.
    #[inline]
    pub(crate) fn open(&self) -> Option<Open<'_>> {
        self.queue.try_lock().map(|queue| Open { due: &self.due, queue })
    }

    /// `worker` is to be the one that sleeps at the queue itself; false if another does already, or
    /// if one cannot sleep there. To be called before it looks for work for the last time.
    pub(crate) fn claim(&self, worker: CpuId) -> bool {
        self.descriptor.is_some()
            && self.sleeper.compare_exchange(NOBODY, worker.0, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// Ends a [claim](Self::claim) that has succeeded.
    pub(crate) fn release(&self) {
        self.sleeper.store(NOBODY, Ordering::Relaxed);
    }

    /// Sleeps, having claimed it, until there is something to receive, the bell is rung, or `longest`
    /// has passed.
    pub(crate) fn wait(&self, longest: Duration) {
        if let Some(descriptor) = &self.descriptor {
            let waited = wait_readable(&[descriptor.as_fd(), self.bell.descriptor()], Some(longest));
            if waited.is_err() {
                std::thread::park_timeout(longest);
            }
            self.bell.silence();
        }
    }

    /// Wakes `worker` if it is the one that sleeps here.
    #[inline]
    pub(crate) fn wake(&self, worker: CpuId) {
        if self.sleeper.load(Ordering::Relaxed) == worker.0 {
            self.bell.ring();
        }
    }

    /// The queue itself.
    pub(crate) fn queue(&self) -> spin::MutexGuard<'_, Box<dyn Queue>> {
        self.queue.lock()
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
