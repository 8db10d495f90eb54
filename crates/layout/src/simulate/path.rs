//! How large the executed code is: Table 9 of Mosberger et al. 1996, "Size" and "i-cache unused".

use super::code::Block;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use warmcore_units::Bytes;

/// The smallest page of x86-64, AArch64 and RISC-V, in bytes: what an entry of a TLB translates, unless pages are large.
const PAGE: u64 = 4096;

/// The static size of a path. Table 9 does not say what belongs to it: `main_line` is our reading of its "Size",
/// [`unused_part`](Self::unused_part) that of its "i-cache unused".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PathSize {
    /// Instructions that were executed at least once.
    pub instructions: u64,
    /// Their bytes.
    pub executed: Bytes,
    /// Of each function of which anything was executed, the bytes from its beginning to the end of its last executed
    /// instruction.
    pub main_line: Bytes,
    /// Different lines that hold executed bytes, as bytes.
    pub lines: Bytes,
    /// Different pages of 4 KiB that these lines lie in. Each needs a place in the instruction TLB, which is not simulated.
    #[serde(default)]
    pub pages: u64,
    /// All bytes of the functions of which anything was executed.
    pub functions: Bytes,
}

impl PathSize {
    /// The size of `blocks`, by address, in lines of `line` bytes.
    pub(super) fn new(trace: &Trace, blocks: &[Block], line: u64) -> Self {
        let mut size = Self::default();
        let (mut next_line, mut next_page) = (0, 0);
        let mut before = None;
        // Bytes of the main line of the function before.
        let mut reached = 0;
        for block in blocks {
            size.instructions += u64::from(block.instructions);
            size.executed.0 += block.end.saturating_sub(block.address);
            let (first, end) = (block.address / line, block.end.saturating_sub(1) / line + 1);
            size.lines.0 += end.saturating_sub(first.max(next_line)) * line;
            next_line = next_line.max(end);
            let (first_page, end_page) = (first * line / PAGE, end.saturating_mul(line).div_ceil(PAGE));
            size.pages += end_page.saturating_sub(first_page.max(next_page));
            next_page = next_page.max(end_page);
            if before != Some(block.function) {
                (before, reached) = (Some(block.function), 0);
                size.functions.0 += function_size(trace, block.function);
            }
            let reaches = main_line(trace, block).max(reached);
            size.main_line.0 += reaches - reached;
            reached = reaches;
        }
        size
    }

    /// The part of the lines' bytes that is never executed, 0 to 1; 0 if nothing was executed. Each line counts once, however often
    /// it comes.
    #[must_use]
    pub fn unused_part(self) -> f64 {
        if self.lines.0 == 0 { 0.0 } else { 1.0 - self.executed.0 as f64 / self.lines.0 as f64 }
    }
}

/// Bytes from the beginning of its function to the end of `block`.
fn main_line(trace: &Trace, block: &Block) -> u64 {
    let begins = |function: u32| trace.functions()[function as usize].address;
    block.function.map_or(0, |function| block.end.saturating_sub(begins(function)))
}

fn function_size(trace: &Trace, function: Option<u32>) -> u64 {
    function.map_or(0, |function| trace.functions()[function as usize].size)
}
