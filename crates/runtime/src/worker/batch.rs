//! The packets that a worker got with one decision. It processes them one after another.

use crate::packet::Packet;
use crate::scheduler::Assignment;
use warmcore_units::Nanos;

/// Most packets of a batch.
pub(crate) const MAX_BATCH: usize = 32;

/// Assignments to one stack and one protocol thread, in the order in which they are processed.
#[derive(Default)]
pub(super) struct Batch {
    assignments: Vec<Assignment>,
    /// When each of the packets that were processed ended.
    ended: Vec<Nanos>,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { assignments: Vec::with_capacity(MAX_BATCH), ended: Vec::with_capacity(MAX_BATCH) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.assignments.len()
    }

    /// Whether all packets were processed.
    #[inline]
    pub(super) fn is_processed(&self) -> bool {
        self.ended.len() == self.assignments.len()
    }

    /// The assignments, for adding some.
    #[inline]
    pub(super) fn assignments_mut(&mut self) -> &mut Vec<Assignment> {
        &mut self.assignments
    }

    /// The packet that is processed last.
    #[inline]
    pub(super) fn last(&self) -> Option<&Assignment> {
        self.assignments.last()
    }

    /// The packets that are still to be processed.
    #[inline]
    pub(super) fn upcoming(&self) -> &[Assignment] {
        &self.assignments[self.ended.len()..]
    }

    /// The next packets ended at these times.
    #[inline]
    pub(super) fn end_next(&mut self, at: impl Iterator<Item = Nanos>) {
        self.ended.extend(at);
    }

    /// The packets that were processed, with their end times.
    #[inline]
    pub(super) fn processed(&self) -> impl ExactSizeIterator<Item = (&Assignment, Nanos)> {
        self.assignments.iter().zip(self.ended.iter().copied())
    }

    /// Empties the batch, and passes on its packets.
    #[inline]
    pub(super) fn clear(&mut self, mut each: impl FnMut(Packet)) {
        self.ended.clear();
        self.assignments.drain(..).for_each(|assignment| each(assignment.packet));
    }
}
