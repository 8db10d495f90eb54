//! When each of a few processors is free, and which of them a packet takes.

use super::service::UNUSED;
use crate::completions::FEW;
use warmcore_units::{CpuId, Nanos};

/// The bits of a key that hold the processor's number.
const NAME: u64 = FEW as u64 - 1;

/// A key for each processor: the bits of the time at which it is free, with its number in the last bits, which times
/// [on the clock](crate::completions::on_clock) leave free. Keys compare like the order in which processors become
/// idle: of equal times, the lower number comes first. A processor that was never used was idle before all others.
///
/// The key set last is kept apart. It is known only when the service of the latest packet is, but that processor is hardly
/// ever the next to be chosen: with a branch to say so, the choice need not wait for it.
pub(super) struct Processors {
    /// By processor; [`NO_KEY`] for the latest, and if there is no such processor.
    keys: [u64; FEW],
    latest: Key,
    /// By processor, the latest too, for those who know which one they want.
    all: [u64; FEW],
}

const NO_KEY: u64 = u64::MAX;

/// When a processor is free, and its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    /// The key of no processor: later than any other.
    pub(super) const NONE: Self = Self(NO_KEY);

    /// `cpu` is free from `free` on, which must be on the clock.
    #[inline(always)]
    pub(super) const fn new(cpu: CpuId, free: Nanos) -> Self {
        Self(free.0.to_bits() | cpu.0 as u64)
    }

    /// The key as a number.
    #[inline(always)]
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// The processor.
    #[inline(always)]
    pub(super) const fn cpu(self) -> CpuId {
        CpuId((self.0 & NAME) as u32)
    }

    /// When it is free.
    #[inline(always)]
    pub(super) const fn free(self) -> Nanos {
        if self.0 <= NAME { UNUSED } else { Nanos(f64::from_bits(self.0 & !NAME)) }
    }

    /// Whether it is idle at `now`: of events at the same time, completions come before arrivals.
    #[inline(always)]
    pub(super) const fn is_idle(self, now: Nanos) -> bool {
        self.0 <= now.0.to_bits() | NAME
    }
}

impl Processors {
    /// So many processors, at most [`FEW`], that have run nothing.
    pub(super) fn unused(processors: u32) -> Self {
        let key = |cpu| if cpu < processors as usize { cpu as u64 } else { NO_KEY };
        let all = core::array::from_fn(key);
        let mut keys = all;
        let latest = Key(core::mem::replace(&mut keys[0], NO_KEY));
        Self { keys, latest, all }
    }

    #[inline(always)]
    pub(super) const fn key(&self, cpu: CpuId) -> Key {
        Key(self.all[cpu.index() % FEW])
    }

    /// The processor that is free first, which is the least recently used of those that are idle.
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        let first = least(self.keys);
        if self.latest.0 < first.0 {
            core::hint::cold_path();
            return self.latest;
        }
        first
    }

    /// The most recently used of the processors that are idle at `now`; the first to be free if none is.
    #[inline(always)]
    pub(super) fn most_recent(&self, now: Nanos) -> Key {
        if self.latest.is_idle(now) {
            core::hint::cold_path();
            return self.most_recent_of_all(now);
        }
        let first = least(self.keys);
        if first.is_idle(now) {
            return greatest_idle(self.keys, now);
        }
        if self.latest.0 < first.0 {
            core::hint::cold_path();
            return self.latest;
        }
        first
    }

    #[cold]
    fn most_recent_of_all(&self, now: Nanos) -> Key {
        Key(greatest_idle(self.keys, now).0.max(self.latest.0))
    }

    /// `cpu` is now free from `free` on, which must be on the clock.
    #[inline(always)]
    pub(super) const fn set(&mut self, cpu: CpuId, free: Nanos) {
        self.keys[self.latest.cpu().index()] = self.latest.0;
        self.keys[cpu.index() % FEW] = NO_KEY;
        self.latest = Key::new(cpu, free);
        self.all[cpu.index() % FEW] = self.latest.0;
    }

    /// When each is free.
    pub(super) fn free(&self) -> impl Iterator<Item = Nanos> {
        self.all.into_iter().filter(|&key| key != NO_KEY).map(|key| Key(key).free())
    }
}

/// The least of the keys.
#[inline(always)]
pub(super) fn least([a, b, c, d, e, f, g, h]: [u64; FEW]) -> Key {
    Key(a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h))))
}

/// The greatest of the keys that are idle at `now`; 0 if none is.
#[inline(always)]
fn greatest_idle(keys: [u64; FEW], now: Nanos) -> Key {
    let [a, b, c, d, e, f, g, h] = keys.map(|key| if Key(key).is_idle(now) { key } else { 0 });
    Key(a.max(b).max(c.max(d)).max(e.max(f).max(g.max(h))))
}
