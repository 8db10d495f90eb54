//! Tree-PLRU: a binary tree over the ways of a set, with a bit in each inner node that says in which half the next victim
//! is, 1 for the upper. Bit 1 is the root; the children of bit `n` are `2n` and `2n + 1`.

/// The way that the bits lead to.
pub(super) const fn victim(bits: u64, ways: usize) -> usize {
    let mut node = 1;
    while node < ways {
        node = 2 * node + (bits >> node & 1) as usize;
    }
    node - ways
}

/// The bits after `way` was used: all on its path point to the other half.
pub(super) const fn used(mut bits: u64, ways: usize, way: usize) -> u64 {
    let mut node = way + ways;
    while node > 1 {
        let parent = node / 2;
        if node.is_multiple_of(2) {
            bits |= 1 << parent;
        } else {
            bits &= !(1 << parent);
        }
        node = parent;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_two_ways_it_is_lru() {
        assert_eq!(victim(used(0, 2, 0), 2), 1);
        assert_eq!(victim(used(0, 2, 1), 2), 0);
    }

    #[test]
    fn with_four_ways_it_forgets_the_order_within_a_half() {
        // Used in this order: 0, 2, 1, 3. LRU would give up 0; the tree remembers that half {2, 3} was last, and 1 in the other.
        let bits = [0, 2, 1, 3].into_iter().fold(0, |bits, way| used(bits, 4, way));
        assert_eq!(victim(bits, 4), 0);
        // 0, 1, 2, 0: LRU would give up 3 or 1; the tree points to {2, 3} and there to 3.
        let bits = [3, 1, 2, 0].into_iter().fold(0, |bits, way| used(bits, 4, way));
        assert_eq!(victim(bits, 4), 3);
        // Last 0 and 2, so {0, 1} is to give up, and there 1, although 3 has rested longest.
        let bits = [3, 1, 0, 2].into_iter().fold(0, |bits, way| used(bits, 4, way));
        assert_eq!(victim(bits, 4), 1);
    }
}
