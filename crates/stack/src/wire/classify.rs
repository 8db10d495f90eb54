//! Finds the flow of a frame.

use super::ipv4::{Datagram, PROTOCOL_TCP, PROTOCOL_UDP};
use super::{LinkFrame, LinkKind, ipv4, tcp, udp};
use crate::drop_reason::DropReason;
use crate::flow::{Flow, FlowKey};

/// Reads the 5-tuple of `frame`, which carries UDP, from its headers alone; no session is looked up or
/// written.
///
/// A driver calls this before it chooses the processor that will receive the frame. It makes every
/// check that the headers allow and does not touch the payload, so the UDP checksum is not verified.
///
/// # Errors
/// No stack would deliver a frame with these headers.
#[inline]
pub fn classify(link: LinkKind, frame: &[u8]) -> Result<FlowKey, DropReason> {
    classify_carrying(PROTOCOL_UDP, link, frame)
}

/// As [`classify`], for a frame that carries TCP.
///
/// # Errors
/// No stack would receive a frame with these headers.
#[inline]
pub fn classify_tcp(link: LinkKind, frame: &[u8]) -> Result<FlowKey, DropReason> {
    classify_carrying(PROTOCOL_TCP, link, frame)
}

#[inline]
fn classify_carrying(protocol: u8, link: LinkKind, frame: &[u8]) -> Result<FlowKey, DropReason> {
    let Headers { datagram, source_port, destination_port, .. } = headers(protocol, link, frame)?;
    let (source, destination) = (datagram.header.source(), datagram.header.destination());
    Ok(FlowKey { source, destination, protocol, source_port, destination_port })
}

impl Flow {
    /// Reads the flow of `frame`, which carries UDP, with all addresses and ports, from its headers alone, as [`classify`]
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
        Self::parse_carrying(PROTOCOL_UDP, link, frame)
    }

    /// As [`parse`](Self::parse), for a frame that carries TCP.
    ///
    /// # Errors
    /// No stack would receive a frame with these headers.
    pub fn parse_tcp(link: LinkKind, frame: &[u8]) -> Result<Self, DropReason> {
        Self::parse_carrying(PROTOCOL_TCP, link, frame)
    }

    fn parse_carrying(protocol: u8, link: LinkKind, frame: &[u8]) -> Result<Self, DropReason> {
        let Headers { link, datagram, source_port, destination_port } = headers(protocol, link, frame)?;
        Ok(Self {
            source_link: link.source,
            destination_link: link.destination,
            source: datagram.header.source(),
            destination: datagram.header.destination(),
            source_port,
            destination_port,
        })
    }
}

/// The headers of a frame, with both ports.
struct Headers<'a> {
    link: LinkFrame<'a>,
    datagram: Datagram<'a>,
    source_port: u16,
    destination_port: u16,
}

/// Parses the headers of a frame that carries `protocol`, UDP or TCP, layer by layer, with all their checks.
#[inline]
fn headers(protocol: u8, link: LinkKind, frame: &[u8]) -> Result<Headers<'_>, DropReason> {
    let link = link.parse(frame)?;
    let datagram = ipv4::parse_carrying(protocol, link.data)?;
    let (source, destination) = if protocol == PROTOCOL_TCP {
        let header = tcp::parse(datagram.data)?.header;
        (header.source_port, header.destination_port)
    } else {
        let header = udp::parse(datagram.data)?.header;
        (header.source_port, header.destination_port)
    };
    Ok(Headers { link, datagram, source_port: source.get(), destination_port: destination.get() })
}
