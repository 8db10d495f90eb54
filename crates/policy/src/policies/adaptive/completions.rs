//! Which processor of a simulated host finishes first.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use core::cmp::Reverse;
use warmcore_units::{CpuId, Nanos};

/// The busy processors, ordered by when they finish. A processor that continues with another packet
/// keeps its entry; the entry is corrected when its old finish time comes.
#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    /// Finish times as the bits of a float: for times of 0 or more these are in the same order.
    heap: BinaryHeap<Reverse<(u64, CpuId)>>,
}

impl Completions {
    /// `cpu`, which was idle, is busy until `end`.
    #[inline]
    pub(super) fn push(&mut self, cpu: CpuId, end: Nanos) {
        self.heap.push(Reverse((end.0.to_bits(), cpu)));
    }

    /// The processor that finishes first, if it does so by `now`. `ends` are the true finish times by
    /// processor; none is earlier than the one noted before.
    #[inline]
    pub(super) fn first_by(&mut self, now: Nanos, ends: &[Nanos]) -> Option<CpuId> {
        loop {
            let mut first = self.heap.peek_mut()?;
            let Reverse((noted, cpu)) = *first;
            if f64::from_bits(noted) > now.0 {
                return None;
            }
            let end = ends[cpu.index()].0.to_bits();
            if end == noted {
                return Some(cpu);
            }
            *first = Reverse((end, cpu));
        }
    }

    /// Removes the processor that [`first_by`](Self::first_by) returned: it is idle.
    #[inline]
    pub(super) fn remove_first(&mut self) {
        if let Some(first) = self.heap.peek_mut() {
            PeekMut::pop(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const PROCESSORS: usize = 4;

    proptest! {
        /// Compared with a linear search, while processors become busy or stay busy for longer.
        #[test]
        fn the_first_completion_is_what_a_search_finds(steps in prop::collection::vec((0..PROCESSORS, 0_u32..20), 0..100)) {
            let mut busy = Completions::default();
            let mut ends = [Nanos(f64::NEG_INFINITY); PROCESSORS];
            let mut now = Nanos::ZERO;
            for (cpu, time) in steps {
                let was_idle = ends[cpu].0 <= now.0;
                ends[cpu] = Nanos(now.max(ends[cpu]).0 + f64::from(time) + 1.0);
                if was_idle {
                    busy.push(CpuId::from(cpu), ends[cpu]);
                }
                let later = now + Nanos(f64::from(time / 2));
                let mut ended: Vec<_> = (0..PROCESSORS).filter(|&cpu| ends[cpu].0 > now.0 && ends[cpu].0 <= later.0).collect();
                ended.sort_by_key(|&cpu| (ends[cpu].0.to_bits(), cpu));
                for cpu in ended {
                    prop_assert_eq!(busy.first_by(later, &ends), Some(CpuId::from(cpu)));
                    busy.remove_first();
                }
                prop_assert_eq!(busy.first_by(later, &ends), None);
                now = later;
            }
        }
    }
}
