//! Hierarchies of machines that the sources describe, and one of today.

use crate::{Description, WriteBuffer, Writes};
use warmcore_topology::{CacheKind, synthetic};
use warmcore_units::{Bytes, Cycles};

/// The SGI POWER Station 4D/340 of Torrellas, Tucker & Gupta 1995, §2: "about 15 cycles" from the second level,
/// "about 35" from memory, where instructions come from that miss. What the caches do on stores the text leaves
/// open: here they are write-back.
#[must_use]
pub fn sgi_4d_340() -> Description {
    Description::from_machine(&synthetic::sgi_4d_340(), &[1, 15].map(Cycles), Cycles(35))
}

/// The DEC 3000/600 of Mosberger et al. 1996, §4.1: write-through data cache that allocates on loads only, behind it a
/// write buffer of four blocks, and a write-back board cache, 10 cycles away (§4.4.3). How far `memory` is, the text
/// does not say; nor when the buffer drains: here once two blocks wait, so that stores to one block can merge.
#[must_use]
pub fn dec_3000_600(memory: Cycles) -> Description {
    let buffer = WriteBuffer { depth: 4, block: Bytes(32), retire_at: 2, max_age: None };
    Description::from_machine(&synthetic::dec_3000_600(), &[1, 10].map(Cycles), memory).with(|cache| {
        if cache.kind == CacheKind::Data {
            cache.writes = Writes::Through;
            cache.write_buffer = Some(buffer);
        }
    })
}

/// `cpus` processors of today with private first and second levels and a shared third
/// ([`synthetic::virtual_machine`]), with round latencies; no particular product.
#[must_use]
pub fn three_levels(cpus: u32) -> Description {
    Description::from_machine(&synthetic::virtual_machine(cpus), &[4, 14, 50].map(Cycles), Cycles(250))
}
