//! Writes valid frames of a flow into the caller's buffer.

use super::checksum::Sum;
use super::ethernet::{self, MIN_FRAME};
use super::fddi::{FRAME_CONTROL_LLC, FddiHeader, LLC_SNAP};
use super::ipv4::{Ipv4Header, PROTOCOL_UDP, VERSION_AND_LENGTH};
use super::udp::{UdpHeader, pseudo_header};
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

    /// Length of the frame that carries `payload` bytes of payload.
    ///
    /// Ethernet pads short frames to 60 bytes, to which tags are added.
    #[must_use]
    pub const fn frame_length(&self, payload: usize) -> usize {
        let length = self.link.header() + ipv4::HEADER + udp::HEADER + payload;
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

    /// Writes the frame that carries `payload` to the start of `buffer`, and returns it.
    ///
    /// # Errors
    /// The payload does not fit the link's frame, or the frame does not fit `buffer`.
    pub fn write<'b>(&self, payload: &[u8], buffer: &'b mut [u8]) -> Result<&'b mut [u8], BuildError> {
        let max = self.link.max_payload();
        if payload.len() > max {
            return Err(BuildError::PayloadTooLong { length: payload.len(), max });
        }
        let needed = self.frame_length(payload.len());
        let length = buffer.len();
        let frame = buffer.get_mut(..needed).ok_or(BuildError::BufferTooShort { length, needed })?;
        self.fill(payload, frame);
        Ok(frame)
    }

    /// Writes every byte of `frame`, whose length must fit `payload`.
    fn fill(&self, payload: &[u8], frame: &mut [u8]) {
        let (link_header, datagram) = frame.split_at_mut(self.link_header());
        let (ip_header, user_datagram) = datagram.split_at_mut(ipv4::HEADER);
        let (udp_header, data) = user_datagram.split_at_mut(udp::HEADER);
        let (data, padding) = data.split_at_mut(payload.len());
        let ip = self.ip_header(payload.len());
        self.write_link_header(link_header);
        ip_header.copy_from_slice(ip.as_bytes());
        udp_header.copy_from_slice(self.udp_header(&ip, payload).as_bytes());
        data.copy_from_slice(payload);
        padding.fill(0);
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

    fn ip_header(&self, payload: usize) -> Ipv4Header {
        let mut header = Ipv4Header {
            version_and_length: VERSION_AND_LENGTH,
            service: 0,
            total_length: length_field(ipv4::HEADER + udp::HEADER + payload),
            identification: U16::new(self.identification),
            fragment: U16::ZERO,
            time_to_live: TIME_TO_LIVE,
            protocol: PROTOCOL_UDP,
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
            let sum = pseudo_header(ip, header.length.get()).with(header.as_bytes()).with(payload);
            header.checksum = match sum.checksum() {
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
