//! The cache hierarchy as the execution-time model uses it: one unified cache per level.

use crate::{Cache, CacheKind, Geometry, Machine};
use serde::{Deserialize, Serialize};
use warmcore_units::{Bytes, CpuId};

/// All caches of one level in a cpu's path to memory, treated as one.
///
/// A level that is split into an instruction and a data cache is treated as a single cache of their total
/// size, "under the assumption that the reference stream is split approximately between the two" (Salehi,
/// Kurose & Towsley 1994, §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnifiedLevel {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Size and organisation; for a split level, see [`Machine::unified_levels`].
    pub geometry: Geometry,
    /// How many physical cores of the visible machine share it; 1 is private.
    pub cores: usize,
}

impl UnifiedLevel {
    /// Whether only one core uses this level. In a shared level, the work of all its cores displaces lines.
    #[must_use]
    pub const fn is_private(&self) -> bool {
        self.cores == 1
    }
}

impl Machine {
    /// The cache levels between `cpu` and memory, nearest first, each as one unified cache; empty if no cache
    /// is known.
    ///
    /// A split level has the total size of both halves, the line size of the data half, and as many sets as
    /// the halves have together; the number of ways follows, rounded to an integer. So the two direct-mapped
    /// 16 KiB caches of Salehi 1994 become one direct-mapped cache of 32 KiB.
    #[must_use]
    pub fn unified_levels(&self, cpu: CpuId) -> Vec<UnifiedLevel> {
        let mut levels: Vec<u32> = self.data_caches(cpu).map(|cache| cache.level).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().filter_map(|level| self.unified_level(cpu, level)).collect()
    }

    fn unified_level(&self, cpu: CpuId, level: u32) -> Option<UnifiedLevel> {
        let parts: Vec<&Cache> = self
            .caches
            .iter()
            .filter(|cache| cache.level == level && cache.shared_by.contains(cpu))
            .collect();
        let data = parts.iter().find(|cache| cache.kind != CacheKind::Instruction)?;
        let geometry = match parts.as_slice() {
            [only] => only.geometry,
            _ => unify(data.geometry, &parts),
        };
        let cores = parts.iter().map(|cache| self.cores_sharing(cache)).max()?;
        Some(UnifiedLevel { level, geometry, cores })
    }

    /// How many physical cores share `cache`: hardware threads of one core count once.
    #[must_use]
    pub fn cores_sharing(&self, cache: &Cache) -> usize {
        self.one_cpu_per_core(self.cpus.iter().filter(|cpu| cache.shared_by.contains(cpu.id))).len()
    }
}

/// Combines the halves of a split level into one cache with the line size of the `data` half.
fn unify(data: Geometry, parts: &[&Cache]) -> Geometry {
    let size = Bytes(parts.iter().map(|cache| cache.geometry.size.0).sum());
    let sets: u64 = parts.iter().map(|cache| cache.geometry.sets()).sum();
    let lines = size.0 / data.line.0;
    let ways = (lines + sets / 2).checked_div(sets).and_then(|ways| u32::try_from(ways).ok());
    Geometry { size, line: data.line, ways: ways.unwrap_or(data.ways).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_split_first_level_of_the_challenge_becomes_32_kib_as_in_salehi_1994() {
        let levels = synthetic::sgi_challenge_xl(8).unified_levels(CpuId(3));
        let direct_mapped = |kib, line| Geometry { size: Bytes::kib(kib), line: Bytes(line), ways: 1 };
        assert_eq!(
            levels,
            [
                UnifiedLevel { level: 1, geometry: direct_mapped(32, 32), cores: 1 },
                UnifiedLevel { level: 2, geometry: direct_mapped(1024, 128), cores: 1 },
            ]
        );
    }

    #[test]
    fn halves_of_unequal_ways_keep_their_sets() {
        // Both 48 KiB in 12 ways and 32 KiB in 8 ways have 64 sets.
        let levels = synthetic::hybrid_laptop().unified_levels(CpuId(0));
        assert_eq!(levels[0].geometry, Geometry { size: Bytes::kib(80), line: Bytes(64), ways: 10 });
        assert_eq!(levels[0].geometry.sets(), 128);
    }

    #[test]
    fn sharing_is_counted_in_cores_and_not_in_hardware_threads() {
        let laptop = synthetic::hybrid_laptop();
        let cores = |cpu| laptop.unified_levels(CpuId(cpu)).iter().map(|l| l.cores).collect::<Vec<_>>();
        assert_eq!(cores(0), [1, 1, 12], "a performance core has two threads and shares only the last level");
        assert_eq!(cores(8), [1, 4, 12], "an efficiency core shares its second level with its cluster");
        assert!(laptop.unified_levels(CpuId(0))[1].is_private());
    }

    #[test]
    fn a_machine_without_cache_information_has_no_levels() {
        let mut machine = synthetic::virtual_machine(2);
        machine.caches.clear();
        assert!(machine.unified_levels(CpuId(0)).is_empty());
    }
}
