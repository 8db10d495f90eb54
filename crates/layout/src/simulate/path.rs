//! How large the executed code is: Table 9 of Mosberger et al. 1996, "Size".

use super::code::Block;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use warmcore_units::Bytes;

/// The static size of a path. Table 9 has it in instructions, without saying what belongs to it: with code of one
/// instruction length, `mainline` divided by that is our reading of it, and `functions` the largest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PathSize {
    /// Instructions that were executed at least once.
    pub instructions: u64,
    /// Their bytes.
    pub executed: Bytes,
    /// These, and the bytes between two executed blocks of one function that lie in a line of the nearest cache for
    /// instructions in which one of the two ends or begins: they come along, and are not executed.
    pub mainline: Bytes,
    /// Different lines that hold executed bytes, as bytes.
    pub lines: Bytes,
    /// All bytes of the functions of which anything was executed.
    pub functions: Bytes,
}

impl PathSize {
    /// The size of `blocks`, by address, in lines of `line` bytes.
    pub(super) fn new(trace: &Trace, blocks: &[Block], line: u64) -> Self {
        let mut size = Self::default();
        let mut next_line = 0;
        let mut before: Option<&Block> = None;
        for block in blocks {
            let bytes = block.end.saturating_sub(block.address);
            size.instructions += u64::from(block.instructions);
            size.executed.0 += bytes;
            size.mainline.0 += bytes;
            let (first, end) = (block.address / line, block.end.saturating_sub(1) / line + 1);
            size.lines.0 += end.saturating_sub(first.max(next_line)) * line;
            next_line = next_line.max(end);
            match before {
                Some(before) if before.function == block.function => {
                    size.mainline.0 += between(before.end, block.address, line);
                }
                _ => size.functions.0 += function_size(trace, block.function),
            }
            before = Some(block);
        }
        size
    }
}

/// How many of the bytes from `end` to `begin` lie in the line of the byte before, or in that of the byte after.
fn between(end: u64, begin: u64, line: u64) -> u64 {
    if end >= begin {
        return 0;
    }
    let rest = end.next_multiple_of(line) - end;
    let start = begin % line;
    (begin - end).min(rest + start)
}

fn function_size(trace: &Trace, function: Option<u32>) -> u64 {
    function.map_or(0, |function| trace.functions()[function as usize].size)
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn what_lies_between_two_blocks_counts_within_their_lines() {
        assert_eq!(between(8, 8, 32), 0);
        assert_eq!(between(8, 24, 32), 16, "in one line");
        assert_eq!(between(24, 40, 32), 16, "in two lines");
        assert_eq!(between(24, 104, 32), 8 + 8, "the two lines between were not fetched");
        assert_eq!(between(32, 128, 32), 0, "the first ends with its line, the second begins with its own");
    }
}
