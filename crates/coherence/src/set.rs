//! Sets of nodes and of a node's processors, one word each.

use core::fmt;
use warmcore_units::{CpuId, NodeId};

macro_rules! set {
    ($(#[$doc:meta])* $name:ident, $id:ident) => {
        $(#[$doc])*
        ///
        /// Holds identifiers below [`CAPACITY`](Self::CAPACITY); transitions refuse others before they use a set.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u64);

        impl $name {
            /// How many identifiers there can be: they are below this.
            pub const CAPACITY: u32 = u64::BITS;

            /// The set without members.
            pub const EMPTY: Self = Self(0);

            /// The set of `member` alone; empty if it is not below [`CAPACITY`](Self::CAPACITY).
            #[must_use]
            pub const fn just(member: $id) -> Self {
                Self(if member.0 < Self::CAPACITY { 1 << member.0 } else { 0 })
            }

            /// Whether there is no member.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// How many members there are.
            #[must_use]
            pub const fn len(self) -> u32 {
                self.0.count_ones()
            }

            /// Whether `id` is a member.
            #[must_use]
            pub const fn contains(self, id: $id) -> bool {
                self.0 & Self::just(id).0 != 0
            }

            /// This set and `member`.
            #[must_use]
            pub const fn with(self, member: $id) -> Self {
                Self(self.0 | Self::just(member).0)
            }

            /// This set without `member`.
            #[must_use]
            pub const fn without(self, member: $id) -> Self {
                Self(self.0 & !Self::just(member).0)
            }

            /// The members of either.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// The lowest member.
            #[must_use]
            pub const fn first(self) -> Option<$id> {
                if self.0 == 0 { None } else { Some($id(self.0.trailing_zeros())) }
            }

            /// The lowest member above `id`; the lowest of all if none is.
            #[must_use]
            pub fn next_after(self, id: $id) -> Option<$id> {
                let above = u64::MAX.checked_shl(id.0.saturating_add(1)).unwrap_or(0);
                Self(self.0 & above).first().or(self.first())
            }

            /// The members, in ascending order.
            pub fn iter(self) -> impl Iterator<Item = $id> {
                let mut rest = self;
                core::iter::from_fn(move || {
                    let first = rest.first()?;
                    rest = rest.without(first);
                    Some(first)
                })
            }
        }

        impl FromIterator<$id> for $name {
            /// The identifiers below [`CAPACITY`](Self::CAPACITY).
            fn from_iter<T: IntoIterator<Item = $id>>(ids: T) -> Self {
                ids.into_iter().fold(Self::EMPTY, Self::with)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_set().entries(self.iter().map(|id| id.0)).finish()
            }
        }
    };
}

set!(
    /// Nodes of a cluster.
    NodeSet, NodeId
);
set!(
    /// Processors of one node.
    CpuSet, CpuId
);

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[u32]) -> NodeSet {
        ids.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn members_come_in_ascending_order() {
        let set = nodes(&[63, 0, 17, 17]);
        assert_eq!(set.iter().collect::<alloc::vec::Vec<_>>(), [0, 17, 63].map(NodeId));
        assert_eq!((set.len(), set.first(), set.is_empty()), (3, Some(NodeId(0)), false));
        assert_eq!(set.without(NodeId(0)).without(NodeId(5)), nodes(&[17, 63]));
        assert_eq!(set.union(nodes(&[1])), nodes(&[0, 1, 17, 63]));
        assert_eq!(alloc::format!("{set:?}"), "{0, 17, 63}");
    }

    #[test]
    fn the_next_member_comes_round() {
        let set = nodes(&[2, 40, 63]);
        let next = [0, 2, 40, 62, 63, 64, u32::MAX].map(|id| set.next_after(NodeId(id)).map(|next| next.0));
        assert_eq!(next, [Some(2), Some(40), Some(63), Some(63), Some(2), Some(2), Some(2)]);
        assert_eq!(NodeSet::EMPTY.next_after(NodeId(3)), None);
    }

    #[test]
    fn what_is_beyond_the_capacity_is_no_member() {
        let beyond = CpuId(CpuSet::CAPACITY);
        assert_eq!(CpuSet::just(beyond), CpuSet::EMPTY);
        assert_eq!(CpuSet::just(CpuId(5)).with(beyond).without(beyond), CpuSet::just(CpuId(5)));
        assert!(!CpuSet::just(CpuId(0)).contains(beyond));
    }
}
