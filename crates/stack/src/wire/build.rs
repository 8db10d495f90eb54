//! Writes valid frames of a flow into the caller's buffer.

use super::checksum::Sum;
use super::ethernet::{self, MIN_FRAME};
use super::fddi::{FRAME_CONTROL_LLC, FddiHeader, LLC_SNAP};
use super::ipv4::{Ipv4Header, PROTOCOL_TCP, PROTOCOL_UDP, VERSION_AND_LENGTH, pseudo_header};
use super::tcp::Segment;
use super::udp::UdpHeader;
use super::vlan::Tags;
use super::{ETHERTYPE_IPV4, LinkKind, ipv4, udp};
use crate::flow::Flow;
use zerocopy::IntoBytes;
use zerocopy::network_endian::U16;

/// Time to live of the datagrams.
const TIME_TO_LIVE: u8 = 64;

/// Writes the frames of one flow.
///
/// ```
/// use warmcore_stack::wire::{FrameBuilder, LinkKind, classify};
/// use warmcore_stack::Flow;
///
/// let flow = Flow::synthetic(1);
/// let mut buffer = [0; 256];
/// let frame = FrameBuilder::new(LinkKind::Fddi, flow).write(b"hello", &mut buffer)?;
/// assert_eq!(classify(LinkKind::Fddi, frame), Ok(flow.key()));
/// # Ok::<(), warmcore_stack::wire::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FrameBuilder {
    /// Framing.
    pub link: LinkKind,
    /// The addresses and ports the frames carry.
    pub flow: Flow,
    /// VLAN tags of Ethernet frames. FDDI has none.
    pub tags: Tags,
    /// IP identification of the datagrams.
    pub identification: u16,
    /// Whether the UDP checksum is computed. If not, it is zero, which means "none".
    pub udp_checksum: bool,
}

impl FrameBuilder {
    /// A builder of frames of `flow`, with UDP checksums and without VLAN tags.
    #[must_use]
    pub const fn new(link: LinkKind, flow: Flow) -> Self {
        Self { link, flow, tags: Tags::NONE, identification: 0, udp_checksum: true }
    }

    /// Length of the frame that carries `payload` bytes of payload over UDP.
    ///
    /// Ethernet pads short frames to 60 bytes, to which tags are added.
    #[must_use]
    pub const fn frame_length(&self, payload: usize) -> usize {
        self.length_around(udp::HEADER + payload)
    }

    /// Length of the frame that carries `segment`.
    #[must_use]
    pub const fn segment_frame_length(&self, segment: &Segment<'_>) -> usize {
        self.length_around(segment.length_on_wire())
    }

    /// Length of the frame whose datagram carries `data` bytes.
    const fn length_around(&self, data: usize) -> usize {
        let length = self.link.header() + ipv4::HEADER + data;
        match self.link {
            LinkKind::Ethernet if length < MIN_FRAME => MIN_FRAME + self.tags.length(),
            LinkKind::Ethernet => length + self.tags.length(),
            LinkKind::Fddi => length,
        }
    }

    /// Length of the link header, with tags.
    const fn link_header(&self) -> usize {
        match self.link {
            LinkKind::Ethernet => self.link.header() + self.tags.length(),
            LinkKind::Fddi => self.link.header(),
        }
    }

