//! The send side: the bytes that are not acknowledged, what of them may be sent, and when
//! (RFC 9293, §3.3.1, §3.7.4 and §3.8.6.2.1).
//!
//! ```text
//!   una            next             sent           end
//!    │ in flight    │ to resend       │ not sent yet │ FIN
//!    ▼              ▼                 ▼              ▼
//! ───┼──────────────┼─────────────────┼──────────────┼───
//!                   ╰ equal unless a timeout took `next` back
//! ```
//!
//! A SYN takes the first sequence number, and a FIN the one at `end`.

use super::ring::Ring;
use crate::wire::SequenceNumber;
use crate::wire::tcp::{Payload, Segment};
use core::hint::cold_path;

/// A segment to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    pub(super) from: SequenceNumber,
    pub(super) length: usize,
    pub(super) fin: bool,
    pub(super) kind: PlanKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlanKind {
    /// The next segment.
    Next,
    /// The first segment that is not acknowledged, once more.
    First,
    /// One byte or FIN, beyond a closed window.
    Probe,
}

impl Plan {
    /// Position after the segment.
    pub(super) fn end(&self) -> SequenceNumber {
        self.from + self.length as u32 + u32::from(self.fin)
    }
}

#[derive(Debug)]
pub(super) struct SendSide {
    una: SequenceNumber,
    next: SequenceNumber,
    sent: SequenceNumber,
    /// A probe beyond `sent`, of one byte or FIN at `una`, may be acknowledged.
    probed: bool,
    syn_acknowledged: bool,
    fin_acknowledged: bool,
    /// The user writes no more.
    closed: bool,
    ring: Ring,
    /// Bytes in the ring, from `una` or from after the SYN.
    buffered: usize,
    window: u32,
    max_window: u32,
    /// Position and acknowledgement of the segment that the window was taken from.
    window_from: (SequenceNumber, SequenceNumber),
    /// Bits to shift the peer's windows by.
    shift: u8,
    segment: usize,
}

impl SendSide {
    pub(super) fn new(initial: SequenceNumber, capacity: usize) -> Self {
        Self {
            una: initial,
            next: initial,
            sent: initial,
            probed: false,
            syn_acknowledged: false,
            fin_acknowledged: false,
            closed: false,
            ring: Ring::new(capacity),
            buffered: 0,
            window: 0,
            max_window: 0,
            window_from: (SequenceNumber(0), initial),
            shift: 0,
            segment: 1,
        }
    }

    /// Position of the first byte or flag that is not acknowledged.
    pub(super) const fn una(&self) -> SequenceNumber {
        self.una
    }

    /// Position after all that has been sent, without probes: the sequence number of a segment that carries
    /// nothing. A probe is beyond the peer's window, and so would be a segment after it: two peers with
    /// closed windows would answer each other for ever.
    pub(super) const fn sent(&self) -> SequenceNumber {
        self.sent
    }

    /// Whether a segment could be sent for the first time: nothing is left to resend.
    pub(super) fn is_at_front(&self) -> bool {
        self.next == self.sent
    }

    /// Whether something is in flight and not given up as lost.
    pub(super) fn is_in_flight(&self) -> bool {
        self.next != self.una
    }

