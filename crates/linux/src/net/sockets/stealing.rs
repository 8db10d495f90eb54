//! Workers with sockets of their own take from the sockets of others while they have nothing to do.
//!
//! A worker whose batch will take long has its socket *armed*: what arrives there makes the shared epoll instance readable.
//! One of the idle workers, the *watcher*, waits for that beside its own socket, so an arrival wakes one thief and no herd.
//! A watcher that leaves hands the watch on. Short batches arm nothing and cost nothing more.
//!
//! # Invariant
//! Whoever goes idle while a worker is at a long batch arms that worker's socket, or sees it armed: a worker first says that
//! its batch is long and then looks for idle ones; an idle one first says so and then looks for long batches.

use super::{Batch, kernel};
use crate::net::{Bell, wait_readable};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// A batch that takes longer is worth waking another worker for what arrives meanwhile. A wake-up takes some 5 to 50 µs.
const LONG: Duration = Duration::from_micros(20);

/// What the workers of a port share that take from each other.
#[derive(Debug)]
pub(super) struct Stealing {
    sockets: Vec<Arc<UdpSocket>>,
    /// Every socket, disarmed or armed once.
    armed: OwnedFd,
    workers: Box<[WorkerState]>,
    /// The workers that idle, the latest last.
    idle: Mutex<Vec<usize>>,
    /// How many those are.
    idle_count: AtomicUsize,
    /// Whether one of them watches.
    is_watched: AtomicBool,
}

/// Of one worker, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct WorkerState {
    /// Whether it is at a batch that takes long.
    is_long: AtomicBool,
    is_armed: AtomicBool,
    /// Calls it to the watch.
    bell: Bell,
    is_called: AtomicBool,
}

impl Stealing {
    pub(super) fn new(sockets: &[Arc<UdpSocket>]) -> Result<Self, Errno> {
        let armed = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, socket) in (0..).zip(sockets) {
            epoll::add(&armed, socket, epoll::EventData::new_u64(number), disarmed())?;
        }
        let worker = |_: &_| {
            let bell = Bell::new().map_err(|_| Errno::MFILE)?;
            let flag = || AtomicBool::new(false);
            Ok(WorkerState { is_long: flag(), is_armed: flag(), bell, is_called: flag() })
        };
        Ok(Self {
            sockets: sockets.to_vec(),
            armed,
            workers: sockets.iter().map(worker).collect::<Result<_, Errno>>()?,
            idle: Mutex::default(),
            idle_count: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
        })
    }

    /// Receives for `worker` from its own socket; if there is nothing, from that of a worker at a long batch; if there is
    /// nothing either, waits for one or the other.
    pub(super) fn receive(
        &self,
        worker: usize,
        batch: &mut Batch,
        timeout: Option<Duration>,
        is_closed: impl Fn() -> bool,
    ) -> Result<usize, Errno> {
        self.end_long(worker);
        // What was empty a moment ago need not be asked: the wait ends at once if something has come since.
        if !batch.has_emptied() || is_closed() {
            let own = kernel::receive(&*self.sockets[worker], batch, false);
            if own != Err(Errno::AGAIN) || is_closed() {
                return own;
            }
        }
        let watches = self.go_idle(worker);
        let waited = self.wait(worker, watches, timeout);
        self.leave_idle(worker, watches);
        waited?;
        match kernel::receive(&*self.sockets[worker], batch, false) {
            Err(Errno::AGAIN) if watches => self.steal(batch),
            own => own,
        }
    }

    /// `worker` begins a batch that will take `time`.
    pub(super) fn begin(&self, worker: usize, time: Duration) {
        if time >= LONG {
            self.workers[worker].is_long.store(true, Ordering::SeqCst);
            if self.idle_count.load(Ordering::SeqCst) > 0 {
                self.arm(worker);
            }
        }
    }

    /// `worker` is not at a long batch any more: it receives again.
    fn end_long(&self, worker: usize) {
        let state = &self.workers[worker];
        if state.is_long.load(Ordering::Relaxed) {
            state.is_long.store(false, Ordering::SeqCst);
            if state.is_armed.swap(false, Ordering::SeqCst) {
                self.modify(worker, disarmed());
            }
        }
    }

    fn arm(&self, worker: usize) {
        if !self.workers[worker].is_armed.swap(true, Ordering::SeqCst) {
            self.modify(worker, epoll::EventFlags::IN | epoll::EventFlags::ONESHOT);
        }
    }

    fn modify(&self, worker: usize, flags: epoll::EventFlags) {
        // It cannot fail: the entry is there.
        let _ = epoll::modify(
            &self.armed,
            &self.sockets[worker],
            epoll::EventData::new_u64(worker as u64),
            flags,
        );
    }

    /// Takes note of an idle worker. Returns whether it watches.
    fn go_idle(&self, worker: usize) -> bool {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        self.idle_count.fetch_add(1, Ordering::SeqCst);
        for (other, state) in self.workers.iter().enumerate() {
            if state.is_long.load(Ordering::SeqCst) {
                self.arm(other);
            }
        }
        self.take_watch()
    }

    fn take_watch(&self) -> bool {
        !self.is_watched.swap(true, Ordering::SeqCst)
    }

    /// The worker has something to do. If it watched, another one is called.
    fn leave_idle(&self, worker: usize, watched: bool) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|other| *other != worker);
        let state = &self.workers[worker];
        if state.is_called.swap(false, Ordering::SeqCst) {
            state.bell.silence();
        }
        self.idle_count.fetch_sub(1, Ordering::SeqCst);
        if watched {
            self.is_watched.store(false, Ordering::SeqCst);
            if let Some(next) = idle.last().map(|next| &self.workers[*next]) {
                next.is_called.store(true, Ordering::SeqCst);
                next.bell.ring();
            }
        }
    }

    /// Waits for an arrival at the worker's own socket, for its bell, and if it watches, for armed sockets.
    fn wait(&self, worker: usize, watches: bool, timeout: Option<Duration>) -> Result<(), Errno> {
        let bell = &self.workers[worker].bell;
        // A port that is closed is readable.
        let descriptors = [self.sockets[worker].as_fd(), bell.descriptor(), self.armed.as_fd()];
        let descriptors = if watches { &descriptors[..] } else { &descriptors[..2] };
        wait_readable(descriptors, timeout).map_err(|_| Errno::BADF)?;
        Ok(())
    }

    /// Receives from an armed socket at which something arrived.
    fn steal(&self, batch: &mut Batch) -> Result<usize, Errno> {
        let mut events =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if epoll::wait(&self.armed, &mut events[..], Some(&now))? == 0 {
            return Err(Errno::AGAIN);
        }
        let victim = events[0].data.u64() as usize;
        let state = &self.workers[victim];
        state.is_armed.store(false, Ordering::SeqCst);
        let received = kernel::receive(&*self.sockets[victim], batch, false);
        if state.is_long.load(Ordering::SeqCst) && self.idle_count.load(Ordering::SeqCst) > 0 {
            self.arm(victim);
        }
        received
    }
}

/// Armed for nothing.
const fn disarmed() -> epoll::EventFlags {
    epoll::EventFlags::ONESHOT
}
