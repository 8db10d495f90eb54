//! The receive side: the window, reassembly, and the bytes that were not read (RFC 9293, §3.3.1,
//! §3.8.6.2.2 and §3.10.7.4).
//!
//! ```text
//!            next                     edge
//!  not read   │  gaps and ranges       │
//! ────────────┼────────────────────────┼────
//!  │◄──────────── the buffer ─────────────►│
//! ```
//!
//! The right edge of the window never moves to the left, and never beyond the buffer. So everything that a
//! peer may send has its place.

use super::config::Config;
use super::received_ranges::ReceivedRanges;
use super::ring::Ring;
use crate::wire::SequenceNumber;
use crate::wire::tcp::{Payload, Segment};
use core::hint::cold_path;

/// Largest shift of a window (RFC 7323, §2.3).
pub(super) const MAX_SHIFT: u32 = 14;

/// What came of a segment's data and FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Received {
    /// Bytes that became readable.
    pub(super) readable: usize,
    /// Whether the peer's FIN was reached.
    pub(super) fin: bool,
    /// Whether there was a gap before or after the segment came.
    pub(super) gap: bool,
}

#[derive(Debug)]
pub(super) struct ReceiveSide {
    next: SequenceNumber,
    edge: SequenceNumber,
    ring: Ring,
    /// Bytes to read, at the start of the ring.
    unread: usize,
    ranges: ReceivedRanges,
    /// Position of the peer's FIN, if it arrived.
    fin: Option<SequenceNumber>,
    /// Whether everything up to the FIN arrived.
    finished: bool,
    /// Bits by which announced windows are shifted.
    shift: u8,
    /// The window is announced anew when it has grown by so many bytes, or by a part of the buffer.
    most_growth: usize,
    avoid_division: bool,
}

