//! Memory of a handler for each stream, written with each of its packets. Its cache lines are written
//! where a packet is handled, and migrate when the stream does.

use core::sync::atomic::{AtomicU64, Ordering};
use warmcore_units::StreamId;

/// A cache line.
#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicU64);

/// Per-stream memory of a handler, for all streams.
pub struct HandlerState {
    lines: Vec<Line>,
    /// Cache lines of each stream.
    lines_per_stream: usize,
}

impl HandlerState {
    /// Allocates `bytes`, rounded up to whole cache lines, for each of `streams`.
    #[must_use]
    pub fn new(streams: usize, bytes: usize) -> Self {
        let lines_per_stream = bytes.div_ceil(size_of::<Line>());
        Self { lines: (0..streams * lines_per_stream).map(|_| Line::default()).collect(), lines_per_stream }
    }

    /// Reads and writes every cache line of `stream`. Only one packet of a stream may be handled at a
    /// time.
    #[inline]
    pub fn touch(&self, stream: StreamId) {
        let first = stream.index() * self.lines_per_stream;
        for Line(word) in self.lines.get(first..first + self.lines_per_stream).unwrap_or_default() {
            word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_touches_every_line_of_its_stream_and_no_other() {
        let state = HandlerState::new(3, 200);
        state.touch(StreamId(1));
        state.touch(StreamId(1));
        state.touch(StreamId(3));
        let touched: Vec<u64> = state.lines.iter().map(|line| line.0.load(Ordering::Relaxed)).collect();
        assert_eq!(touched, [0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0]);
        HandlerState::new(3, 0).touch(StreamId(1));
    }
}
