//! A block buffer: a small direct-mapped cache in the device, through which blocks move between the network and the node's
//! memory or caches (Falsafi 1998, §4.1 and §5.2.1; 2 Kbytes, §5.3.1).

use super::cache::Line;
use core::ops::Range;

/// Which lines a buffer holds that have come from the network and are not in memory.
#[derive(Clone, Debug)]
pub(super) struct BlockBuffer {
    /// The line in each entry; 0 for none.
    entries: Box<[Line]>,
}

impl BlockBuffer {
    /// An empty buffer for so many lines.
    pub(super) fn new(lines: usize) -> Self {
        Self { entries: vec![0; lines].into_boxed_slice() }
    }

    /// Takes in the lines of a block. How many lines of others must be written to memory for that.
    pub(super) fn take(&mut self, lines: Range<Line>) -> u64 {
        let take = |line: Line| {
            let entry = self.entry(line);
            let before = core::mem::replace(&mut self.entries[entry], line);
            u64::from(before != 0 && before != line)
        };
        lines.map(take).sum()
    }

    /// Whether `line` is here.
    pub(super) fn holds(&self, line: Line) -> bool {
        self.entries[self.entry(line)] == line
    }

    /// Forgets `line`: the copy here is no longer the newest.
    pub(super) fn forget(&mut self, line: Line) {
        if self.holds(line) {
            let entry = self.entry(line);
            self.entries[entry] = 0;
        }
    }

    /// Lines are counted from 1.
    fn entry(&self, line: Line) -> usize {
        (line as usize - 1) % self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_written_leaves_the_others_of_its_block() {
        let mut buffer = BlockBuffer::new(8);
        assert_eq!(buffer.take(1..3), 0);
        buffer.forget(1);
        assert_eq!((buffer.holds(1), buffer.holds(2)), (false, true));
        assert_eq!((buffer.take(9..11), buffer.holds(2)), (1, false));
    }
}
