//! What a connection tells its user.

/// Something that happened to a connection. Each is reported once for any number of times that it
/// happened since the last report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// The connection is established.
    Connected,
    /// Data arrived.
    Readable,
    /// The peer acknowledged data, so there is room to write.
    Writable,
    /// The peer sends no more: after the data that is left, there is none.
    PeerClosed,
    /// The connection is over.
    Ended(End),
}

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum End {
    /// Both sides closed it, and everything was acknowledged; or the user closed it before there was a
    /// peer, with nothing written.
    #[error("the connection was closed")]
    Closed,
    /// The user gave it up.
    #[error("the connection was aborted")]
    Aborted,
    /// The peer refused it.
    #[error("the peer refused the connection")]
    Refused,
    /// The peer reset it. It may not have received everything, even if both sides had closed: our FIN was
    /// not acknowledged.
    #[error("the peer reset the connection")]
    Reset,
    /// The peer did not answer.
    #[error("the peer did not answer")]
    TimedOut,
}

/// Why nothing was written or read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum UserError {
    /// There is no peer yet.
    #[error("the connection has no peer yet")]
    NotConnected,
    /// The user has closed its direction, and cannot write.
    #[error("the connection is closing")]
    Closing,
    /// The connection is over.
    #[error("{0}")]
    Ended(#[from] End),
}

/// Events not yet reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    pub(super) connected: bool,
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) peer_closed: bool,
    pub(super) ended: Option<End>,
}

impl Pending {
    /// The next event, in the order in which they can have happened.
    pub(super) fn next(&mut self) -> Option<Event> {
        let flags = [
            (&mut self.connected, Event::Connected),
            (&mut self.readable, Event::Readable),
            (&mut self.writable, Event::Writable),
            (&mut self.peer_closed, Event::PeerClosed),
        ];
        let next = flags.into_iter().find_map(|(flag, event)| core::mem::take(flag).then_some(event));
        next.or_else(|| self.ended.take().map(Event::Ended))
    }
}
