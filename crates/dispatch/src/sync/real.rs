//! The standard library's threads, and the processor's clock.

#[cfg(miri)]
pub(crate) use super::still::Clock;
pub(crate) use core::hint::spin_loop;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(miri))]
pub(crate) use quanta::Clock;
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{Thread, current, park, park_timeout, yield_now};
pub(crate) use std::thread_local;
