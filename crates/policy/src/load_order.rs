//! Processors ordered by load, where loads change by one packet at a time. Each load has a linked list of
//! processors, so changes and queries for either end take constant time.

use alloc::vec::Vec;
use warmcore_units::CpuId;

/// The processors, ordered by load.
#[derive(Clone, Debug)]
pub struct LoadOrder {
    nodes: Vec<Node>,
    /// First and last processor of each load.
    lists: Vec<List>,
    lowest: u32,
    highest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    load: u32,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Marks the end of a list.
const NOBODY: u32 = u32::MAX;
const EMPTY: List = List { first: NOBODY, last: NOBODY };

impl LoadOrder {
    /// `processors` processors without load.
    #[must_use]
    pub fn idle(processors: u32) -> Self {
        let nothing = Node { load: 0, before: NOBODY, after: NOBODY };
        let nodes = alloc::vec![nothing; processors as usize];
        let mut order = Self { nodes, lists: alloc::vec![EMPTY], lowest: 0, highest: 0 };
        (0..processors).for_each(|cpu| order.append(cpu, 0));
        order
    }

    /// Sets the load of `cpu`, which is one more or one less than before.
    #[inline]
    pub fn set(&mut self, cpu: CpuId, load: u32) {
        let before = self.nodes[cpu.index()].load;
        debug_assert_eq!(before.abs_diff(load), 1, "loads change by one");
        self.unlink(cpu.0);
        self.append(cpu.0, load);
        if load < self.lowest || self.is_empty(self.lowest) {
            self.lowest = load;
        }
        if load > self.highest || self.is_empty(self.highest) {
            self.highest = load;
        }
    }

    /// The processor with the fewest packets; of several, the one that has had this load the longest.
    #[must_use]
    #[inline]
    pub fn least_loaded(&self) -> CpuId {
        CpuId(self.lists[self.lowest as usize].first)
    }

    /// The processor with the most packets, and its load; of several, the one that has had this load the
    /// longest.
    #[must_use]
    #[inline]
    pub fn most_loaded(&self) -> (CpuId, u32) {
        (CpuId(self.lists[self.highest as usize].first), self.highest)
    }

    #[inline]
    fn is_empty(&self, load: u32) -> bool {
        self.lists[load as usize].first == NOBODY
    }

    fn unlink(&mut self, cpu: u32) {
        let Node { load, before, after } = self.nodes[cpu as usize];
        let list = &mut self.lists[load as usize];
        match before {
            NOBODY => list.first = after,
            before => self.nodes[before as usize].after = after,
        }
        match after {
            NOBODY => list.last = before,
            after => self.nodes[after as usize].before = before,
        }
    }

    fn append(&mut self, cpu: u32, load: u32) {
        if load as usize >= self.lists.len() {
            self.lists.resize(load as usize + 1, EMPTY);
        }
        let list = &mut self.lists[load as usize];
        let before = core::mem::replace(&mut list.last, cpu);
        match before {
            NOBODY => list.first = cpu,
            before => self.nodes[before as usize].after = cpu,
        }
        self.nodes[cpu as usize] = Node { load, before, after: NOBODY };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a vector of loads and the steps at which they last changed.
        #[test]
        fn both_ends_are_what_a_search_finds(steps in prop::collection::vec((0_u32..5, any::<bool>()), 0..200)) {
            let mut order = LoadOrder::idle(5);
            let mut loads: Vec<(u32, usize)> = (0..5).map(|cpu| (0, cpu)).collect();
            for (step, (cpu, more)) in steps.into_iter().enumerate() {
                let (load, since) = &mut loads[cpu as usize];
                *load = if more || *load == 0 { *load + 1 } else { *load - 1 };
                *since = 5 + step;
                order.set(CpuId(cpu), *load);
                let least = (0..5).min_by_key(|&cpu| loads[cpu]).unwrap();
                let most = (0..5).min_by_key(|&cpu| (u32::MAX - loads[cpu].0, loads[cpu].1)).unwrap();
                prop_assert_eq!(order.least_loaded().index(), least);
                prop_assert_eq!(order.most_loaded(), (CpuId::from(most), loads[most].0));
            }
        }
    }
}
