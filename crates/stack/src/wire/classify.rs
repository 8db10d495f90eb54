//! Finds the flow of a frame.

use super::ipv4::Datagram;
use super::udp::UserDatagram;
use super::{LinkFrame, LinkKind, ipv4, udp};
use crate::drop_reason::DropReason;
use crate::flow::{Flow, FlowKey};

/// Reads the 5-tuple of `frame` from its headers alone; no session is looked up or written.
///
/// A driver calls this before it chooses the processor that will receive the frame. It makes every
/// check that the headers allow and does not touch the payload, so the UDP checksum is not verified.
///
/// # Errors
/// No stack would deliver a frame with these headers.
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
    /// Reads the flow of `frame`, with all addresses and ports, from its headers alone, as [`classify`]
    /// does.
    ///
    /// With this a server can open a stream for a new sender, and answer it with
    /// [`reversed`](Self::reversed). Opening the stream checks the sender's addresses. This function
    /// does not check that the frame is for this host, or that its sender address is genuine.
    ///
    /// # Errors
    /// No stack would deliver a frame with these headers.
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

/// Parses the headers of a frame, layer by layer, with all their checks.
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
