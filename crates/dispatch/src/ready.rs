//! Which queues may have something to do: a bit for each.
//!
//! A bit is set after something was put into the queue, and cleared by a worker that finds nothing it
//! could claim. The worker then looks at the queue's `tail` once more, and the producer moved `tail`
//! before it looked at the bit, both sequentially consistent: so at least one of them sees the other,
//! and a queue with something in it that nobody attends has its bit set. The bit is cleared under the
//! lock of the queue; what changes in a queue other than at its tail changes under that lock too, and
//! the bit is set after it.

use crate::sync::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

const BITS: usize = u64::BITS as usize;

pub(crate) struct Ready(Box<[CachePadded<AtomicU64>]>);

impl Ready {
    pub(crate) fn new(queues: usize) -> Self {
        Self((0..queues.div_ceil(BITS)).map(|_| CachePadded::new(AtomicU64::new(0))).collect())
    }

    /// Whether it was not set before.
    #[inline]
    pub(crate) fn set(&self, queue: usize) -> bool {
        let word = &self.0[queue / BITS];
        word.load(Ordering::SeqCst) & bit(queue) == 0
            && word.fetch_or(bit(queue), Ordering::SeqCst) & bit(queue) == 0
    }

    #[inline]
    pub(crate) fn clear(&self, queue: usize) {
        self.0[queue / BITS].fetch_and(!bit(queue), Ordering::SeqCst);
    }

    /// The queues whose bits are set.
    pub(crate) fn queues(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut bits = word.load(Ordering::SeqCst);
            core::iter::from_fn(move || {
                let low = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(index * BITS + low)
            })
        })
    }
}

const fn bit(queue: usize) -> u64 {
    1 << (queue % BITS)
}
