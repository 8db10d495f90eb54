//! Executable segments, each word taken apart once.

use crate::riscv::decode::Decoded;
use crate::riscv::image::Segment;

/// The instructions of one executable segment.
#[derive(Clone, Debug)]
pub(super) struct Text {
    start: u64,
    decoded: Vec<Decoded>,
}

impl Text {
    /// Takes all words of `segment` apart. Bytes before its first whole word are none.
    pub(super) fn new(segment: &Segment) -> Self {
        let start = segment.address.next_multiple_of(4);
        let skipped = ((start - segment.address) as usize).min(segment.bytes.len());
        let words = segment.bytes[skipped..].as_chunks().0.iter();
        Self { start, decoded: words.map(|bytes| Decoded::new(u32::from_le_bytes(*bytes))).collect() }
    }

    /// The instruction at `address`, a multiple of 4.
    #[inline(always)]
    pub(super) fn get(&self, address: u64) -> Option<&Decoded> {
        self.decoded.get((address.wrapping_sub(self.start) / 4) as usize)
    }
}
