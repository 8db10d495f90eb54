//! Many queues, most of which are empty.

use alloc::vec;
use alloc::vec::Vec;

/// First-come-first-served queues that take eight bytes each: linked lists through one store of nodes. The node used
/// last is the next to be used again, so that few packets stay in few cache lines.
#[derive(Clone, Debug)]
pub struct Chains<J> {
    /// The first and the last node of each queue; [`NONE`] if it is empty.
    ends: Vec<[u32; 2]>,
    nodes: Vec<Node<J>>,
    /// The first of the unused nodes, which are linked.
    unused: u32,
    jobs: usize,
}

#[derive(Clone, Debug)]
struct Node<J> {
    /// `None` in an unused node.
    job: Option<J>,
    next: u32,
}

/// The end of a list.
const NONE: u32 = u32::MAX;

impl<J> Chains<J> {
    /// So many empty queues.
    #[must_use]
    pub fn new(queues: u32) -> Self {
        Self { ends: vec![[NONE; 2]; queues as usize], nodes: Vec::new(), unused: NONE, jobs: 0 }
    }

    /// How many jobs wait in all queues.
    #[must_use]
    pub const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether nothing waits in `queue`.
    #[must_use]
    #[inline]
    pub fn is_empty(&self, queue: usize) -> bool {
        self.ends[queue][0] == NONE
    }

    /// Appends `job` to `queue`.
    ///
    /// # Panics
    /// If 2^32 - 1 jobs wait already.
    #[inline]
    pub fn push(&mut self, queue: usize, job: J) {
        let new = self.node(job);
        let [first, last] = &mut self.ends[queue];
        match core::mem::replace(last, new) {
            NONE => *first = new,
            last => self.nodes[last as usize].next = new,
        }
        self.jobs += 1;
    }

    /// Takes the first job of `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<J> {
        let [first, last] = &mut self.ends[queue];
        if *first == NONE {
            return None;
        }
        let taken = *first;
        let node = &mut self.nodes[taken as usize];
        *first = node.next;
        if node.next == NONE {
            *last = NONE;
        }
        node.next = core::mem::replace(&mut self.unused, taken);
        self.jobs -= 1;
        node.job.take()
    }

    fn node(&mut self, job: J) -> u32 {
        let node = Node { job: Some(job), next: NONE };
        match self.unused {
            NONE => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 jobs wait")
            }
            free => {
                self.unused = core::mem::replace(&mut self.nodes[free as usize], node).next;
                free
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a deque for each queue.
        #[test]
        fn each_queue_is_first_come_first_served(
            steps in prop::collection::vec((0_usize..5, any::<bool>()), 0..300),
        ) {
            let (mut chains, mut deques) = (Chains::new(5), [(); 5].map(|()| VecDeque::new()));
            for (number, (queue, push)) in steps.into_iter().enumerate() {
                if push {
                    chains.push(queue, number);
                    deques[queue].push_back(number);
                } else {
                    prop_assert_eq!(chains.pop(queue), deques[queue].pop_front());
                }
                prop_assert_eq!(chains.is_empty(queue), deques[queue].is_empty());
                prop_assert_eq!(chains.jobs(), deques.iter().map(VecDeque::len).sum::<usize>());
            }
        }
    }
}
