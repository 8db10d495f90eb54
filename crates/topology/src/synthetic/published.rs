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

/// The SGI POWER Station 4D/340: four 33 MHz R3000s, each with a 64 KiB instruction cache that misses go from to
/// memory, and two levels of data cache of 64 KiB and 256 KiB. All are direct-mapped with 16-byte blocks
/// (Torrellas, Tucker & Gupta 1995, §2).
#[must_use]
pub fn sgi_4d_340() -> Machine {
    let mut draft = Draft::new("SGI POWER Station 4D/340", 4);
    for cpu in &mut draft.cpus {
        cpu.package = cpu.id.0;
    }
    let each = draft.cores();
    draft
        .cache(1, CacheKind::Data, geometry(64, 16, 1), each.clone())
        .cache(1, CacheKind::Instruction, geometry(64, 16, 1), each.clone())
        .cache(2, CacheKind::Data, geometry(256, 16, 1), each)
        .finish()
}

/// The DEC 3000/600: one 175 MHz Alpha 21064 with 8 KiB of instruction and 8 KiB of data cache, and a 2 MiB unified
/// second level on the board. All are direct-mapped with 32-byte blocks (Mosberger et al. 1996, §4.1).
#[must_use]
pub fn dec_3000_600() -> Machine {
    let draft = Draft::new("DEC 3000/600", 1);
    let only = draft.cores();
    draft
        .cache(1, CacheKind::Data, geometry(8, 32, 1), only.clone())
        .cache(1, CacheKind::Instruction, geometry(8, 32, 1), only.clone())
        .cache(2, CacheKind::Unified, geometry(2048, 32, 1), only)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::CpuId;

    #[test]
    fn machines_of_papers_are_valid() {
        for machine in [sgi_4d_340(), dec_3000_600()] {
            assert_eq!(machine.validate(), Ok(()), "{}", machine.name);
        }
        let sets: Vec<u64> = sgi_4d_340().data_caches(CpuId(3)).map(|cache| cache.geometry.sets()).collect();
        assert_eq!(sets, [4096, 16384]);
        assert_eq!(dec_3000_600().instruction_cache(CpuId(0)).map(|cache| cache.geometry.sets()), Some(256));
    }

    #[test]
    fn the_challenge_has_private_direct_mapped_caches() {
        let machine = sgi_challenge_xl(8);
        assert!(machine.caches.iter().all(|cache| machine.is_private(cache)));
        let sets: Vec<u64> = machine.data_caches(CpuId(3)).map(|cache| cache.geometry.sets()).collect();
        assert_eq!(sets, [512, 8192]);
        assert_eq!(machine.usable_cores().len(), 8);
    }
}
