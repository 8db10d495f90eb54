//! The switch between real threads and loom's. The code with which workers wake each other uses these
//! names, and `RUSTFLAGS="--cfg loom" cargo test -p warmcore-runtime --lib` checks it.
//!
//! Under loom a parked thread is woken by another thread or never, so a lost wake-up shows as a
//! deadlock. The queue is a stand-in for the real one; like it, it promises an outside observer only
//! its length.

#[cfg(not(loom))]
pub(crate) use real::*;
#[cfg(loom)]
pub(crate) use under_loom::*;

#[cfg(not(loom))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
    pub(crate) use crossbeam_queue::ArrayQueue;
    pub(crate) use spin::Mutex;
    pub(crate) use std::thread::{Thread, current, park_timeout};
}

#[cfg(loom)]
mod under_loom {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
    pub(crate) use loom::thread::{Thread, current};
    use std::collections::VecDeque;

    /// Parks until another thread wakes this one; there is no timeout.
    pub(crate) fn park_timeout(_longest: core::time::Duration) {
        loom::thread::park();
    }

    /// A lock with the interface of a spin lock.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().expect("no thread of a model panics")
        }
    }

    /// A bounded queue.
    pub(crate) struct ArrayQueue<T> {
        elements: Mutex<VecDeque<T>>,
        capacity: usize,
        length: AtomicU32,
    }

    impl<T> ArrayQueue<T> {
        pub(crate) fn new(capacity: usize) -> Self {
            Self { elements: Mutex::new(VecDeque::new()), capacity, length: AtomicU32::new(0) }
        }

        pub(crate) fn push(&self, element: T) -> Result<(), T> {
            let mut elements = self.elements.lock();
            if elements.len() == self.capacity {
                return Err(element);
            }
            elements.push_back(element);
            self.length.fetch_add(1, Ordering::Release);
            Ok(())
        }

        pub(crate) fn pop(&self) -> Option<T> {
            let element = self.elements.lock().pop_front()?;
            self.length.fetch_sub(1, Ordering::Release);
            Some(element)
        }

        pub(crate) fn capacity(&self) -> usize {
            self.capacity
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        pub(crate) fn len(&self) -> usize {
            self.length.load(Ordering::Acquire) as usize
        }
    }
}
