//! Running what is claimed: one event after the other, or those of a key together.

use super::{Claim, Queue};
use crate::label::{NOTHING, Seen};

impl Claim {
    /// The position of the event that runs as the `index`-th.
    #[inline(always)]
    fn turn(&self, index: usize) -> u64 {
        if self.order.is_empty() { self.position(index) } else { self.order[index] }
    }
}

impl<K: Eq, E> Queue<K, E> {
    /// Runs what is left of `claim` in order; if `run` panics, it goes on with the next if it is called
    /// again. An event that is not in the queue is `None`.
    #[inline]
    pub(crate) fn run(&self, claim: &mut Claim, mut run: impl FnMut(u64, Seen<'_, K, E>, Option<E>)) {
        while claim.next < claim.length {
            let position = claim.position(claim.next);
            claim.next += 1;
            // SAFETY: the position is claimed, and this worker comes here once for each position.
            let (label, event) = unsafe { self.claimed(position) };
            run(position, label, event);
        }
    }

    /// The same for a claim that [is keyed](Claim::is_keyed), with as little as possible between one event and
    /// the next: the shorter that is, the more of the next handler a processor does ahead.
    #[inline]
    pub(crate) fn run_keyed(&self, claim: &mut Claim, mut run: impl FnMut(u64, &K, E)) {
        debug_assert!(claim.keyed);
        let (start, length) = (claim.start + claim.next as u64, claim.length - claim.next);
        let each = |position, key: &K, event| {
            claim.next += 1;
            run(position, key, event);
        };
        // SAFETY: the positions are claimed until this returns, have keys, and this worker comes here once for each.
        unsafe { self.ring.take_keyed(start, length, each) };
    }

    /// Runs what is left of `claim` key by key, and in order for each: `gather` is called with each event
    /// of a key, and then `run` for all of these. If one of them panics, it goes on with the next key if it
    /// is called again.
    pub(crate) fn run_by_key(
        &self,
        claim: &mut Claim,
        mut gather: impl FnMut(u64, Seen<'_, K, E>, Option<E>),
        mut run: impl FnMut(Seen<'_, K, E>),
    ) {
        if claim.next == 0 {
            self.order_by_key(claim);
        }
        while claim.next < claim.length {
            let first = claim.turn(claim.next);
            while claim.next < claim.length && self.is_alike(first, claim.turn(claim.next)) {
                let position = claim.turn(claim.next);
                claim.next += 1;
                // SAFETY: as in `run`.
                let (label, event) = unsafe { self.claimed(position) };
                gather(position, label, event);
            }
            // SAFETY: the position is claimed.
            run(unsafe { self.ring.label(first) });
        }
    }

    /// The events of `claim`, none of which has run, with their keys; not those that are kept elsewhere.
    pub(crate) fn look<'a>(&'a self, claim: &'a Claim) -> impl Iterator<Item = (Option<&'a K>, &'a E)> {
        debug_assert_eq!(claim.next, 0);
        (0..claim.length).filter_map(move |index| {
            let position = claim.position(index);
            // SAFETY: it is claimed, and stays so as long as the claim is borrowed.
            let label = unsafe { self.ring.label(position) };
            // SAFETY: as above; nobody else takes it, and this worker needs the claim for that.
            let event = label.is_plain().then(|| unsafe { self.ring.event(position) })?;
            Some((label.key().first(), event))
        })
    }

    /// The label of the event that was run last.
    pub(crate) fn last_label<'a>(&'a self, claim: &'a Claim) -> Option<Seen<'a, K, E>> {
        let position = claim.turn(claim.next.checked_sub(1)?);
        // SAFETY: the position is claimed, and stays so as long as the claim is borrowed.
        Some(unsafe { self.ring.label(position) })
    }

    /// What is at `position`.
    ///
    /// # Safety
    /// It is claimed, stays so as long as the label is used, and nobody has taken its event or will.
    #[inline(always)]
    unsafe fn claimed(&self, position: u64) -> (Seen<'_, K, E>, Option<E>) {
        // SAFETY: what is claimed is published and not freed.
        let label = unsafe { self.ring.label(position) };
        // SAFETY: as above; its label is plain, and nobody else takes it.
        (label, label.is_plain().then(|| unsafe { self.ring.take(position) }))
    }

    /// Sorts what is claimed by key; different keys with the same tag may alternate.
    fn order_by_key(&self, claim: &mut Claim) {
        claim.order = (0..claim.length).map(|index| claim.position(index)).collect();
        claim.order.sort_unstable_by_key(|&position| {
            // SAFETY: it is claimed.
            let label = unsafe { self.ring.label(position) };
            (label.keys().next().map_or(NOTHING, |key| key.tag), position)
        });
    }

    /// Whether the events at two claimed positions have the same key, or none.
    fn is_alike(&self, one: u64, other: u64) -> bool {
        // SAFETY: both are claimed.
        match unsafe { (self.ring.label(one), self.ring.label(other)) } {
            (Seen::Key(one), Seen::Key(other)) => one.is(&other),
            (one, other) => one.key().is_empty() && other.key().is_empty(),
        }
    }
}
