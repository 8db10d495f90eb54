//! How caches lose lines, and where what was changed goes.

use super::{Hierarchy, last_byte};
use crate::observe::{Loss, Observer, Reason};
use crate::sets::unpack;
use crate::{CacheId, Owner, Reference};
use warmcore_units::CpuId;

impl<O: Observer> Hierarchy<O> {
    /// The word `victim` made way in the cache `at` for the line `by`.
    #[inline]
    pub(super) fn displaced(&mut self, at: u32, victim: u64, by: u64, owner: Owner) {
        let Some((line, changed)) = unpack(victim) else { return };
        let cache = &mut self.caches[at as usize];
        cache.counts.displaced += 1;
        let alone = cache.subject.is_empty();
        self.observer.lost(&Loss { cache: CacheId(at), line, reason: Reason::Displaced { by, owner } });
        if changed || !alone {
            self.went(at, line, changed);
        }
    }

    /// The cache `at` no longer holds `line`: those subject to it may not either, and what was `changed` has
    /// to be kept further away.
    #[inline(never)]
    fn went(&mut self, at: u32, line: u64, mut changed: bool) {
        let bits = self.caches[at as usize].line_bits;
        for index in 0..self.caches[at as usize].subject.len() {
            let subject = self.caches[at as usize].subject[index];
            changed |= self.remove(subject, line << bits, last_byte(line, bits), Reason::Excluded);
        }
        if changed {
            self.write_back(at, line);
        }
    }

    /// Removes the lines from byte `first` to `last` from the cache `at`. Tells whether one had been changed.
    fn remove(&mut self, at: u32, first: u64, last: u64, reason: Reason) -> bool {
        let cache = &mut self.caches[at as usize];
        let mut any_changed = false;
        for line in first >> cache.line_bits..=last >> cache.line_bits {
            if let Some(changed) = cache.sets.remove(line) {
                any_changed |= changed;
                let excluded = u64::from(reason == Reason::Excluded);
                cache.counts.excluded += excluded;
                cache.counts.invalidated += 1 - excluded;
                self.observer.lost(&Loss { cache: CacheId(at), line, reason });
            }
        }
        any_changed
    }

    /// Notes in the next cache that has it that `line` of the cache `at` was changed; if none has it, memory is written
    /// to. It is no access: it makes no room and counts as no use.
    fn write_back(&mut self, at: u32, line: u64) {
        let cache = &mut self.caches[at as usize];
        cache.counts.written_back += 1;
        let address = line << cache.line_bits;
        let mut next = cache.below;
        while let Some(cache) = self.caches.get_mut(next as usize) {
            if !cache.through && cache.sets.mark_changed(address >> cache.line_bits) {
                return;
            }
            next = cache.below;
        }
        self.memory.writes += 1;
    }

    /// Removes what `cpu` is about to write to from the data caches that it does not read through.
    #[inline(never)]
    pub(super) fn invalidate_others(&mut self, cpu: CpuId, store: &Reference) {
        let reason = Reason::Invalidated { owner: store.owner };
        for index in 0..self.cpus[cpu.index()].foreign.len() {
            let at = self.cpus[cpu.index()].foreign[index];
            let bits = self.caches[at as usize].line_bits;
            for line in store.address >> bits..=store.last() >> bits {
                if self.remove(at, line << bits, last_byte(line, bits), reason) {
                    self.write_back(at, line);
                }
            }
        }
    }

    /// Empties `cache` and those subject to it: what was changed goes further away.
    ///
    /// # Panics
    /// If there is no such cache.
    pub fn empty(&mut self, cache: CacheId) {
        let emptied = &mut self.caches[cache.index()];
        let lines: Vec<(u64, bool)> = emptied.sets.lines().collect();
        emptied.sets.clear();
        for (line, changed) in lines {
            self.observer.lost(&Loss { cache, line, reason: Reason::Flushed });
            self.went(cache.0, line, changed);
        }
    }

    /// Empties the caches that `cpu` shares with no other, nearest first: as if it had been off, or had run something
    /// very large.
    ///
    /// # Panics
    /// If the description has no cache for `cpu`.
    pub fn flush(&mut self, cpu: CpuId) {
        for index in 0..self.processor(cpu).own.len() {
            self.empty(self.cpus[cpu.index()].own[index]);
        }
    }
}
