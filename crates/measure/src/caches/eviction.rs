//! Produces cold states: evicts what a packet left in the nearest caches to the next level.
//!
//! To make levels 1 to k cold, the processor that is about to receive executes more code than the
//! first instruction cache holds and walks through more data than level k holds ("the consumer
//! issues sequential code and data references which exceed the size of the L1 cache", Salehi,
//! Kurose & Towsley 1994, §5). The walk must stay small against level k + 1, where the lines are
//! meant to remain. Walking beyond the last level makes everything cold.
//!
//! Code is executed first. A unified level tends to keep what a level nearer to the processor holds
//! too, so a walk displaces the protocol's code from it only after the code has left the instruction
//! cache. And the code is as short as its level requires. Some processors keep far less code than data
//! in their second level (one here has room for some 100 KiB of code in 1 MiB), so that four sizes of
//! the instruction cache displace code from both levels at once.
//!
//! The size of the walk is not assumed: [`crate::caches::cold`] tries sizes and verifies them.

use crate::caches::hierarchy::Hierarchy;
use core::hint::black_box;
use warmcore_linux::{CodeBlock, CodeBlockError, MappingError, Pages, Region};
use warmcore_units::Bytes;

/// If four times the last level's size exceeds this, the walk is twice the level's size, but at least
/// this.
const LARGE: Bytes = Bytes::kib(512 << 10);

/// Sizes to try for the walk that makes levels 0 to `level` cold, smallest first; never empty.
///
/// Beyond the last level there is only one size, four times the level's, because caches that protect
/// frequently used lines from streaming still keep some after twice their size has passed.
pub(crate) fn walk_sizes(hierarchy: &Hierarchy, level: usize) -> Vec<Bytes> {
    let times = |factor: u64| Bytes(hierarchy.data[level].0.saturating_mul(factor));
    let Some(next) = hierarchy.data.get(level + 1) else {
        return vec![if times(4) > LARGE { times(2).max(LARGE) } else { times(4) }];
    };
    let mut sizes = [2, 4, 8].map(times).to_vec();
    sizes.retain(|size| size.0 <= next.0 / 2);
    if sizes.is_empty() {
        sizes.push(Bytes((hierarchy.data[level].0 + next.0) / 2));
    }
    sizes
}

/// The walks and code of one processor for each cold state.
pub(crate) struct Evictor {
    data: Region,
    code: Option<Code>,
    line: usize,
    /// Bytes of `data` to walk, by the last level (from 0) to be cold.
    walks: Vec<usize>,
}

/// The code to execute.
struct Code {
    /// Displaces the instruction cache.
    near: CodeBlock,
    /// Displaces code from the next level as well.
    far: CodeBlock,
}

impl Code {
    /// Sizes of the two blocks, in sizes of the first instruction cache.
    const FACTORS: [u64; 2] = [2, 4];

    /// # Errors
    /// If there is no memory for it. Returns `None` if code cannot be generated.
    fn new(instructions: Bytes) -> Result<Option<Self>, MappingError> {
        let [near, far] = Self::FACTORS.map(|factor| CodeBlock::new(Bytes(instructions.0 * factor)));
        match (near, far) {
            (Ok(near), Ok(far)) => Ok(Some(Self { near, far })),
            (Err(CodeBlockError::Mapping(source)), _) | (_, Err(CodeBlockError::Mapping(source))) => {
                Err(source)
            }
            _ => Ok(None),
        }
    }

    const fn for_level(&self, level: usize) -> &CodeBlock {
        if level == 0 { &self.near } else { &self.far }
    }
}

impl Evictor {
    /// Creates an evictor with the given walks. If code cannot be generated, it walks data only, and
    /// [`code`](Self::code) returns `None`.
    ///
    /// # Errors
    /// If there is no memory for the largest walk.
    pub(crate) fn new(hierarchy: &Hierarchy, walks: &[Bytes]) -> Result<Self, MappingError> {
        let largest = walks.iter().max().copied().unwrap_or(Bytes::kib(4));
        Ok(Self {
            data: Region::new(largest, Pages::Small)?,
            code: Code::new(hierarchy.instructions)?,
            line: hierarchy.line,
            walks: walks.iter().map(|walk| walk.len()).collect(),
        })
    }

    /// Makes levels 0 to `level` cold.
    #[inline(never)]
    pub(crate) fn evict(&self, level: usize) {
        if let Some(code) = &self.code {
            code.for_level(level).run();
        }
        let walk = self.walks.get(level).copied().unwrap_or(self.data.len());
        let lines = self.data[..walk.min(self.data.len())].iter().step_by(self.line);
        black_box(lines.fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    }

    /// Bytes of data walked for the `level`-th cold state.
    pub(crate) fn walk(&self, level: usize) -> Bytes {
        Bytes(self.walks.get(level).copied().unwrap_or(0) as u64)
    }

    /// Bytes of code executed for the `level`-th cold state; `None` if code cannot be generated.
    pub(crate) fn code(&self, level: usize) -> Option<Bytes> {
        self.code.as_ref().map(|code| code.for_level(level).size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_topology::synthetic;
    use warmcore_units::CpuId;

    #[test]
    fn a_walk_exceeds_its_level_and_leaves_room_in_the_next() {
        for machine in [
            synthetic::virtual_machine(2),
            synthetic::hybrid_laptop(),
            synthetic::arm_server(),
            synthetic::two_socket_server(),
            synthetic::sgi_challenge_xl(8),
        ] {
            let hierarchy = Hierarchy::new(&machine, CpuId(0)).unwrap();
            for level in 0..hierarchy.depth() {
                let sizes = walk_sizes(&hierarchy, level);
                assert!(!sizes.is_empty());
                for size in sizes {
                    assert!(size > hierarchy.data[level], "{}: level {level}", machine.name);
                    let next = hierarchy.data.get(level + 1);
                    assert!(next.is_none_or(|next| size < *next), "{}: level {level}", machine.name);
                }
            }
        }
    }

    #[test]
    fn an_evictor_reports_its_walks() {
        let hierarchy = Hierarchy::new(&synthetic::virtual_machine(1), CpuId(0)).unwrap();
        let walks = [Bytes::kib(64), Bytes::kib(256)];
        let evictor = Evictor::new(&hierarchy, &walks).unwrap();
        evictor.evict(0);
        evictor.evict(1);
        evictor.evict(2);
        assert_eq!((evictor.walk(0), evictor.walk(1)), (walks[0], walks[1]));
    }
}
