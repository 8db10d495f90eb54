//! A segment arrives before the connection is synchronized (RFC 9293, §3.10.7.1 to §3.10.7.3).

use super::Connection;
use crate::tcp::event::End;
use crate::tcp::receive::MAX_SHIFT;
use crate::tcp::reset::refuse;
use crate::tcp::state::State;
use crate::tcp::time::Time;
use crate::wire::SequenceNumber;
use crate::wire::tcp::Segment;
use core::hint::cold_path;
use core::time::Duration;

/// The peer's largest segment if it names none (RFC 9293, §3.7.1).
const DEFAULT_SEGMENT: u16 = 536;

/// The smallest that it may name. A peer that asks for less would make us send mostly headers.
const MIN_SEGMENT: u16 = 64;

impl Connection {
    /// The peer's `segment` arrives. It must belong to this connection, and have a correct checksum.
    #[inline]
    pub fn arrives(&mut self, now: Duration, segment: &Segment<'_>) {
        let now = Time::from(now);
        if self.config.changes.header_prediction && self.is_predicted(segment) {
            self.arrives_as_predicted(now, segment);
            return;
        }
        if self.state.is_synchronized() || self.state == State::SynReceived {
            self.arrives_in_window(now, segment);
            return;
        }
        cold_path();
        match self.state {
            State::Listen => self.arrives_in_listen(segment),
            State::SynSent => self.arrives_in_syn_sent(now, segment),
            _ => self.due.reset = refuse(segment),
        }
    }

    fn arrives_in_listen(&mut self, segment: &Segment<'_>) {
        if segment.reset {
            return;
        }
        if segment.acknowledgement.is_some() {
            self.due.reset = refuse(segment);
        } else if segment.syn {
            self.begin(segment);
            self.state = State::SynReceived;
        }
    }

    fn arrives_in_syn_sent(&mut self, now: Time, segment: &Segment<'_>) {
        let ack = segment.acknowledgement;
        if ack.is_some_and(|ack| !self.acknowledges_something(ack)) {
            self.due.reset = refuse(segment);
            return;
        }
        if segment.reset {
            if ack.is_some() {
                self.finish(End::Refused);
            }
            return;
        }
        if !segment.syn {
            return;
        }
        self.begin(segment);
        match ack {
            Some(ack) => {
                self.acknowledge(now, ack);
                self.establish();
                self.due.ack = true;
            }
            None => {
                // Both opened at once: the SYN is sent again, now with an acknowledgement.
                self.state = State::SynReceived;
                self.send.go_back();
                self.round_trip.resent();
            }
        }
    }

    /// Whether `ack` is for something that was sent and not acknowledged.
    pub(super) fn acknowledges_something(&self, ack: SequenceNumber) -> bool {
        self.send.una().is_before(ack) && self.send.was_sent(ack)
    }

    /// Takes the peer's SYN.
    fn begin(&mut self, syn: &Segment<'_>) {
        self.receive.begin(syn.sequence);
        self.send.first_window(syn);
        let theirs = syn.options.max_segment_size.unwrap_or(DEFAULT_SEGMENT).max(MIN_SEGMENT);
        let segment = usize::from(theirs.min(self.config.max_segment_size));
        // Windows are scaled if both sides say so.
        let scale = syn.options.window_scale.filter(|_| self.config.window_scaling);
        self.send.agree(segment, scale.map_or(0, |shift| shift.min(MAX_SHIFT as u8)));
        self.receive.scale(scale.map_or(0, |_| self.receive.wanted_shift()));
        self.scales = scale.is_some();
    }

    /// The connection is established.
    pub(super) fn establish(&mut self) {
        self.round_trip.established();
        self.congestion.established(self.send.segment() as u32, self.syn_lost);
        self.state = if self.send.is_closed() { State::FinWait1 } else { State::Established };
        self.events.connected = true;
    }
}
