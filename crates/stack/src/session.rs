//! Session objects: the stream-specific state of each layer, with its reference counter.
//!
//! On a packet's way up each layer's session counts the packet in; during the unwind it counts the
//! packet out again (Salehi 1994, §2.1). A [`Visit`] stands for the time in between: dropping it counts
//! the packet out. So no exit from the stack, not even a drop or a panicking application, leaves a
//! count behind.
//!
//! Invariant: a session's counter equals the number of packets inside the stack above it.

use crate::active_map::SessionId;
use crate::discipline::{Discipline, Guarded};
use alloc::vec::Vec;
use core::cell::Cell;

/// One session: its reference counter and its layer's state for the stream.
#[derive(Debug)]
pub(crate) struct Session<S> {
    references: Cell<u32>,
    state: S,
}

impl<S> Session<S> {
    fn new(state: S) -> Self {
        Self { references: Cell::new(0), state }
    }
}

/// All sessions of one layer, each on its own cache lines.
pub(crate) struct Sessions<D: Discipline, S> {
    slots: Vec<D::Guarded<Session<S>>>,
    /// Number of streams that use each slot; zero if the slot is vacant.
    streams: Vec<u32>,
    vacant: Vec<SessionId>,
}

impl<D: Discipline, S> Sessions<D, S> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), streams: Vec::new(), vacant: Vec::new() }
    }

    /// Opens a session with `state` for one stream.
    pub(crate) fn open(&mut self, state: S) -> SessionId {
        let session = D::Guarded::new(Session::new(state));
        if let Some(id) = self.vacant.pop() {
            self.slots[id as usize] = session;
            self.streams[id as usize] = 1;
            return id;
        }
        let id = SessionId::try_from(self.slots.len()).expect("a session index fits 32 bits");
        self.slots.push(session);
        self.streams.push(1);
        id
    }

    /// Adds a stream to the users of the session.
    pub(crate) fn share(&mut self, id: SessionId) {
        self.streams[id as usize] += 1;
    }

    /// Removes a stream from the users of the session. Returns true if it was the last, which closes
    /// the session.
    pub(crate) fn close(&mut self, id: SessionId) -> bool {
        let streams = &mut self.streams[id as usize];
        *streams -= 1;
        let last = *streams == 0;
        if last {
            self.vacant.push(id);
        }
        last
    }

    /// Counts a packet into session `id` and passes the session's state to `update`, in one access.
    ///
    /// Returns `None` if there is no such session.
    #[inline(always)]
    pub(crate) fn enter<R>(
        &self,
        id: SessionId,
        update: impl FnOnce(&S) -> R,
    ) -> Option<(Visit<'_, D, S>, R)> {
        let session = self.slots.get(id as usize)?;
        let result = session.with(|session| {
            session.references.set(session.references.get().wrapping_add(1));
            let counted = Counted(&session.references);
            let result = update(&session.state);
            core::mem::forget(counted);
            result
        });
        Some((Visit { session }, result))
    }

    /// Reads the state of session `id` without counting.
    pub(crate) fn read<R>(&self, id: SessionId, read: impl FnOnce(&S) -> R) -> Option<R> {
        self.slots.get(id as usize).map(|session| session.with(|session| read(&session.state)))
    }

    /// Packets now inside the stack above the sessions of this layer.
    pub(crate) fn references(&self) -> u64 {
        self.slots.iter().map(|slot| u64::from(slot.with(|session| session.references.get()))).sum()
    }

    pub(crate) fn iter_open(&self) -> impl Iterator<Item = SessionId> {
        self.streams.iter().zip(0..).filter(|(streams, _)| **streams > 0).map(|(_, id)| id)
    }
}

/// Counts a packet out if the session's update panics.
struct Counted<'a>(&'a Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().wrapping_sub(1));
    }
}

/// A packet's stay above one session; it ends when this is dropped.
#[must_use = "dropping it at once would count the packet out before it went up"]
pub(crate) struct Visit<'a, D: Discipline, S> {
    session: &'a D::Guarded<Session<S>>,
}

impl<D: Discipline, S> Drop for Visit<'_, D, S> {
    #[inline(always)]
    fn drop(&mut self) {
        self.session.with(|session| session.references.set(session.references.get().wrapping_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::{SpinLocked, Unshared};

    fn a_visit_counts_in_and_out<D: Discipline>() {
        let mut sessions = Sessions::<D, ()>::new();
        let id = sessions.open(());
        let outer = sessions.enter(id, |()| ());
        let inner = sessions.enter(id, |()| ());
        assert_eq!(sessions.references(), 2);
        drop(inner);
        assert_eq!(sessions.references(), 1);
        drop(outer);
        assert_eq!(sessions.references(), 0);
        assert!(sessions.enter(id + 1, |()| ()).is_none());
    }

    #[test]
    fn a_visit_counts_in_and_out_under_both_disciplines() {
        a_visit_counts_in_and_out::<Unshared>();
        a_visit_counts_in_and_out::<SpinLocked>();
    }

    #[test]
    fn a_session_closes_with_its_last_stream_and_its_slot_is_used_again() {
        let mut sessions = Sessions::<Unshared, u8>::new();
        let shared = sessions.open(1);
        sessions.share(shared);
        assert!(!sessions.close(shared));
        assert!(sessions.close(shared));
        assert_eq!(sessions.open(2), shared);
        assert_eq!(sessions.read(shared, |state| *state), Some(2));
    }

    #[test]
    fn two_sessions_share_no_cache_line() {
        let mut sessions = Sessions::<SpinLocked, u8>::new();
        sessions.open(1);
        sessions.open(2);
        let line = |id: usize| core::ptr::from_ref(&sessions.slots[id]).addr() / 64;
        assert_ne!(line(0), line(1));
    }
}