    /// Writes the frame that carries `payload` over UDP to the start of `buffer`, and returns it.
    ///
    /// # Errors
    /// The payload does not fit the link's frame, or the frame does not fit `buffer`.
    pub fn write<'b>(&self, payload: &[u8], buffer: &'b mut [u8]) -> Result<&'b mut [u8], BuildError> {
        let max = self.link.max_payload();
        if payload.len() > max {
            return Err(BuildError::PayloadTooLong { length: payload.len(), max });
        }
        self.enclose(PROTOCOL_UDP, udp::HEADER + payload.len(), buffer, |ip, data| {
            let (udp_header, data) = data.split_at_mut(udp::HEADER);
            udp_header.copy_from_slice(self.udp_header(ip, payload).as_bytes());
            data.copy_from_slice(payload);
        })
    }

    /// Writes the frame that carries the TCP segment `segment`, always with its checksum, to the start of
    /// `buffer`, and returns it.
    ///
    /// # Errors
    /// The segment does not fit the link's frame, or the frame does not fit `buffer`.
    pub fn write_segment<'b>(
        &self,
        segment: &Segment<'_>,
        buffer: &'b mut [u8],
    ) -> Result<&'b mut [u8], BuildError> {
        let max = self.link.max_frame() - self.link.header() - ipv4::HEADER - segment.header_length();
        let length = segment.payload.len();
        if length > max {
            return Err(BuildError::PayloadTooLong { length, max });
        }
        self.enclose(PROTOCOL_TCP, segment.length_on_wire(), buffer, |_, data| segment.fill(&self.flow, data))
    }

    /// Writes the headers around a datagram of `data` bytes, which `fill` writes, and the padding.
    fn enclose<'b>(
        &self,
        protocol: u8,
        data: usize,
        buffer: &'b mut [u8],
        fill: impl FnOnce(&Ipv4Header, &mut [u8]),
    ) -> Result<&'b mut [u8], BuildError> {
        let needed = self.length_around(data);
        let length = buffer.len();
        let frame = buffer.get_mut(..needed).ok_or(BuildError::BufferTooShort { length, needed })?;
        let (link_header, datagram) = frame.split_at_mut(self.link_header());
        let (ip_header, rest) = datagram.split_at_mut(ipv4::HEADER);
        let (body, padding) = rest.split_at_mut(data);
        let ip = self.ip_header(protocol, data);
        self.write_link_header(link_header);
        ip_header.copy_from_slice(ip.as_bytes());
        fill(&ip, body);
        padding.fill(0);
        Ok(frame)
    }

    fn write_link_header(&self, bytes: &mut [u8]) {
        let Flow { source_link: source, destination_link: destination, .. } = self.flow;
        match self.link {
            LinkKind::Ethernet => {
                ethernet::write_header(bytes, destination, source, self.tags, ETHERTYPE_IPV4);
            }
            LinkKind::Fddi => {
                let ethertype = U16::new(ETHERTYPE_IPV4);
                let frame_control = FRAME_CONTROL_LLC;
                let header = FddiHeader { frame_control, destination, source, llc_snap: LLC_SNAP, ethertype };
                bytes.copy_from_slice(header.as_bytes());
            }
        }
    }

    fn ip_header(&self, protocol: u8, data: usize) -> Ipv4Header {
        let mut header = Ipv4Header {
            version_and_length: VERSION_AND_LENGTH,
            service: 0,
            total_length: length_field(ipv4::HEADER + data),
            identification: U16::new(self.identification),
            fragment: U16::ZERO,
            time_to_live: TIME_TO_LIVE,
            protocol,
            checksum: [0; 2],
            source: self.flow.source.octets(),
            destination: self.flow.destination.octets(),
        };
        header.checksum = Sum::ZERO.with(header.as_bytes()).checksum();
        header
    }

    fn udp_header(&self, ip: &Ipv4Header, payload: &[u8]) -> UdpHeader {
        let mut header = UdpHeader {
            source_port: U16::new(self.flow.source_port),
            destination_port: U16::new(self.flow.destination_port),
            length: length_field(udp::HEADER + payload.len()),
            checksum: [0; 2],
        };
        if self.udp_checksum {
            let sum = pseudo_header(ip.source, ip.destination, PROTOCOL_UDP, header.length.get());
            header.checksum = match sum.with(header.as_bytes()).with(payload).checksum() {
                [0, 0] => [0xff, 0xff], // zero would mean that there is no checksum
                checksum => checksum,
            };
        }
        header
    }
}

/// A length as a header field. It was checked against the link's longest frame.
const fn length_field(length: usize) -> U16 {
    U16::new(length as u16)
}

/// Why a frame could not be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// The payload does not fit the largest frame of the link.
    #[error("a payload of {length} bytes does not fit one frame, which carries at most {max}")]
    PayloadTooLong {
        /// Bytes of payload given.
        length: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// The buffer is shorter than the frame.
    #[error("the buffer has {length} bytes, and the frame needs {needed}")]
    BufferTooShort {
        /// Bytes in the buffer.
        length: usize,
        /// Bytes the frame needs.
        needed: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_beyond_the_link_and_a_short_buffer_are_refused() {
        for link in [LinkKind::Fddi, LinkKind::Ethernet] {
            let builder = FrameBuilder::new(link, Flow::synthetic(0));
            let mut buffer = vec![0; link.max_frame() + 1];
            let max = link.max_payload();
            let payload = vec![0; max + 1];
            assert_eq!(
                builder.write(&payload[..max], &mut buffer).map(|frame| frame.len()),
                Ok(link.max_frame())
            );
            let too_long = BuildError::PayloadTooLong { length: max + 1, max };
            assert_eq!(builder.write(&payload, &mut buffer), Err(too_long));
            let needed = builder.frame_length(100);
            let too_short = BuildError::BufferTooShort { length: needed - 1, needed };
            assert_eq!(builder.write(&payload[..100], &mut buffer[..needed - 1]), Err(too_short));
        }
    }
}
