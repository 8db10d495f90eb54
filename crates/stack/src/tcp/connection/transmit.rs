//! What a connection sends.

use super::Connection;
use crate::tcp::round_trip::doubled;
use crate::tcp::send::{Plan, PlanKind};
use crate::tcp::state::State;
use crate::tcp::time::Time;
use crate::tcp::timers::Sending;
use crate::wire::SequenceNumber;
use crate::wire::tcp::{Options, Segment};
use core::hint::cold_path;
use core::time::Duration;

impl Connection {
    /// The next segment to send at `now`, or nothing for the time being.
    #[inline]
    pub fn transmit(&mut self, now: Duration) -> Option<Segment<'_>> {
        let now = Time::from(now);
        if let Some(reset) = self.due.reset.take() {
            cold_path();
            return Some(reset);
        }
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent | State::SynReceived => self.transmit_unsynchronized(now),
            _ => self.transmit_synchronized(now),
        }
    }

    fn transmit_unsynchronized(&mut self, now: Time) -> Option<Segment<'_>> {
        if self.send.is_syn_due() {
            let sequence = self.send.una();
            self.note_sent(now, self.send.is_at_front(), sequence + 1);
            self.send.advance_syn();
            let has_peer = self.state == State::SynReceived;
            let options = self.syn_options(has_peer);
            return Some(Segment { syn: true, options, ..self.headed(sequence, has_peer) });
        }
        self.transmit_ack()
    }

    /// The options of our SYN. An answer offers to scale windows only if the peer does.
    fn syn_options(&self, has_peer: bool) -> Options {
        let scales = if has_peer { self.scales } else { self.config.window_scaling };
        Options {
            max_segment_size: Some(self.config.max_segment_size),
            window_scale: scales.then(|| self.receive.wanted_shift()),
            ..Options::default()
        }
    }

    fn transmit_synchronized(&mut self, now: Time) -> Option<Segment<'_>> {
        // With data they would not be counted (RFC 5681, §2).
        if self.due.duplicates > 0 {
            cold_path();
            self.due.duplicates -= 1;
            return Some(self.headed(self.send.sent(), true));
        }
        if let Some(plan) = self.plan(now) {
            self.carry_out(now, &plan);
            let head = self.headed(plan.from, true);
            let (payload, push) = (self.send.data(&plan), self.send.is_last(&plan));
            return Some(Segment { fin: plan.fin, push, payload, ..head });
        }
        self.transmit_ack()
    }

    /// Data or FIN that may be sent now.
    fn plan(&mut self, now: Time) -> Option<Plan> {
        if !self.state.sends() {
            return None;
        }
        if core::mem::take(&mut self.due.first)
            && let Some(first) = self.send.first()
        {
            cold_path();
            return Some(first);
        }
        if core::mem::take(&mut self.due.probe) {
            cold_path();
            return self.send.overriding(self.congestion.window());
        }
        if !self.send.is_in_flight() && now.since(self.last_sent) > self.round_trip.timeout() {
            cold_path();
            self.congestion.restart();
        }
        let plan = self.send.next(self.congestion.window(), self.config.nagle);
        if plan.is_none() {
            self.wait_for_window(now);
        }
        plan
    }

    /// Sets the persist timer if only the peer's window keeps us from sending.
    fn wait_for_window(&mut self, now: Time) {
        let waits = !self.send.is_in_flight() && self.send.has_more();
        if waits && !self.timers.is_persisting() {
            cold_path();
            self.timers.sending = Sending::Persist(now + self.pause());
        }
    }

    /// The pause before the next probe.
    fn pause(&self) -> Time {
        doubled(self.round_trip.timeout(), self.timers.expiries, self.config.max_timeout.into())
    }

    /// Notes that `plan` is sent.
    fn carry_out(&mut self, now: Time, plan: &Plan) {
        match plan.kind {
            PlanKind::Next => {
                let is_new = self.send.is_at_front();
                self.send.advance(plan);
                self.note_sent(now, is_new, plan.end());
            }
            PlanKind::First => {
                cold_path();
                self.round_trip.resent();
            }
            // The persist timer is set when nothing more is sent.
            PlanKind::Probe => {
                cold_path();
                self.send.advance(plan);
            }
        }
    }

    /// Notes that a segment that ends at `end` is sent, `is_new` or again (RFC 6298, rule 5.1).
    fn note_sent(&mut self, now: Time, is_new: bool, end: SequenceNumber) {
        if is_new {
            self.round_trip.sent(end, now);
        }
        self.last_sent = now;
        if !self.timers.is_retransmitting() {
            self.timers.sending = Sending::Retransmit(now + self.round_trip.timeout());
        }
    }

    /// An acknowledgement, if one is due.
    fn transmit_ack(&mut self) -> Option<Segment<'_>> {
        if !self.due.ack {
            return None;
        }
        Some(self.headed(self.send.sent(), true))
    }

    /// The head of a segment that begins at `sequence`, with our acknowledgement if there is a peer to
    /// acknowledge. It counts as sent.
    fn headed(&mut self, sequence: SequenceNumber, has_peer: bool) -> Segment<'static> {
        self.due.ack = false;
        self.timers.delayed_ack = None;
        self.received_since_ack = 0;
        let is_syn = !self.state.is_synchronized() && sequence == self.initial;
        let window = self.receive.announce(is_syn);
        let acknowledgement = has_peer.then(|| self.receive.next());
        Segment { sequence, acknowledgement, window, ..Segment::default() }
    }
}
