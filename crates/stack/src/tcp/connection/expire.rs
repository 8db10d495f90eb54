//! Time passes (RFC 9293, §3.10.8; RFC 6298, §5).

use super::Connection;
use crate::tcp::event::End;
use crate::tcp::time::Time;
use crate::tcp::timers::Sending;
use core::time::Duration;

impl Connection {
    /// The time is `now`: does what is due by then. Calling it early or often does no harm.
    pub fn time_passes(&mut self, now: Duration) {
        let now = Time::from(now);
        let is_due = |at: Time| at <= now;
        if self.timers.time_wait.is_some_and(is_due) {
            self.finish(End::Closed);
            return;
        }
        if self.timers.delayed_ack.is_some_and(is_due) {
            self.timers.delayed_ack = None;
            self.due.ack = true;
        }
        match self.timers.sending {
            Sending::Retransmit(at) if is_due(at) => self.retransmission_expires(),
            Sending::Persist(at) if is_due(at) => self.persistence_expires(),
            _ => {}
        }
    }

    fn retransmission_expires(&mut self) {
        if !self.timers.expired(self.config.retries) {
            self.lose_peer(End::TimedOut);
            return;
        }
        self.round_trip.expired();
        if self.state.is_synchronized() {
            self.congestion.timed_out(self.send.una(), self.send.sent());
        } else {
            self.syn_lost = true;
        }
        self.send.go_back();
    }

    fn persistence_expires(&mut self) {
        if self.timers.expired(self.config.retries) {
            self.due.probe = true;
        } else {
            self.finish(End::TimedOut);
        }
    }
}
