//! The timers of a connection. Time is what its driver says it is.

use super::time::Time;

/// The timer of the send side: something in flight, or a window that is too small. Never both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Sending {
    /// Nothing to wait for.
    #[default]
    Idle,
    /// Resend what is not acknowledged by then.
    Retransmit(Time),
    /// Probe the window then.
    Persist(Time),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    pub(super) sending: Sending,
    /// When an acknowledgement that waits is sent.
    pub(super) delayed_ack: Option<Time>,
    /// When TIME-WAIT ends.
    pub(super) time_wait: Option<Time>,
    /// How often in a row the timer of the send side expired.
    pub(super) expiries: u32,
    /// How often it did since the peer answered last.
    pub(super) unanswered: u32,
}

impl Timers {
    /// The earliest of all timers.
    pub(super) fn earliest(&self) -> Option<Time> {
        let sending = match self.sending {
            Sending::Idle => None,
            Sending::Retransmit(at) | Sending::Persist(at) => Some(at),
        };
        [sending, self.delayed_ack, self.time_wait].into_iter().flatten().min()
    }

    /// Whether the peer must still acknowledge what was sent.
    pub(super) const fn is_retransmitting(&self) -> bool {
        matches!(self.sending, Sending::Retransmit(_))
    }

    pub(super) const fn is_persisting(&self) -> bool {
        matches!(self.sending, Sending::Persist(_))
    }

    /// The peer answered. It is there, however long its window stays closed.
    pub(super) fn answered(&mut self) {
        if self.is_persisting() {
            self.unanswered = 0;
        }
    }

    /// The peer acknowledged something new. `resend` is when the rest is sent again, if there is any.
    pub(super) fn acknowledged(&mut self, resend: Option<Time>) {
        (self.expiries, self.unanswered) = (0, 0);
        self.sending = resend.map_or(Sending::Idle, Sending::Retransmit);
    }

    /// The timer of the send side expired. Returns whether that was one of the first `limit` times since
    /// the peer answered.
    pub(super) fn expired(&mut self, limit: u32) -> bool {
        self.sending = Sending::Idle;
        self.expiries = self.expiries.saturating_add(1);
        self.unanswered = self.unanswered.saturating_add(1);
        self.unanswered <= limit
    }
}
