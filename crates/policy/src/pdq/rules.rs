//! What every parallel dispatch queue keeps to, whatever its design (Falsafi 1998, §2.3): pure functions of labels and ids.
//!
//! There is one rule of order. Events *conflict* if both touch a partition, or either touches everything; those that do are
//! handled one after the other in the order of their arrival, and all others may run beside each other and overtake.
//!
//! A design may tell fewer partitions apart than there are: those whose ids share a queue (§2.3.2), or the bits that are
//! kept of them (§2.3.3). It then orders more events than it must, never fewer.

/// What an event's handler touches, and so beside which others it may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Label {
    /// The partition with this id: runs after all earlier events of the partition, one at a time. Number partitions
    /// so that their low bits differ (memory blocks, not bytes): those choose queues and are kept of shortened ids.
    Partition(u64),
    /// Everything: runs alone, after all earlier events have ended and before any later one begins.
    Sequential,
    /// Nothing that another handler changes: runs beside all others but sequential ones, and may overtake.
    Unrestricted,
}

impl Label {
    /// The partitions that a handler of such an event touches.
    #[must_use]
    pub const fn touches(&self) -> Partitions<&[u64]> {
        match self {
            Self::Partition(id) => Partitions::Of(core::slice::from_ref(id)),
            Self::Sequential => Partitions::All,
            Self::Unrestricted => Partitions::Of(&[]),
        }
    }
}

/// The partitions that a handler touches, by their ids. In the thesis an event has one, none or all; it may have several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Partitions<I> {
    /// Those with these ids.
    Of(I),
    /// All of them.
    All,
}

impl<I: AsRef<[u64]>> Partitions<I> {
    /// Whether handlers of the two may not run beside each other, nor overtake.
    #[must_use]
    pub fn conflict<J: AsRef<[u64]>>(&self, other: &Partitions<J>) -> bool {
        match (self, other) {
            (Self::Of(these), Partitions::Of(those)) => {
                these.as_ref().iter().any(|id| those.as_ref().contains(id))
            }
            (Self::All, _) | (_, Partitions::All) => true,
        }
    }
}

/// Static demultiplexing (§2.3.2): which of `queues` is that of a partition. Where each thread has a queue for good, that is
/// the thread the partition is bound to.
///
/// # Panics
/// If there are no queues.
#[inline]
#[must_use]
pub const fn queue_of(id: u64, queues: usize) -> usize {
    (id % queues as u64) as usize
}

/// The bits of an id that are compared where only so many low ones are kept (§2.3.3); `None`: all.
#[must_use]
pub fn compared_bits(kept: Option<u32>) -> u64 {
    !kept.and_then(|bits| u64::MAX.checked_shl(bits)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_conflict_by_what_they_touch() {
        let [one, other] = [1, 2].map(Label::Partition);
        let conflict = |a: Label, b: Label| {
            assert_eq!(a.touches().conflict(&b.touches()), b.touches().conflict(&a.touches()));
            a.touches().conflict(&b.touches())
        };
        assert!(conflict(one, one) && !conflict(one, other));
        assert!(!conflict(Label::Unrestricted, one) && !conflict(Label::Unrestricted, Label::Unrestricted));
        assert!(
            [one, Label::Unrestricted, Label::Sequential].iter().all(|&a| conflict(a, Label::Sequential))
        );
        assert!(Partitions::Of([1, 3]).conflict(&Partitions::Of([2, 3])));
        assert!(!Partitions::Of([1, 3]).conflict(&Partitions::Of([2, 4])));
    }

    #[test]
    fn only_kept_bits_are_compared() {
        assert_eq!([None, Some(64), Some(70)].map(compared_bits), [u64::MAX; 3]);
        assert_eq!([Some(0), Some(3), Some(63)].map(compared_bits), [0, 7, u64::MAX >> 1]);
    }
}
