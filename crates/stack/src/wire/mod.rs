//! Wire formats: the meaning of the bytes of a frame. Nothing here depends on who receives it.
//!
//! ```text
//! FDDI      FC dst src │ LLC SNAP type │ IPv4 header, options │ UDP header │ payload
//! Ethernet     dst src │     tags type │ IPv4 header, options │ UDP header │ payload │ padding
//! ```
//!
//! In place of UDP there may be a [TCP](tcp) segment. The headers of [RPC](rpc) may follow any of these.
//!
//! Each format has one `parse`, which makes every check that its header needs and returns views into
//! the caller's bytes. Headers are plain structs of unaligned bytes laid over the buffer (`zerocopy`).
//! Every slice is taken with a checked bound, so no sequence of bytes can make a function here panic.
//!
//! [`classify`](classify()) reads a frame's 5-tuple without touching any session, for a driver that
//! must choose a processor first; [`Flow::parse`](crate::Flow::parse) reads all its addresses.
//! [`FrameBuilder`] writes valid frames for tests, measurements and answers. [`arp`] lets peers find
//! our station.

pub mod arp;
pub mod build;
pub mod checksum;
mod classify;
pub mod ethernet;
pub mod fddi;
pub mod ipv4;
pub mod rpc;
mod sequence;
pub mod tcp;
pub mod udp;
pub mod vlan;

pub use build::{BuildError, FrameBuilder};
pub use classify::{classify, classify_tcp};
pub use sequence::SequenceNumber;

use crate::drop_reason::DropReason;
use crate::identifiers::LinkAddress;
use vlan::Tags;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;

/// The link type, which determines the layout of frames.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LinkKind {
    /// FDDI with LLC/SNAP, the link of Salehi 1994.
    Fddi,
    /// Ethernet II.
    #[default]
    Ethernet,
}

impl LinkKind {
    /// Reads the link header of `frame`.
    ///
    /// # Errors
    /// See [`fddi::parse`] and [`ethernet::parse`].
    #[inline]
    pub fn parse(self, frame: &[u8]) -> Result<LinkFrame<'_>, DropReason> {
        match self {
            Self::Fddi => fddi::parse(frame),
            Self::Ethernet => ethernet::parse(frame),
        }
    }

    /// The VLAN tags of `frame`. A [`FrameBuilder`] with these tags answers in the same VLAN.
    #[must_use]
    pub fn tags(self, frame: &[u8]) -> Tags {
        match self {
            Self::Fddi => Tags::NONE,
            Self::Ethernet => ethernet::tags(frame),
        }
    }

    /// Length of the link header, without VLAN tags.
    #[must_use]
    pub const fn header(self) -> usize {
        match self {
            Self::Fddi => fddi::HEADER,
            Self::Ethernet => ethernet::HEADER,
        }
    }

    /// Longest frame of the link, from the first byte of its header to the last of its data, without
    /// VLAN tags. A buffer for any frame needs [`vlan::MAX_TAGS`] bytes more.
    #[must_use]
    pub const fn max_frame(self) -> usize {
        match self {
            Self::Fddi => fddi::MAX_FRAME,
            Self::Ethernet => ethernet::MAX_FRAME,
        }
    }

    /// Largest UDP payload that fits one frame with an IP header without options.
    #[must_use]
    pub const fn max_payload(self) -> usize {
        self.max_frame() - self.header() - ipv4::HEADER - udp::HEADER
    }
}

/// A frame that carries IPv4.
#[derive(Clone, Copy, Debug)]
pub struct LinkFrame<'a> {
    /// The station the frame is for.
    pub destination: LinkAddress,
    /// The station that sent it.
    pub source: LinkAddress,
    /// Length of the header before `data`, with VLAN tags.
    pub header_length: usize,
    /// The data that the frame carries, with any padding.
    pub data: &'a [u8],
}
