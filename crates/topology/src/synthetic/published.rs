//! Machines described in papers.

use super::{Draft, geometry};
use crate::{CacheKind, Machine};

/// The SGI Challenge XL with `processors` 100 MHz R4400s: per processor a direct-mapped 16 KiB
/// instruction and a 16 KiB data cache with 32-byte lines, and a private direct-mapped 1 MiB
/// unified second level with 128-byte lines (Salehi, Kurose & Towsley 1994, §4).
#[must_use]
pub fn sgi_challenge_xl(processors: u32) -> Machine {
    let mut draft = Draft::new("SGI Challenge XL", processors);
    for cpu in &mut draft.cpus {
        cpu.package = cpu.id.0;
    }
    let each = draft.cores();
    draft
        .cache(1, CacheKind::Data, geometry(16, 32, 1), each.clone())
        .cache(1, CacheKind::Instruction, geometry(16, 32, 1), each.clone())
        .cache(2, CacheKind::Unified, geometry(1024, 128, 1), each)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::CpuId;

    #[test]
    fn the_challenge_has_private_direct_mapped_caches() {
        let machine = sgi_challenge_xl(8);
        assert!(machine.caches.iter().all(|cache| machine.is_private(cache)));
        let sets: Vec<u64> = machine.data_caches(CpuId(3)).map(|cache| cache.geometry.sets()).collect();
        assert_eq!(sets, [512, 8192]);
        assert_eq!(machine.usable_cores().len(), 8);
    }
}
