//! Finds the segment and the flow of a frame.

use super::{CHECKSUM, Segment, parse};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::wire::ipv4::PROTOCOL_TCP;
use crate::wire::{LinkKind, ipv4};

/// Reads the segment that `frame` carries and the addresses it carries it between, with every check of
/// every layer: those of the headers, and both checksums.
///
/// It does not check that the frame is for this host.
///
/// # Errors
/// The frame carries no TCP ([`DropReason::IpProtocol`]), or what a layer's `parse` refuses.
///
/// ```
/// use warmcore_stack::Flow;
/// use warmcore_stack::wire::tcp::{Segment, parse_frame};
/// use warmcore_stack::wire::{FrameBuilder, LinkKind};
///
/// let (flow, segment) = (Flow::synthetic(1), Segment { syn: true, ..Segment::default() });
/// let mut buffer = [0; 64];
/// let frame = FrameBuilder::new(LinkKind::Ethernet, flow).write_segment(&segment, &mut buffer)?;
/// assert_eq!(parse_frame(LinkKind::Ethernet, frame), Ok((flow, segment)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline]
pub fn parse_frame(link: LinkKind, frame: &[u8]) -> Result<(Flow, Segment<'_>), DropReason> {
    let frame = link.parse(frame)?;
    let datagram = ipv4::parse_carrying(PROTOCOL_TCP, frame.data)?;
    let parsed = parse(datagram.data)?;
    parsed.verify(datagram.header)?;
    let flow = Flow {
        source_link: frame.source,
        destination_link: frame.destination,
        source: datagram.header.source(),
        destination: datagram.header.destination(),
        source_port: parsed.header.source_port.get(),
        destination_port: parsed.header.destination_port.get(),
    };
    Ok((flow, parsed.segment))
}

/// Writes the checksum of the segment that `frame` carries, for who got it from a sender that left it to the
/// device. Does nothing to a frame that carries none.
pub fn write_checksum(link: LinkKind, frame: &mut [u8]) {
    let Some((at, checksum)) = checksum(link, frame) else { return };
    if let Some(field) = frame.get_mut(at..at + 2) {
        field.copy_from_slice(&checksum);
    }
}

/// Where the checksum stands in `frame`, and what it should be.
fn checksum(link: LinkKind, frame: &[u8]) -> Option<(usize, [u8; 2])> {
    let parsed = link.parse(frame).ok()?;
    let datagram = ipv4::parse_carrying(PROTOCOL_TCP, parsed.data).ok()?;
    let header = datagram.header;
    let (before, from) = datagram.data.split_at_checked(CHECKSUM)?;
    let after = from.get(2..)?;
    let length = u16::try_from(datagram.data.len()).ok()?;
    let sum = ipv4::pseudo_header(header.source, header.destination, PROTOCOL_TCP, length);
    let at = parsed.header_length + datagram.header_length + CHECKSUM;
    Some((at, sum.with(before).with(after).checksum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FrameBuilder;
    use crate::wire::tcp::Payload;
    use proptest::prelude::*;

    fn frame(link: LinkKind, payload: &[u8]) -> Vec<u8> {
        let segment = Segment { payload: Payload::from(payload), window: 5, ..Segment::default() };
        let mut buffer = [0; 200];
        let builder = FrameBuilder::new(link, Flow::synthetic(1));
        builder.write_segment(&segment, &mut buffer).unwrap().to_vec()
    }

    proptest! {
        #[test]
        fn one_wrong_bit_in_any_layer_is_noticed(
            is_fddi: bool,
            payload in prop::collection::vec(any::<u8>(), 20..100),
            at: prop::sample::Index,
        ) {
            let link = if is_fddi { LinkKind::Fddi } else { LinkKind::Ethernet };
            let mut frame = frame(link, &payload);
            let header = link.header();
            let bit = header * 8 + at.index((frame.len() - header) * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(parse_frame(link, &frame).is_err());
        }

        #[test]
        fn any_bytes_and_any_end_are_refused_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            end in 0..70_usize,
        ) {
            for link in [LinkKind::Fddi, LinkKind::Ethernet] {
                prop_assert!(parse_frame(link, &bytes).is_err());
                prop_assert!(parse_frame(link, &frame(link, &[7; 20])[..end]).is_err());
            }
        }
    }

    #[test]
    fn a_checksum_that_was_left_out_is_written() {
        for link in [LinkKind::Fddi, LinkKind::Ethernet] {
            for length in [0, 7, 60] {
                let complete = frame(link, &vec![9; length]);
                let mut spoilt = complete.clone();
                let at = link.header() + ipv4::HEADER + CHECKSUM;
                spoilt[at] ^= 0x55;
                assert!(parse_frame(link, &spoilt).is_err());
                write_checksum(link, &mut spoilt);
                assert_eq!(spoilt, complete);
            }
            write_checksum(link, &mut [0; 30]);
        }
    }

    #[test]
    fn another_protocol_is_refused() {
        let mut buffer = [0; 100];
        let frame = FrameBuilder::new(LinkKind::Ethernet, Flow::synthetic(1)).write(&[7; 30], &mut buffer);
        assert_eq!(parse_frame(LinkKind::Ethernet, frame.unwrap()), Err(DropReason::IpProtocol));
    }
}
