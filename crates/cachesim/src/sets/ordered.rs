//! Sets whose words stand in order: of last use (LRU) or of arrival (FIFO). The last makes way.

use super::{Access, EMPTY, HIT, miss};

/// Accesses `line` in a `set` in order of last use. The search carries what it passes one place back, so that it ends with
/// the line in front, and with the word that falls off the end if the line was nowhere.
pub(super) fn lru(set: &mut [u64], line: u64, changed: u64) -> Access {
    let mut carried = line << 1 | changed;
    for place in 0..set.len() {
        let passed = std::mem::replace(&mut set[place], carried);
        if passed >> 1 == line {
            set[0] |= passed & 1;
            return HIT;
        }
        carried = passed;
    }
    miss(carried)
}

/// Accesses `line`, which was `found` there, in a `set` in order of arrival.
pub(super) fn fifo(set: &mut [u64], found: Option<usize>, line: u64, changed: u64) -> Access {
    if let Some(way) = found {
        set[way] |= changed;
        return HIT;
    }
    set.rotate_right(1);
    let victim = std::mem::replace(&mut set[0], line << 1 | changed);
    debug_assert!(victim == EMPTY || victim >> 1 != line);
    miss(victim)
}
