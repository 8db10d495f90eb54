//! What the threads of a server share, whatever its handler.

use super::counts::{Counts, Published};
use super::flows::NEVER;
use super::transport::ServedPort;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::net::SocketAddr;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use warmcore_linux::ThreadNumber;
use warmcore_units::{CpuId, Nanos};

/// The shared part of a server.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) port: ServedPort,
    begun: Instant,
    /// Open flows.
    pub(super) open: AtomicUsize,
    /// Whether requests are given up: the time to stop is over.
    pub(super) abandon: AtomicBool,
    /// Of each worker; and of the timekeeper, if there is one.
    pub(super) threads: Vec<CachePadded<ThreadRecord>>,
    pub(super) alarm: Alarm,
}

impl Control {
    pub(super) fn new(port: ServedPort, cpus: impl IntoIterator<Item = Option<CpuId>>) -> Self {
        Self {
            port,
            begun: Instant::now(),
            open: AtomicUsize::new(0),
            abandon: AtomicBool::new(false),
            threads: cpus.into_iter().map(|cpu| CachePadded::new(ThreadRecord::new(cpu))).collect(),
            alarm: Alarm::default(),
        }
    }

    /// Nanoseconds since the server started.
    pub(super) fn now(&self) -> u64 {
        super::flows::nanos(self.elapsed())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// What is known of a thread.
#[derive(Debug)]
pub(super) struct ThreadRecord {
    /// Its cpu, if it has one for itself.
    pub(super) cpu: Option<CpuId>,
    pub(super) published: Published,
    current: Mutex<Current>,
    thread: OnceLock<ThreadNumber>,
    /// Its processor time at its end, in nanoseconds.
    last_time: AtomicU64,
}

/// The call of the handler that a thread is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Current {
    /// Changes with each call.
    pub(super) call: u64,
    /// The flow that it is for; `None` between calls.
    pub(super) peer: Option<SocketAddr>,
}

impl ThreadRecord {
    fn new(cpu: Option<CpuId>) -> Self {
        Self {
            cpu,
            published: Published::default(),
            current: Mutex::default(),
            thread: OnceLock::new(),
            last_time: AtomicU64::new(0),
        }
    }

    /// Called by the thread itself, when it starts.
    pub(super) fn started(&self) {
        let _ = self.thread.set(ThreadNumber::current());
    }

    /// Called by the thread itself, when it ends.
    pub(super) fn ended(&self) {
        self.set_current(None);
        let used = warmcore_linux::cpu_time::of_this_thread();
        self.last_time.store(used.0 as u64, Ordering::Relaxed);
    }

    pub(super) fn set_current(&self, peer: Option<SocketAddr>) {
        let mut current = lock(&self.current);
        current.call += u64::from(peer.is_some());
        current.peer = peer;
    }

    pub(super) fn current(&self) -> Current {
        *lock(&self.current)
    }

    pub(super) fn counts(&self) -> Counts {
        self.published.get()
    }

    /// Its processor time, with the time in which another program had its cpu, if the kernel tells.
    pub(super) fn wanted_time(&self) -> Option<Nanos> {
        self.thread.get()?.wanted_time()
    }

    /// Its processor time, if the kernel tells.
    pub(super) fn cpu_time(&self) -> Option<Nanos> {
        match self.last_time.load(Ordering::Relaxed) {
            0 => self.thread.get()?.cpu_time(),
            last => Some(Nanos(last as f64)),
        }
    }
}

/// Wakes the timekeeper when something is due earlier than it knows.
#[derive(Debug)]
pub(super) struct Alarm {
    /// When it looks by itself; [`NEVER`] while it looks, so that it is told of everything.
    at: AtomicU64,
    told: Mutex<Told>,
    bell: Condvar,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { at: AtomicU64::new(NEVER), told: Mutex::default(), bell: Condvar::new() }
    }
}

/// What the timekeeper was told.
#[derive(Default, Debug)]
struct Told {
    look: bool,
    end: bool,
}

impl Alarm {
    /// Says that something is due at `at`.
    pub(super) fn at_latest(&self, at: u64) {
        if at < self.at.load(Ordering::SeqCst) {
            lock(&self.told).look = true;
            self.bell.notify_one();
        }
    }

    /// Ends the timekeeper.
    pub(super) fn end(&self) {
        lock(&self.told).end = true;
        self.bell.notify_one();
    }

    /// The timekeeper is about to look.
    pub(super) fn looking(&self) {
        self.at.store(NEVER, Ordering::SeqCst);
        lock(&self.told).look = false;
    }

    /// The timekeeper sleeps until `at`, `now` being the time, or until it is told. Returns whether to go on.
    pub(super) fn sleep(&self, at: u64, now: u64) -> bool {
        let told = lock(&self.told);
        self.at.store(at, Ordering::SeqCst);
        let time = Duration::from_nanos(at.saturating_sub(now));
        let awake = |told: &mut Told| !told.look && !told.end;
        let waited = self.bell.wait_timeout_while(told, time, awake);
        !waited.unwrap_or_else(PoisonError::into_inner).0.end
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
