//! Counts of frames: delivered, or dropped by reason.

use crate::drop_reason::DropReason;
use core::cell::Cell;
use core::ops::AddAssign;

/// Frames handed to a stack, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Frames whose payload was delivered to the application.
    pub delivered: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl Counters {
    /// Frames dropped for `reason`.
    #[must_use]
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason.index()]
    }

    /// Frames dropped for any reason.
    #[must_use]
    pub fn total_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Frames received, delivered or not.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.delivered + self.total_dropped()
    }

    /// The reasons for which frames were dropped, each with its count.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().zip(self.dropped).filter(|(_, count)| *count > 0)
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.delivered += other.delivered;
        for (count, more) in self.dropped.iter_mut().zip(other.dropped) {
            *count += more;
        }
    }
}

/// The drops of one stack. Delivered packets are counted in their UDP session, whose cache line they
/// write anyway, so a good packet writes nothing here.
#[derive(Debug, Default)]
pub(crate) struct DropCounts([Cell<u64>; DropReason::ALL.len()]);

impl DropCounts {
    pub(crate) fn count(&self, reason: DropReason) {
        let count = &self.0[reason.index()];
        count.set(count.get() + 1);
    }

    pub(crate) fn with_delivered(&self, delivered: u64) -> Counters {
        Counters { delivered, dropped: self.0.each_ref().map(Cell::get) }
    }
}