    pub(super) const fn fin_acknowledged(&self) -> bool {
        self.fin_acknowledged
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Bytes written and not acknowledged.
    pub(super) const fn buffered(&self) -> usize {
        self.buffered
    }

    /// Bytes of data in a full segment.
    pub(super) const fn segment(&self) -> usize {
        self.segment
    }

    /// Bytes that can be written.
    pub(super) const fn room(&self) -> usize {
        self.ring.capacity() - self.buffered
    }

    /// Takes as much of `data` as there is room for, and returns how much.
    pub(super) fn write(&mut self, data: &[u8]) -> usize {
        let taken = data.len().min(self.room());
        self.ring.write(self.buffered, Payload::from(&data[..taken]));
        self.buffered += taken;
        taken
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the peer can mean `ack`: it is not beyond what was sent.
    pub(super) fn was_sent(&self, ack: SequenceNumber) -> bool {
        let end = if self.probed { self.sent.later(self.una + 1) } else { self.sent };
        ack.is_at_or_before(end)
    }

    /// Whether `ack` is older than any that the peer can have sent after its window was used
    /// (RFC 5961, §5).
    pub(super) fn is_too_old(&self, ack: SequenceNumber) -> bool {
        ack.is_before(self.una - self.max_window)
    }

    /// Everything before `ack`, which was sent, is acknowledged.
    pub(super) fn acknowledge(&mut self, ack: SequenceNumber) {
        let mut acked = ack.since(self.una) as usize;
        if !self.syn_acknowledged && acked > 0 {
            cold_path();
            self.syn_acknowledged = true;
            acked -= 1;
        }
        let data = acked.min(self.buffered);
        self.fin_acknowledged |= acked > data;
        self.ring.advance(data);
        self.buffered -= data;
        self.una = ack;
        self.next = self.next.later(ack);
        self.sent = self.sent.later(ack);
        self.probed = false;
    }

    /// Takes what the peer's SYN says of segments and windows.
    pub(super) fn agree(&mut self, segment: usize, shift: u8) {
        (self.segment, self.shift) = (segment, shift);
    }

    /// Takes the window of the peer's SYN, which is never scaled.
    pub(super) fn first_window(&mut self, syn: &Segment<'_>) {
        self.set_window(syn, u32::from(syn.window));
    }

    /// The window of `segment` in bytes.
    pub(super) fn scaled(&self, segment: &Segment<'_>) -> u32 {
        u32::from(segment.window) << self.shift
    }

    /// Whether `segment` has the window that we know.
    pub(super) fn has_same_window(&self, segment: &Segment<'_>) -> bool {
        self.scaled(segment) == self.window
    }

    /// Takes the window of `segment`, which acknowledges `ack`, unless a newer one is known.
    pub(super) fn update_window(&mut self, segment: &Segment<'_>, ack: SequenceNumber) {
        let (sequence, acknowledged) = self.window_from;
        let is_newer = sequence.is_before(segment.sequence)
            || (sequence == segment.sequence && acknowledged.is_at_or_before(ack));
        if is_newer {
            self.set_window(segment, self.scaled(segment));
        }
    }

    fn set_window(&mut self, segment: &Segment<'_>, window: u32) {
        self.window = window;
        self.max_window = self.max_window.max(window);
        self.window_from = (segment.sequence, segment.acknowledgement.unwrap_or(self.una));
    }

    /// Position after the data that was written, once the SYN is acknowledged.
    fn end(&self) -> SequenceNumber {
        self.una + self.buffered as u32
    }

    /// Bytes and FIN from `position` on: those of the data, and whether FIN comes after them.
    fn left(&self, position: SequenceNumber) -> (usize, bool) {
        let end = self.end();
        if self.fin_acknowledged || end.is_before(position) {
            cold_path();
            return (0, false);
        }
        (end.since(position) as usize, self.closed)
    }

    /// Whether something is left to send, once the window allows it.
    pub(super) fn has_more(&self) -> bool {
        let (length, fin) = self.left(self.next);
        length > 0 || fin
    }

    /// The next segment that may be sent, if one may: within the peer's window and `congestion`, and not
    /// needlessly small. `nagle` holds small segments back while data is in flight.
    pub(super) fn next(&self, congestion: u32, nagle: bool) -> Option<Plan> {
        let plan = self.fitting(congestion)?;
        let (left, _) = self.left(self.next);
        let is_last = plan.length == left && (!self.is_in_flight() || !nagle || self.closed);
        let is_half = plan.length >= (self.max_window / 2).max(1) as usize;
        let is_resent = self.next.is_before(self.sent);
        (plan.length == self.segment || is_last || is_half || is_resent).then_some(plan)
    }

    /// The next segment within the peer's window and `congestion`, however small.
    fn fitting(&self, congestion: u32) -> Option<Plan> {
        let flight = self.next.since(self.una);
        let usable = self.window.min(congestion).saturating_sub(flight) as usize;
        let (left, fin) = self.left(self.next);
        let length = left.min(self.segment).min(usable);
        let fin = fin && length == left && length < usable;
        (length > 0 || fin).then_some(Plan { from: self.next, length, fin, kind: PlanKind::Next })
    }

    /// What is sent when the window has been too small for too long (RFC 9293, §3.8.6.1): what fits it,
    /// or else one byte or FIN beyond it.
    pub(super) fn overriding(&self, congestion: u32) -> Option<Plan> {
        self.fitting(congestion).or_else(|| {
            let (left, fin) = self.left(self.una);
            let length = left.min(1);
            let fin = fin && left == 0;
            let plan = Plan { from: self.una, length, fin, kind: PlanKind::Probe };
            (length > 0 || fin).then_some(plan)
        })
    }

    /// The first segment that is not acknowledged.
    pub(super) fn first(&self) -> Option<Plan> {
        let flight = self.sent.since(self.una) as usize;
        let (left, fin) = self.left(self.una);
        let length = left.min(self.segment).min(flight);
        let fin = fin && length == left && length < flight;
        (length > 0 || fin).then_some(Plan { from: self.una, length, fin, kind: PlanKind::First })
    }

    /// `plan` is sent.
    pub(super) fn advance(&mut self, plan: &Plan) {
        match plan.kind {
            PlanKind::Next => self.advance_to(plan.end()),
            PlanKind::Probe => {
                cold_path();
                self.probed = true;
            }
            PlanKind::First => {}
        }
    }

    /// The SYN is sent.
    pub(super) fn advance_syn(&mut self) {
        self.advance_to(self.una + 1);
    }

    fn advance_to(&mut self, end: SequenceNumber) {
        self.next = self.next.later(end);
        self.sent = self.sent.later(end);
    }

    /// Whether the SYN is to be sent.
    pub(super) fn is_syn_due(&self) -> bool {
        !self.syn_acknowledged && !self.is_in_flight()
    }

    /// Everything in flight is given up as lost, and will be sent again.
    pub(super) fn go_back(&mut self) {
        self.next = self.una;
    }

    /// The data of `plan`, once the SYN is acknowledged.
    pub(super) fn data(&self, plan: &Plan) -> Payload<'_> {
        self.ring.read(plan.from.since(self.una) as usize, plan.length)
    }

    /// Whether the data of `plan` is the last that was written.
    pub(super) fn is_last(&self, plan: &Plan) -> bool {
        plan.length > 0 && plan.from + plan.length as u32 == self.end()
    }
}
