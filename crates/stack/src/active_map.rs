//! The active map: a protocol's open sessions, found by fields of the packet's header.
//!
//! Salehi, Kurose & Towsley 1994, §2.1: "each protocol active map is implemented as a hash table
//! indexed by a key composed primarily of specific fields from the packet header", with a
//! history of the most recent lookup.
//!
//! Invariant: **the history is written if and only if a lookup found another session than the lookup
//! before it**. Categories 3 and 4 of §5 are the cost of just that write, without and with a migration
//! of its cache line.
//!
//! Placement: lock, history and table each have their own cache lines. A packet of an unchanged stream
//! only reads the history, so the history's line stays in every reader's cache while the lock's line
//! migrates (experiment B1 in contrast to B3).

use core::cell::Cell;
use core::hash::Hash;
use crossbeam_utils::CachePadded;
use hashbrown::HashMap;

/// Index of a session among the sessions of its layer.
pub(crate) type SessionId = u32;

/// The open sessions of one protocol, by key.
pub(crate) struct ActiveMap<K> {
    history: CachePadded<Cell<Option<(K, SessionId)>>>,
    table: CachePadded<HashMap<K, SessionId>>,
}

impl<K: Copy + Eq + Hash> ActiveMap<K> {
    pub(crate) fn new() -> Self {
        Self { history: CachePadded::new(Cell::new(None)), table: CachePadded::new(HashMap::new()) }
    }

    /// Finds the session of `key`: in the history if the last lookup was for the same key, else in the
    /// table. A lookup in the table rewrites the history.
    #[inline(always)]
    pub(crate) fn lookup(&self, key: K) -> Option<SessionId> {
        match self.history.get() {
            Some((last, session)) if last == key => Some(session),
            _ => self.look_up_table(key),
        }
    }

    /// The full lookup (category 3 of Table 2 in Salehi 1994).
    fn look_up_table(&self, key: K) -> Option<SessionId> {
        let session = *self.table.get(&key)?;
        self.history.set(Some((key, session)));
        Some(session)
    }

    /// Finds the session of `key` without changing the history.
    pub(crate) fn peek(&self, key: K) -> Option<SessionId> {
        self.table.get(&key).copied()
    }

    pub(crate) fn bind(&mut self, key: K, session: SessionId) {
        self.table.insert(key, session);
    }

    /// Removes the session of `key`, from the history too.
    pub(crate) fn unbind(&mut self, key: K) {
        self.table.remove(&key);
        if self.history.get().is_some_and(|(last, _)| last == key) {
            self.history.set(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(map: &ActiveMap<u64>) -> Option<(u64, SessionId)> {
        map.history.get()
    }

    #[test]
    fn the_history_holds_the_last_lookup_that_found_a_session() {
        let mut map = ActiveMap::new();
        map.bind(10, 0);
        map.bind(20, 1);
        assert_eq!(history(&map), None, "binding is no lookup");
        assert_eq!(map.lookup(10), Some(0));
        assert_eq!(history(&map), Some((10, 0)));
        assert_eq!(map.lookup(20), Some(1));
        assert_eq!(history(&map), Some((20, 1)));
        assert_eq!(map.lookup(30), None);
        assert_eq!(history(&map), Some((20, 1)), "a failed lookup leaves the history");
        assert_eq!(map.peek(10), Some(0));
        assert_eq!(history(&map), Some((20, 1)), "peeking leaves the history");
    }

    #[test]
    fn an_unbound_session_is_found_neither_in_the_history_nor_in_the_table() {
        let mut map = ActiveMap::new();
        map.bind(10, 0);
        map.lookup(10);
        map.unbind(10);
        assert_eq!(map.lookup(10), None);
    }

    #[test]
    fn history_and_table_lie_on_different_cache_lines() {
        let map = ActiveMap::<u64>::new();
        let line = |address: usize| address / 64;
        let history = core::ptr::from_ref(&map.history).addr();
        let table = core::ptr::from_ref(&map.table).addr();
        assert_ne!(line(history), line(table));
        assert_eq!(align_of_val(&map) % 64, 0);
    }
}
