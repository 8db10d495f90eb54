//! How often a worker searches queues that others attend: it takes their locks, and holds them up.

use crate::sync::CHECKED;
use core::cell::Cell;

/// Searches that are left out at most.
const MOST: u32 = if CHECKED { 0 } else { 63 };

/// Twice as many searches are left out each time that one was in vain.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Searches that are still to be left out.
    left: u32,
    /// Searches that were left out before the last one.
    before: u32,
}

impl Patience {
    /// Whether to search now.
    pub(crate) fn is_at_end(&mut self) -> bool {
        let is_at_end = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_at_end
    }

    /// It was in vain.
    pub(crate) fn grow(&mut self) {
        self.before = (2 * self.before + 1).min(MOST);
        self.left = self.before;
    }

    /// Much may have changed: the next search is not left out.
    pub(crate) fn end(&mut self) {
        self.left = 0;
    }

    /// It was not in vain.
    pub(crate) fn lose(&mut self) {
        *self = Self::default();
    }
}

/// How far queues had come when somebody looked last.
#[derive(Debug)]
pub(crate) struct Standstill(Box<[Cell<u64>]>);

impl Standstill {
    /// Of so many queues, at which nobody has looked.
    pub(crate) fn new(queues: usize) -> Self {
        Self((0..queues).map(|_| Cell::new(u64::MAX)).collect())
    }

    /// Whether `queue`, which has come to `head`, had come so far when this was asked last.
    pub(crate) fn is_at(&self, queue: usize, head: u64) -> bool {
        self.0[queue].replace(head) == head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many searches in vain, those that were not left out.
    fn searches(patience: &mut Patience, of: u32) -> Vec<u32> {
        let mut search = |_: &u32| {
            let is_at_end = patience.is_at_end();
            if is_at_end {
                patience.grow();
            }
            is_at_end
        };
        (0..of).filter(|index| search(index)).collect()
    }

    #[test]
    fn searches_in_vain_become_rare_but_never_cease() {
        let mut patience = Patience::default();
        assert_eq!(searches(&mut patience, 300), [0, 2, 6, 14, 30, 62, 126, 190, 254]);
        patience.end();
        assert_eq!(searches(&mut patience, 65), [0, 64]);
        patience.lose();
        assert_eq!(searches(&mut patience, 7), [0, 2, 6]);
    }

    #[test]
    fn a_queue_is_at_a_standstill_if_nothing_has_left_it_since_the_last_look() {
        let standstill = Standstill::new(2);
        assert!(!standstill.is_at(0, 7));
        assert!(standstill.is_at(0, 7));
        assert!(!standstill.is_at(1, 7), "nobody had looked at that one");
        assert!(!standstill.is_at(0, 8));
        assert!(standstill.is_at(0, 8));
    }
}
