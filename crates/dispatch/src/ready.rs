//! Which strands may have something to do: a bit for each, in words of the worker where the strand is at home.

use crate::sync::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use warmcore_policy::pdq::rules::queue_of;

const BITS: usize = u64::BITS as usize;

pub(crate) struct Ready {
    /// By worker.
    words: Box<[CachePadded<Box<[AtomicU64]>>]>,
}

impl Ready {
    pub(crate) fn new(workers: usize, strands: usize) -> Self {
        let words = strands.div_ceil(workers).div_ceil(BITS);
        let of_worker = |_| CachePadded::new((0..words).map(|_| AtomicU64::new(0)).collect());
        Self { words: (0..workers).map(of_worker).collect() }
    }

    /// The worker at home at `strand`: its words are the queue of the strands that are bound to it.
    #[inline]
    pub(crate) fn home(&self, strand: usize) -> usize {
        queue_of(strand as u64, self.words.len())
    }

    /// There may be something to do in `strand`.
    #[inline]
    pub(crate) fn set(&self, strand: usize) {
        let place = strand / self.words.len();
        self.words[self.home(strand)][place / BITS].fetch_or(bit(place), Ordering::SeqCst);
    }

    /// Takes a strand of `worker` that has something to do: the next one after `last`, in turn.
    #[inline]
    pub(crate) fn take(&self, worker: usize, last: usize) -> Option<usize> {
        let (words, workers) = (&self.words[worker], self.words.len());
        let first = (last / workers + 1) % (words.len() * BITS);
        for step in 0..=words.len() {
            let index = (first / BITS + step) % words.len();
            // The first word is looked at twice: from the place on, and at the end up to it.
            let from = if step == 0 { u64::MAX << (first % BITS) } else { u64::MAX };
            let mut bits = words[index].load(Ordering::SeqCst) & from;
            while bits != 0 {
                let low = bits.trailing_zeros() as usize;
                if words[index].fetch_and(!bit(low), Ordering::SeqCst) & bit(low) != 0 {
                    return Some((index * BITS + low) * workers + worker);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Whether any strand of `worker` has something to do.
    pub(crate) fn any(&self, worker: usize) -> bool {
        self.words[worker].iter().any(|word| word.load(Ordering::SeqCst) != 0)
    }
}

const fn bit(place: usize) -> u64 {
    1 << (place % BITS)
}
