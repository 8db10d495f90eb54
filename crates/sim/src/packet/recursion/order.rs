//! Which idle processor a packet takes, where it may take any.

use super::processors::{Key, Processors};
use warmcore_units::{CpuId, Nanos};

/// The choice of an idle processor.
pub(super) trait Order {
    /// The processor that a packet takes at `now` whose home is `home`: an idle one, or the one that is free first.
    fn choose(processors: &Processors, home: CpuId, now: Nanos) -> Key;
}

/// The most recently used one.
pub(super) struct MostRecent;
/// The least recently used one.
pub(super) struct LeastRecent;
/// Its home, or the most recently used one.
pub(super) struct Home;

impl Order for MostRecent {
    #[inline(always)]
    fn choose(processors: &Processors, _home: CpuId, now: Nanos) -> Key {
        processors.most_recent(now)
    }
}

impl Order for LeastRecent {
    #[inline(always)]
    fn choose(processors: &Processors, _home: CpuId, _now: Nanos) -> Key {
        processors.first()
    }
}

impl Order for Home {
    #[inline(always)]
    fn choose(processors: &Processors, home: CpuId, now: Nanos) -> Key {
        let home = processors.key(home);
        if home.is_idle(now) { home } else { processors.most_recent(now) }
    }
}
