//! The states of a connection (RFC 9293, §3.3.2 and figure 5).

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum State {
    /// Over, or never begun.
    Closed,
    /// Waiting for any peer's SYN.
    Listen,
    /// SYN sent, waiting for the peer's.
    SynSent,
    /// SYN sent and received, ours not acknowledged.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed by us; FIN not acknowledged.
    FinWait1,
    /// Closed by us, FIN acknowledged; the peer still sends.
    FinWait2,
    /// Closed by the peer; we still send.
    CloseWait,
    /// Closed by both at once; our FIN not acknowledged.
    Closing,
    /// Closed by the peer, then by us; our FIN not acknowledged.
    LastAck,
    /// Closed by both; waiting until old segments have left the network.
    TimeWait,
}

impl State {
    /// Whether sequence numbers of both sides are known to both.
    #[must_use]
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }

    /// Whether the peer may still send data.
    #[must_use]
    pub const fn receives(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Whether the user may write, now or before the connection is established.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived | Self::Established | Self::CloseWait)
    }

    /// Whether data and FIN are sent or resent.
    #[must_use]
    pub(super) const fn sends(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }
}
