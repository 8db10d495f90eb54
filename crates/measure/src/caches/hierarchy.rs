//! The caches of the measuring processor, as far as walks and profile need them.

use crate::error::CalibrateError;
use warmcore_topology::{CacheKind, Machine, UnifiedLevel};
use warmcore_units::{Bytes, CpuId};

/// The caches in one processor's path to memory, nearest first.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Hierarchy {
    /// Each level as one unified cache.
    pub(crate) levels: Vec<UnifiedLevel>,
    /// Size of the data cache at each level.
    pub(crate) data: Vec<Bytes>,
    /// Size of the first instruction cache.
    pub(crate) instructions: Bytes,
    /// Bytes of a line of the first level.
    pub(crate) line: usize,
}

impl Hierarchy {
    /// The hierarchy of `cpu`.
    ///
    /// # Errors
    /// If its caches are unknown.
    pub(crate) fn new(machine: &Machine, cpu: CpuId) -> Result<Self, CalibrateError> {
        let levels = machine.unified_levels(cpu);
        let size_at = |level: &UnifiedLevel| {
            let data = machine.data_caches(cpu).find(|cache| cache.level == level.level);
            data.map_or(level.geometry.size, |cache| cache.geometry.size)
        };
        let data: Vec<Bytes> = levels.iter().map(size_at).collect();
        let Some(first) = levels.first() else { return Err(CalibrateError::NoCaches { cpu }) };
        let instructions = machine
            .caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Data && cache.shared_by.contains(cpu))
            .map(|cache| cache.geometry.size)
            .next()
            .unwrap_or(first.geometry.size);
        let line = usize::try_from(first.geometry.line.0).unwrap_or(64).clamp(16, 4096);
        Ok(Self { line, data, instructions, levels })
    }

    /// Number of levels, which equals the number of cold states, including the fully cold one.
    pub(crate) const fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The nearest level (from 0) that the first two of `cpus` share, if they share any.
    pub(crate) fn shared_level(&self, machine: &Machine, cpus: &[CpuId]) -> Option<usize> {
        let &[first, second, ..] = cpus else { return None };
        let shared = machine.data_caches(first).find(|cache| cache.shared_by.contains(second))?;
        self.levels.iter().position(|level| level.level == shared.level)
    }

    /// Name of the `index`-th level in reports; `memory` beyond the last.
    pub(crate) fn name(&self, index: usize) -> String {
        self.levels.get(index).map_or_else(|| "memory".to_owned(), |level| format!("L{}", level.level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_topology::synthetic;

    #[test]
    fn a_split_level_has_separate_sizes_for_data_and_instructions() {
        let hierarchy = Hierarchy::new(&synthetic::hybrid_laptop(), CpuId(0)).unwrap();
        assert_eq!((hierarchy.data[0], hierarchy.instructions), (Bytes::kib(48), Bytes::kib(32)));
        assert_eq!((hierarchy.line, hierarchy.depth()), (64, 3));
        assert_eq!((hierarchy.name(1), hierarchy.name(3)), ("L2".to_owned(), "memory".to_owned()));
    }

    #[test]
    fn the_nearest_shared_level_is_found() {
        let laptop = synthetic::hybrid_laptop();
        let hierarchy = Hierarchy::new(&laptop, CpuId(8)).unwrap();
        assert_eq!(hierarchy.shared_level(&laptop, &[CpuId(8), CpuId(9)]), Some(1));
        assert_eq!(hierarchy.shared_level(&laptop, &[CpuId(0), CpuId(8)]), Some(2));
        assert_eq!(hierarchy.shared_level(&laptop, &[CpuId(0)]), None);
        let challenge = synthetic::sgi_challenge_xl(8);
        assert_eq!(hierarchy.shared_level(&challenge, &[CpuId(0), CpuId(1)]), None);
    }

    #[test]
    fn without_caches_there_is_nothing_to_measure() {
        let mut machine = synthetic::virtual_machine(2);
        machine.caches.clear();
        assert!(matches!(
            Hierarchy::new(&machine, CpuId(0)),
            Err(CalibrateError::NoCaches { cpu: CpuId(0) })
        ));
    }
}
