//! The free-memory pool, which supplies the dynamic part of a message.
//!
//! Salehi, Kurose & Towsley 1994, §2.1, footnote 3: an array of pointers to segments of memory
//! and an index, behind a lock. Acquiring moves the index and returns a pointer; releasing moves
//! it back and stores the pointer. Here the array is a `Vec` whose length is the index.
//!
//! A pool is not part of a stack, so that the owner of the stack can have one for each processor or one
//! for all (Salehi 1994, §2.3, "free-memory affinity").
//!
//! Invariants: nothing is allocated or freed after construction, and every segment lent is returned,
//! even if the borrower panics.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hint::black_box;
use crossbeam_utils::CachePadded;

/// The part of a message structure that is written on the packet's way up; lent by a pool.
#[derive(Debug, Default)]
pub struct Segment {
    pub(crate) headers: CachePadded<HeaderOffsets>,
}

/// Offset of each header in the frame, as far as the packet has been parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeaderOffsets {
    /// Offset of the IP header.
    pub ip: u16,
    /// Offset of the UDP header.
    pub udp: u16,
    /// Offset of the payload.
    pub payload: u16,
}

/// A pool of free [`Segment`]s.
///
/// ```
/// let pool = warmcore_stack::Pool::new(2);
/// let free = pool.lend(|_segment| pool.available());
/// assert_eq!((free, pool.available()), (Some(1), 2));
/// ```
#[derive(Debug)]
pub struct Pool {
    free: CachePadded<spin::Mutex<Free>>,
    capacity: usize,
}

#[derive(Debug)]
struct Free {
    /// The array of pointers; its length is the index. It has room for one more than the pool's
    /// capacity, so that it never grows.
    #[expect(clippy::vec_box, reason = "the pool of Salehi 1994 is an array of pointers")]
    segments: Vec<Box<Segment>>,
    /// Never lent: stands in for a segment in flight when [`Pool::dirty`] rewrites its slot.
    spare: Option<Box<Segment>>,
}

impl Pool {
    /// A pool of `capacity` segments: the number of packets that can be inside stacks at once.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let mut segments = Vec::with_capacity(capacity + 1);
        segments.resize_with(capacity, Box::default);
        let spare = Some(Box::default());
        Self { free: CachePadded::new(spin::Mutex::new(Free { segments, spare })), capacity }
    }

    /// Acquires a segment, gives it to `borrower`, and releases it afterwards.
    ///
    /// Returns `None`, without calling `borrower`, if no segment is free.
    #[inline]
    pub fn lend<R>(&self, borrower: impl FnOnce(&mut Segment) -> R) -> Option<R> {
        self.borrow().segment().map(borrower)
    }

    /// Acquires a segment, if one is free.
    #[inline]
    pub(crate) fn borrow(&self) -> Loan<'_> {
        Loan { pool: self, segment: self.acquire() }
    }

    /// Number of free segments.
    #[must_use]
    pub fn available(&self) -> usize {
        self.free.lock().segments.len()
    }

    /// Number of segments, free or lent.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Rewrites, from the calling processor, every cache line that the next acquisition or the release
    /// of one segment in flight will touch: lock and index, both slots of the array, and the segment
    /// that is lent next. The contents of the pool stay the same.
    ///
    /// For measurements: a packet that is received elsewhere afterwards pays for the migration of these
    /// lines. It pays *overhead_acquire* (Salehi 1994, §5) if this was called before it was received,
    /// and *overhead_release* if this was called while it was inside the stack.
    pub fn dirty(&self) {
        let free = &mut *self.free.lock();
        if let Some(mut next) = free.segments.pop() {
            *next.headers = black_box(HeaderOffsets::default());
            black_box(&mut *free).segments.push(next);
        }
        if let Some(spare) = free.spare.take() {
            free.segments.push(spare);
            free.spare = black_box(&mut *free).segments.pop();
        }
    }

    #[inline]
    fn acquire(&self) -> Option<Box<Segment>> {
        self.free.lock().segments.pop()
    }

    #[inline]
    fn release(&self, segment: Box<Segment>) {
        self.free.lock().segments.push(segment);
    }
}

/// A segment on loan; dropping this gives it back.
pub(crate) struct Loan<'a> {
    pool: &'a Pool,
    segment: Option<Box<Segment>>,
}

impl Loan<'_> {
    /// The segment; `None` if none was free.
    #[inline]
    pub(crate) fn segment(&mut self) -> Option<&mut Segment> {
        self.segment.as_deref_mut()
    }
}

impl Drop for Loan<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(segment) = self.segment.take() {
            self.pool.release(segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn an_empty_pool_lends_nothing() {
        let pool = Pool::new(1);
        assert_eq!(pool.lend(|_| pool.lend(|_| ())), Some(None));
        assert_eq!(Pool::new(0).lend(|_| ()), None);
    }

    #[test]
    fn a_segment_comes_back_from_a_borrower_that_panics() {
        let pool = Pool::new(1);
        let result = catch_unwind(AssertUnwindSafe(|| pool.lend(|_| panic!("the application fails"))));
        assert!(result.is_err());
        assert_eq!(pool.available(), 1);
    }

    #[test]
    fn dirtying_keeps_the_pool_and_its_array_as_they_are() {
        for capacity in 0..3 {
            let pool = Pool::new(capacity);
            let array = pool.free.lock().segments.as_ptr();
            pool.dirty();
            pool.lend(|_| pool.dirty());
            assert_eq!(pool.available(), capacity);
            assert!(pool.free.lock().spare.is_some());
            assert_eq!(pool.free.lock().segments.as_ptr(), array, "the array was reallocated");
        }
    }
}
