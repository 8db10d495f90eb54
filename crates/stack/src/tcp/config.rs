//! What a connection is set up with.

use crate::wire::{ipv4, tcp};
use core::time::Duration;

/// Largest buffer: the largest window of RFC 7323, §2.3.
const MAX_BUFFER: usize = 1 << 30;

/// Most bytes of data that fit a datagram of IPv4 behind a header without options.
const MAX_SEGMENT: u16 = u16::MAX - (ipv4::HEADER + tcp::HEADER) as u16;

/// Configuration of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Most bytes of data in a segment that is sent, and what the peer is asked to keep to. The peer may ask
    /// for less. From 1 to 65,495, what a datagram of IPv4 carries.
    ///
    /// A peer that is asked for fewer than 64 may send 64, as we do: less would be mostly headers. Larger
    /// segments are received too.
    pub max_segment_size: u16,
    /// Bytes that may be written and not yet acknowledged, from 1 to 2^30.
    pub send_buffer: usize,
    /// Bytes that may be received and not yet read, from 1 to 2^30. This is the largest window.
    pub receive_buffer: usize,
    /// Whether windows above 65,535 bytes are offered (RFC 7323, §2).
    pub window_scaling: bool,
    /// Whether small segments wait while data is unacknowledged (Nagle, RFC 9293, §3.7.4).
    pub nagle: bool,
    /// How long an acknowledgement may wait for a second segment or for data; at most 500 ms (RFC 9293,
    /// §3.8.6.3). Zero acknowledges every segment at once.
    pub delayed_ack: Duration,
    /// First retransmission timeout, before a round trip has been measured (RFC 6298, rule 2.1).
    pub initial_timeout: Duration,
    /// Shortest retransmission timeout. RFC 6298, rule 2.4 has 1 s, today's systems 200 ms.
    pub min_timeout: Duration,
    /// Longest retransmission timeout and longest pause between probes of a closed window.
    pub max_timeout: Duration,
    /// How often in a row something is retransmitted, or a window probed in vain, before the
    /// connection is given up.
    pub retries: u32,
    /// How long a segment may live in the network; TIME-WAIT takes twice as long.
    pub max_segment_lifetime: Duration,
    /// Which of the changes of Mosberger 1996, §2.2, and of the fast paths it discusses, are made.
    pub changes: Changes,
}

impl Default for Config {
    /// Ethernet without options, buffers of 64 KiB, and the timeouts of the RFCs.
    fn default() -> Self {
        Self {
            max_segment_size: 1460,
            send_buffer: 1 << 16,
            receive_buffer: 1 << 16,
            window_scaling: true,
            nagle: true,
            delayed_ack: Duration::from_millis(200),
            initial_timeout: Duration::from_secs(1),
            min_timeout: Duration::from_secs(1),
            max_timeout: Duration::from_secs(60),
            retries: 12,
            max_segment_lifetime: Duration::from_secs(60),
            changes: Changes::default(),
        }
    }
}

impl Config {
    /// The configuration with every size within its bounds.
    pub(super) fn bounded(self) -> Self {
        Self {
            max_segment_size: self.max_segment_size.clamp(1, MAX_SEGMENT),
            send_buffer: self.send_buffer.clamp(1, MAX_BUFFER),
            receive_buffer: self.receive_buffer.clamp(1, MAX_BUFFER),
            ..self
        }
    }
}

/// Changes to TCP that Mosberger 1996 discusses, each with its switch, so that Table 1 can be built
/// with and without. None changes what is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Changes {
    /// No multiplication or division for windows (§2.2.2, "Avoid integer division" in Table 1): an open
    /// congestion window is not enlarged further, and a window update is due at 33 instead of 35 percent
    /// of the buffer, computed with shifts. That of the round-trip estimate, in `Duration`, remains.
    pub avoid_division: bool,
    /// Header prediction (§2.3): segments that carry only what was expected skip most checks. The
    /// source's own TCP is without, DEC Unix with it.
    pub header_prediction: bool,
}

impl Default for Changes {
    /// The source's improved TCP.
    fn default() -> Self {
        Self { avoid_division: true, header_prediction: false }
    }
}
