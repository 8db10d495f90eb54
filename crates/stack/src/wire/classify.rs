//! From a frame to its 5-tuple.

use super::{LinkKind, ipv4, udp};
use crate::drop_reason::DropReason;
use crate::flow::FlowKey;

/// The 5-tuple of `frame`, from its headers alone: no session is looked up or written.
///
/// A driver asks before it has chosen the processor that will receive the frame, so this makes
/// every check that the headers allow, and leaves the payload alone (the UDP checksum is not
/// verified).
///
/// # Errors
/// The headers are such that no stack would deliver the frame.
#[inline]
pub fn classify(link: LinkKind, frame: &[u8]) -> Result<FlowKey, DropReason> {
    let frame = link.parse(frame)?;
    let datagram = ipv4::parse(frame.data)?;
    let user_datagram = udp::parse(datagram.data)?;
    Ok(FlowKey {
        source: datagram.header.source(),
        destination: datagram.header.destination(),
        protocol: datagram.header.protocol,
        source_port: user_datagram.header.source_port.get(),
        destination_port: user_datagram.header.destination_port.get(),
    })
}
