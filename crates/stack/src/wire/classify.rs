//! From a frame to its flow.

use super::ipv4::Datagram;
use super::udp::UserDatagram;
use super::{LinkFrame, LinkKind, ipv4, udp};
use crate::drop_reason::DropReason;
use crate::flow::{Flow, FlowKey};

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
    let (_, datagram, user_datagram) = headers(link, frame)?;
    Ok(FlowKey {
        source: datagram.header.source(),
        destination: datagram.header.destination(),
        protocol: datagram.header.protocol,
        source_port: user_datagram.header.source_port.get(),
        destination_port: user_datagram.header.destination_port.get(),
    })
}

impl Flow {
    /// The flow that `frame` belongs to, with all addresses and ports as they stand in it; from
    /// its headers alone, as with [`classify`].
    ///
    /// So a server opens a stream for a sender it has not seen, and with [`reversed`](Self::reversed)
    /// answers it. Opening checks the sender's addresses. Nobody has checked that the frame is for
    /// this host, or that its sender is who it says.
    ///
    /// # Errors
    /// The headers are such that no stack would deliver the frame.
    ///
    /// ```
    /// use warmcore_stack::Flow;
    /// use warmcore_stack::wire::{FrameBuilder, LinkKind};
    ///
    /// let (mut asked, mut answered) = ([0; 64], [0; 64]);
    /// let question = FrameBuilder::new(LinkKind::Ethernet, Flow::synthetic(1)).write(b"?", &mut asked)?;
    /// let flow = Flow::parse(LinkKind::Ethernet, question)?;
    /// let answer = FrameBuilder::new(LinkKind::Ethernet, flow.reversed()).write(b"!", &mut answered)?;
    /// assert_eq!(Flow::parse(LinkKind::Ethernet, answer)?.destination, Flow::synthetic(1).source);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(link: LinkKind, frame: &[u8]) -> Result<Self, DropReason> {
        let (frame, datagram, user_datagram) = headers(link, frame)?;
        Ok(Self {
            source_link: frame.source,
            destination_link: frame.destination,
            source: datagram.header.source(),
            destination: datagram.header.destination(),
            source_port: user_datagram.header.source_port.get(),
            destination_port: user_datagram.header.destination_port.get(),
        })
    }
}

/// The headers of a frame, one layer after the other, each with the checks it needs.
#[inline]
fn headers(
    link: LinkKind,
    frame: &[u8],
) -> Result<(LinkFrame<'_>, Datagram<'_>, UserDatagram<'_>), DropReason> {
    let frame = link.parse(frame)?;
    let datagram = ipv4::parse(frame.data)?;
    let user_datagram = udp::parse(datagram.data)?;
    Ok((frame, datagram, user_datagram))
}
