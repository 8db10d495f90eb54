//! A segment arrives in any other state (RFC 9293, §3.10.7.4), with the checks of RFC 5961.

use super::Connection;
use crate::tcp::congestion::Reaction;
use crate::tcp::event::End;
use crate::tcp::receive::Received;
use crate::tcp::reset::refuse;
use crate::tcp::state::State;
use crate::tcp::time::Time;
use crate::wire::SequenceNumber;
use crate::wire::tcp::Segment;
use core::hint::cold_path;

impl Connection {
    /// The steps of §3.10.7.4, in their order.
    pub(super) fn arrives_in_window(&mut self, now: Time, segment: &Segment<'_>) {
        let is_acceptable = self.receive.is_acceptable(segment);
        if !is_acceptable {
            cold_path();
            self.answer_unacceptable(now, segment);
            // A closed window takes no data, but still acknowledgements and resets.
            let is_next = self.receive.window() == 0 && segment.sequence == self.receive.next();
            if !is_next || segment.syn {
                return;
            }
        }
        if segment.reset {
            cold_path();
            self.reset_arrives(now, segment);
            return;
        }
        if segment.syn {
            cold_path();
            self.syn_arrives(now);
            return;
        }
        let Some(ack) = segment.acknowledgement else {
            cold_path();
            return;
        };
        if !self.ack_arrives(now, segment, ack) {
            return;
        }
        if is_acceptable && self.state.receives() && (!segment.payload.is_empty() || segment.fin) {
            self.data_arrives(now, segment);
        }
    }

    /// First step, for a segment that is not acceptable.
    fn answer_unacceptable(&mut self, now: Time, segment: &Segment<'_>) {
        if segment.reset {
            return;
        }
        if self.state == State::TimeWait && segment.fin {
            self.wait_for_old_segments(now);
        }
        // Data and FIN are answered always: our acknowledgement of them may have been lost.
        if !segment.payload.is_empty() || segment.fin {
            self.due.ack = true;
        } else {
            self.challenge(now);
        }
    }

    /// Answers with an acknowledgement, if that was not done too often.
    fn challenge(&mut self, now: Time) {
        self.due.ack |= self.challenges.admit(now);
    }

    /// Second step. A reset that is not exactly the next could be a guess (RFC 5961, §3).
    ///
    /// In CLOSING and LAST-ACK our FIN, and perhaps data, is not acknowledged: that is no orderly end.
    fn reset_arrives(&mut self, now: Time, segment: &Segment<'_>) {
        if segment.sequence != self.receive.next() {
            self.challenge(now);
            return;
        }
        match self.state {
            State::SynReceived => self.lose_peer(End::Refused),
            State::TimeWait => self.finish(End::Closed),
            _ => self.finish(End::Reset),
        }
    }

    /// Fourth step. A SYN in the window is a guess, or the peer has restarted: the answer makes it
    /// reset us (RFC 5961, §4).
    fn syn_arrives(&mut self, now: Time) {
        if self.state == State::SynReceived && self.is_passive {
            self.lose_peer(End::Refused);
        } else {
            self.challenge(now);
        }
    }

    /// The peer is gone. A connection that has waited for any, and that its user has not touched since, waits
    /// again. Otherwise it ends like this.
    pub(super) fn lose_peer(&mut self, end: End) {
        let is_untouched = self.send.buffered() == 0 && !self.send.is_closed();
        if self.state == State::SynReceived && self.is_passive && is_untouched {
            *self = Self::listen(self.config, self.initial);
        } else {
            self.finish(end);
        }
    }

    /// Fifth step. Returns whether the segment is to be processed further.
    fn ack_arrives(&mut self, now: Time, segment: &Segment<'_>, ack: SequenceNumber) -> bool {
        if self.state == State::SynReceived {
            cold_path();
            if !self.acknowledges_something(ack) {
                self.due.reset = refuse(segment);
                return false;
            }
            self.acknowledge(now, ack);
            self.send.update_window(segment, ack);
            self.establish();
            return true;
        }
        if self.send.is_too_old(ack) || !self.send.was_sent(ack) {
            cold_path();
            self.challenge(now);
            return false;
        }
        self.timers.answered();
        if self.send.una().is_before(ack) {
            self.acknowledge(now, ack);
        } else if self.is_duplicate(segment, ack) {
            cold_path();
            let reaction = self.congestion.duplicate(ack, self.send.sent());
            self.due.first |= reaction == Reaction::ResendFirst;
        }
        if !ack.is_before(self.send.una()) {
            self.send.update_window(segment, ack);
        }
        self.fin_may_be_acknowledged(now);
        self.state != State::Closed
    }

    /// RFC 5681, §2, "duplicate acknowledgement".
    fn is_duplicate(&self, segment: &Segment<'_>, ack: SequenceNumber) -> bool {
        ack == self.send.una()
            && self.send.is_in_flight()
            && segment.sequence_length() == 0
            && self.send.has_same_window(segment)
    }

    /// Everything before `ack`, which is new, is acknowledged.
    pub(super) fn acknowledge(&mut self, now: Time, ack: SequenceNumber) {
        let acked = ack.since(self.send.una());
        let had_data = self.send.buffered();
        self.round_trip.acknowledged(ack, now);
        self.send.acknowledge(ack);
        if self.state.is_synchronized() {
            let flight = self.send.sent().since(ack);
            let reaction = self.congestion.acknowledged(ack, acked, flight);
            self.due.first = reaction == Reaction::ResendFirst;
        }
        self.events.writable |= self.send.buffered() < had_data;
        // RFC 6298, rules 5.2 and 5.3.
        let resend = self.send.is_in_flight().then(|| now + self.round_trip.timeout());
        self.timers.acknowledged(resend);
    }

    /// What the acknowledgement of our FIN changes.
    fn fin_may_be_acknowledged(&mut self, now: Time) {
        if !self.send.fin_acknowledged() {
            return;
        }
        cold_path();
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.finish(End::Closed),
            _ => {}
        }
    }

    /// Seventh and eighth step.
    pub(super) fn data_arrives(&mut self, now: Time, segment: &Segment<'_>) {
        let received = self.receive.take(segment);
        self.events.readable |= received.readable > 0;
        self.acknowledge_data(now, &received);
        if received.fin {
            cold_path();
            self.events.peer_closed = true;
            match self.state {
                State::Established => self.state = State::CloseWait,
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }

    /// Acknowledges at once, or waits for a second full segment (RFC 5681, §4.2).
    fn acknowledge_data(&mut self, now: Time, received: &Received) {
        if received.readable == 0 && !received.fin {
            cold_path();
            self.due.duplicates = self.due.duplicates.saturating_add(1);
            return;
        }
        // What would be repeated now is another acknowledgement, of which one is enough.
        self.due.ack |= core::mem::take(&mut self.due.duplicates) > 0;
        self.received_since_ack += received.readable;
        let is_enough = self.received_since_ack >= 2 * self.send.segment();
        let delay = Time::from(self.config.delayed_ack);
        let is_plain = !received.gap && !received.fin;
        if is_enough || !is_plain || delay == Time::ZERO {
            self.due.ack = true;
        } else {
            self.timers.delayed_ack.get_or_insert(now + delay);
        }
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.wait_for_old_segments(now);
    }

    fn wait_for_old_segments(&mut self, now: Time) {
        self.timers.time_wait = Some(now + Time::from(self.config.max_segment_lifetime).times(2));
    }
}
