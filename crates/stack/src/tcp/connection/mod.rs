//! A connection: what its user does with it (RFC 9293, §3.9.1 and §3.10.1 to §3.10.6).

mod arrive;
mod expire;
mod predict;
mod synchronized;
mod transmit;

use super::challenge::ChallengeLimit;
use super::config::Config;
use super::congestion::Congestion;
use super::event::{End, Event, Pending, UserError};
use super::receive::ReceiveSide;
use super::round_trip::RoundTrip;
use super::send::SendSide;
use super::state::State;
use super::time::Time;
use super::timers::Timers;
use crate::wire::SequenceNumber;
use crate::wire::tcp::Segment;
use core::time::Duration;

/// One end of a connection. The module's documentation says how it is driven.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    /// Whether it began in LISTEN.
    is_passive: bool,
    initial: SequenceNumber,
    /// Whether a SYN of ours was sent again.
    syn_lost: bool,
    /// Whether both sides scale windows.
    scales: bool,
    send: SendSide,
    receive: ReceiveSide,
    round_trip: RoundTrip,
    congestion: Congestion,
    timers: Timers,
    challenges: ChallengeLimit,
    /// Bytes received since the last acknowledgement was sent.
    received_since_ack: usize,
    /// What the next calls of `transmit` must send.
    due: Due,
    /// When something was sent last.
    last_sent: Time,
    events: Pending,
    end: Option<End>,
}

/// What is due, apart from what the windows allow.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    /// An acknowledgement.
    ack: bool,
    /// Acknowledgements of segments that came after a gap, one for each: the peer counts them to notice a
    /// loss (RFC 5681, §4.2), however many segments its driver hands over at once.
    duplicates: u32,
    /// The first segment that is not acknowledged, once more.
    first: bool,
    /// Whatever the window is, something to test it with.
    probe: bool,
    /// A reset, before all else.
    reset: Option<Segment<'static>>,
}

impl Connection {
    /// A connection that begins with a SYN of the sequence number `initial` (active open).
    #[must_use]
    pub fn connect(config: Config, initial: SequenceNumber) -> Self {
        Self::new(config, initial, State::SynSent)
    }

    /// A connection that waits for a SYN, and answers it with one of the sequence number `initial`
    /// (passive open). If that peer goes before the connection is established, it waits for another, with
    /// the same number.
    #[must_use]
    pub fn listen(config: Config, initial: SequenceNumber) -> Self {
        Self::new(config, initial, State::Listen)
    }

    fn new(config: Config, initial: SequenceNumber, state: State) -> Self {
        let config = config.bounded();
        let open = config.send_buffer as u32;
        Self {
            config,
            state,
            is_passive: state == State::Listen,
            initial,
            syn_lost: false,
            scales: false,
            send: SendSide::new(initial, config.send_buffer),
            receive: ReceiveSide::new(&config),
            round_trip: RoundTrip::new(&config),
            congestion: Congestion::new(open, config.changes.avoid_division),
            timers: Timers::default(),
            challenges: ChallengeLimit::default(),
            received_since_ack: 0,
            due: Due::default(),
            last_sent: Time::ZERO,
            events: Pending::default(),
            end: None,
        }
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// How the connection ended, if it did.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        self.end
    }

    /// Bytes that [`read`](Self::read) would return.
    #[must_use]
    pub const fn readable(&self) -> usize {
        self.receive.unread()
    }

    /// Bytes that [`write`](Self::write) would take, if the state allows it.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.send.room()
    }

    /// Bytes written that the peer has not acknowledged.
    #[must_use]
    pub const fn unacknowledged(&self) -> usize {
        self.send.buffered()
    }

    /// Whether the peer has closed its direction and everything was read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.receive.is_finished() && self.receive.unread() == 0
    }

    /// The next event, if there is one.
    pub fn event(&mut self) -> Option<Event> {
        self.events.next()
    }

    /// When [`time_passes`](Self::time_passes) must be called at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.timers.earliest().map(Duration::from)
    }

    /// Takes bytes to send, and returns how many: as many as there is room for, which can be none.
    ///
    /// Before the connection is established they wait for that.
    ///
    /// # Errors
    /// There is no peer yet, the user has closed, or the connection is over.
    pub fn write(&mut self, data: &[u8]) -> Result<usize, UserError> {
        if let Some(end) = self.end {
            return Err(UserError::Ended(end));
        }
        if self.state == State::Listen {
            return Err(UserError::NotConnected);
        }
        if !self.state.is_writable() || self.send.is_closed() {
            return Err(UserError::Closing);
        }
        Ok(self.send.write(data))
    }

    /// Copies bytes that arrived to `buffer`, and returns how many. None are left to come if
    /// [`is_at_end`](Self::is_at_end).
    ///
    /// # Errors
    /// The connection ended otherwise than by both sides closing it. What was not read is gone.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, UserError> {
        if let Some(end) = self.end
            && end != End::Closed
        {
            return Err(UserError::Ended(end));
        }
        let length = self.receive.read(buffer);
        // A peer that waits for the window to grow must be told.
        self.due.ack |= length > 0 && self.state.receives() && self.receive.is_update_due();
        Ok(length)
    }

    /// Closes the user's direction: what was written is sent, then FIN. The peer may still send, and the
    /// user read (half-close). Closing again changes nothing.
    ///
    /// Before the connection is established, data and FIN wait for that. If there is no peer yet and nothing
    /// was written, the connection ends at once.
    pub fn close(&mut self) {
        match self.state {
            State::Listen => self.finish(End::Closed),
            State::SynSent if self.send.buffered() == 0 => self.finish(End::Closed),
            // FIN waits until the connection is established.
            State::SynSent | State::SynReceived => self.send.close(),
            State::Established => self.close_in(State::FinWait1),
            State::CloseWait => self.close_in(State::LastAck),
            _ => {}
        }
    }

    fn close_in(&mut self, state: State) {
        self.send.close();
        self.state = state;
    }

    /// Gives the connection up, and resets the peer if it has one.
    pub fn abort(&mut self) {
        let has_peer =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        if has_peer {
            self.due.reset = Some(Segment {
                sequence: self.send.sent(),
                acknowledgement: Some(self.receive.next()),
                reset: true,
                ..Segment::default()
            });
        }
        self.finish(End::Aborted);
    }

    /// The connection is over.
    fn finish(&mut self, end: End) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        self.timers = Timers::default();
        self.due = Due { reset: self.due.reset, ..Due::default() };
        if end != End::Closed {
            self.receive.discard();
            self.events.readable = false;
        }
        self.end = Some(end);
        self.events.ended = Some(end);
    }
}