impl ReceiveSide {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            next: SequenceNumber(0),
            edge: SequenceNumber(0),
            ring: Ring::new(config.receive_buffer),
            unread: 0,
            ranges: ReceivedRanges::default(),
            fin: None,
            finished: false,
            shift: 0,
            most_growth: 2 * usize::from(config.max_segment_size),
            avoid_division: config.changes.avoid_division,
        }
    }

    /// The peer's first sequence number is `initial`, and that of its first byte the one after. The
    /// window is what our SYN says, which is not scaled.
    pub(super) fn begin(&mut self, initial: SequenceNumber) {
        self.next = initial + 1;
        self.edge = self.next + self.ring.capacity().min(usize::from(u16::MAX)) as u32;
    }

    /// Windows are announced shifted by `shift` bits from now on.
    pub(super) fn scale(&mut self, shift: u8) {
        self.shift = shift;
    }

    /// The shift that makes the whole buffer announceable.
    pub(super) fn wanted_shift(&self) -> u8 {
        let bits = usize::BITS - self.ring.capacity().leading_zeros();
        bits.saturating_sub(u16::BITS).min(MAX_SHIFT) as u8
    }

    /// Position of the next byte expected, which is what we acknowledge.
    pub(super) const fn next(&self) -> SequenceNumber {
        self.next
    }

    /// Bytes that the peer may send.
    pub(super) const fn window(&self) -> u32 {
        self.edge.since(self.next)
    }

    pub(super) const fn unread(&self) -> usize {
        self.unread
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether nothing is missing before what arrived.
    pub(super) fn is_in_order(&self) -> bool {
        self.ranges.is_empty() && self.fin.is_none()
    }

    /// Whether any of a segment is in the window (RFC 9293, table 6).
    pub(super) fn is_acceptable(&self, segment: &Segment<'_>) -> bool {
        let (length, window) = (segment.sequence_length(), self.window());
        let is_in_window = |position: SequenceNumber| position.is_within(self.next, window);
        match (length, window) {
            (0, 0) => segment.sequence == self.next,
            (0, _) => is_in_window(segment.sequence),
            (_, 0) => false,
            _ => is_in_window(segment.sequence) || is_in_window(segment.sequence + (length - 1)),
        }
    }

    /// Takes what is in the window of `segment`'s data and FIN. The segment must be acceptable.
    pub(super) fn take(&mut self, segment: &Segment<'_>) -> Received {
        let had_gap = !self.is_in_order();
        let before = self.next;
        if !self.finished {
            self.note_fin(segment);
            self.place(segment.sequence, segment.payload);
        }
        let readable = self.next.since(before) as usize;
        let fin = !self.finished && self.fin == Some(self.next);
        if fin {
            self.finished = true;
            self.fin = None;
            self.next = self.next + 1;
        }
        self.unread += readable;
        Received { readable, fin, gap: had_gap || !self.is_in_order() }
    }

    /// Remembers where the FIN of `segment` is. Only the first counts.
    fn note_fin(&mut self, segment: &Segment<'_>) {
        let at = segment.sequence + segment.payload.len() as u32;
        if segment.fin && self.fin.is_none() && at.is_within(self.next, self.window()) {
            self.fin = Some(at);
        }
    }

    /// Places what is new of the bytes at `start`, and moves `next` as far as there is no gap.
    fn place(&mut self, start: SequenceNumber, payload: Payload<'_>) {
        let end = start + payload.len() as u32;
        let first = start.later(self.next);
        let limit = self.fin.map_or(self.edge, |fin| fin.earlier(self.edge));
        let last = end.earlier(limit);
        if !first.is_before(last) {
            cold_path();
            return;
        }
        let is_next = first == self.next;
        if !is_next {
            cold_path();
            if !self.ranges.insert(first, last) {
                return;
            }
        }
        let new = payload.part(first.since(start) as usize, last.since(first) as usize);
        self.ring.write(self.unread + first.since(self.next) as usize, new);
        if is_next {
            self.next = if self.ranges.is_empty() {
                last
            } else {
                cold_path();
                self.ranges.reach(last)
            };
        }
    }

    /// Copies bytes that arrived to `buffer`, and returns how many.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> usize {
        let data = self.ring.read(0, self.unread.min(buffer.len()));
        let length = data.len();
        data.copy_to(buffer);
        self.ring.advance(length);
        self.unread -= length;
        length
    }

    /// Forgets what was not read.
    pub(super) fn discard(&mut self) {
        self.ring.advance(self.unread);
        self.unread = 0;
    }

    /// The edge to which the buffer has room.
    fn reach(&self) -> SequenceNumber {
        self.next + (self.ring.capacity() - self.unread) as u32
    }

    /// Whether the window has grown so much that the peer must know (RFC 9293, §3.8.6.2.2).
    pub(super) fn is_update_due(&self) -> bool {
        let growth = self.reach().since(self.edge) as i32;
        !self.finished && growth > 0 && growth as usize >= self.step()
    }

    /// The growth of the window that makes an update due: two segments or a part of the buffer.
    ///
    /// The part is 35 percent in BSD, and 33 percent, without multiplication and division, in the source
    /// (Mosberger 1996, §2.2.2). It is computed for each segment that is sent, as it is there.
    fn step(&self) -> usize {
        let buffer = self.ring.capacity();
        let part = if self.avoid_division {
            (buffer >> 2) + (buffer >> 4) + (buffer >> 6)
        } else {
            buffer * 35 / 100
        };
        part.min(self.most_growth).max(1)
    }

    /// The window field of a segment that is sent now. Moves the edge if it is to move.
    pub(super) fn announce(&mut self, is_syn: bool) -> u16 {
        let shift = if is_syn { 0 } else { self.shift };
        if self.is_update_due() {
            let field = field(self.reach().since(self.next), shift);
            self.edge = self.edge.later(self.next + (u32::from(field) << shift));
        }
        field(self.window(), shift)
    }
}

/// `window` as a header field.
fn field(window: u32, shift: u8) -> u16 {
    (window >> shift).min(u32::from(u16::MAX)) as u16
}
