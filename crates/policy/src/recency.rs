//! A set of members of `0..n`, in the order in which they were added. Adding, removing any member and
//! finding either end take constant time for every `n`.

mod linked;
mod packed;

use alloc::boxed::Box;
use linked::Linked;
use packed::{CAPACITY, Packed};

/// A subset of `0..n`, ordered from the least to the most recently added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recency(Order);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Order {
    Packed(Packed),
    Linked(Box<Linked>),
}

impl Recency {
    /// An empty set of members of `0..n`.
    ///
    /// # Panics
    /// If `n` is `u32::MAX`.
    #[must_use]
    pub fn empty(n: u32) -> Self {
        Self(if n <= CAPACITY {
            Order::Packed(Packed::EMPTY)
        } else {
            Order::Linked(Box::new(Linked::empty(n)))
        })
    }

    /// All of `0..n`, added in ascending order.
    #[must_use]
    pub fn filled(n: u32) -> Self {
        let mut order = Self::empty(n);
        (0..n).for_each(|member| order.push(member));
        order
    }

    /// Whether `member` is in the set.
    #[must_use]
    #[inline]
    pub fn contains(&self, member: u32) -> bool {
        match &self.0 {
            Order::Packed(order) => order.contains(member),
            Order::Linked(order) => order.contains(member),
        }
    }

    /// Adds `member`, which must not be in the set, as the most recent.
    #[inline]
    pub fn push(&mut self, member: u32) {
        debug_assert!(!self.contains(member));
        match &mut self.0 {
            Order::Packed(order) => order.push(member),
            Order::Linked(order) => order.push(member),
        }
    }

    /// Removes `member`, which must be in the set.
    #[inline]
    pub fn remove(&mut self, member: u32) {
        debug_assert!(self.contains(member));
        match &mut self.0 {
            Order::Packed(order) => order.remove(member),
            Order::Linked(order) => order.remove(member),
        }
    }

    /// The member added last.
    #[must_use]
    #[inline]
    pub fn newest(&self) -> Option<u32> {
        match &self.0 {
            Order::Packed(order) => order.newest(),
            Order::Linked(order) => order.newest(),
        }
    }

    /// The member added first.
    #[must_use]
    #[inline]
    pub fn oldest(&self) -> Option<u32> {
        match &self.0 {
            Order::Packed(order) => order.oldest(),
            Order::Linked(order) => order.oldest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a vector, in both representations: ends and membership are always the same.
        #[test]
        fn agrees_with_a_vector(
            n in prop::sample::select(vec![1, 6, 15, 16, 20]),
            steps in prop::collection::vec(0_u32..20, 0..200),
        ) {
            let (mut order, mut vector) = (Recency::empty(n), Vec::new());
            for member in steps.into_iter().map(|step| step % n) {
                if order.contains(member) {
                    order.remove(member);
                    vector.retain(|&other| other != member);
                } else {
                    order.push(member);
                    vector.push(member);
                }
                prop_assert_eq!(order.newest(), vector.last().copied());
                prop_assert_eq!(order.oldest(), vector.first().copied());
                for other in 0..n {
                    prop_assert_eq!(order.contains(other), vector.contains(&other));
                }
            }
        }
    }
}
