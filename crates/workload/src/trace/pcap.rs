//! Packets of a pcap file.

use super::link::Link;
use super::{Place, Record, Records, TraceError};
use crate::arrivals::Direction;
use pcap_parser::pcap::{
    LegacyPcapBlock, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};

/// The magic numbers of such files, read as little-endian: microseconds, nanoseconds and a variant with
/// longer record headers, then the first two as written by a big-endian machine.
pub(super) const MAGICS: [u32; 5] = [0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34, 0xd4c3_b2a1, 0x4d3c_b2a1];

/// The longest packet that capture programs write; the header may allow less.
const LONGEST: u32 = 1 << 18;

/// The packets of the file, in file order.
pub(super) fn records(bytes: &[u8]) -> Result<Records<'_>, TraceError> {
    let start = Place { packet: 1, byte: 0 };
    let (rest, header) = parse_pcap_header(bytes).map_err(|error| start.unparsed(error))?;
    let parse = match &header {
        header if header.is_modified_format() => parse_pcap_frame_modified,
        header if header.is_bigendian() => parse_pcap_frame_be,
        _ => parse_pcap_frame,
    };
    Records::read(bytes, rest, |rest, place, records| {
        // An impossible length means a corrupt file, not a truncated one.
        if let Some([captured, original]) = lengths(&header, rest) {
            check_lengths(&header, captured, original, place)?;
        }
        let (after, block) = parse(rest).map_err(|error| place.unparsed(error))?;
        records.push(record(&header, &block, place)?);
        Ok(after)
    })
}

/// The captured and the original length that the record at the start of `bytes` states.
fn lengths(header: &PcapHeader, bytes: &[u8]) -> Option<[u32; 2]> {
    let number = if header.is_bigendian() { u32::from_be_bytes } else { u32::from_le_bytes };
    Some([number(*bytes.get(8..)?.first_chunk()?), number(*bytes.get(12..)?.first_chunk()?)])
}

fn check_lengths(header: &PcapHeader, captured: u32, original: u32, place: Place) -> Result<(), TraceError> {
    if captured > original || captured > header.snaplen.max(LONGEST) {
        return Err(place.corrupt(format!("claims {captured} bytes captured of {original}")));
    }
    Ok(())
}

fn record<'a>(
    header: &PcapHeader,
    block: &LegacyPcapBlock<'a>,
    place: Place,
) -> Result<Record<'a>, TraceError> {
    // The upper half of the link type says whether checksums follow the frames.
    let code = header.network.0 & 0xffff;
    let link = Link::from_code(code).ok_or_else(|| place.unknown_link(code))?;
    let (unit, units) =
        if header.is_nanosecond_precision() { (1, 1_000_000_000) } else { (1_000, 1_000_000) };
    if block.ts_usec >= units {
        return Err(place.corrupt(format!("has a time with {} parts of a second of {units}", block.ts_usec)));
    }
    let at = i64::from(block.ts_sec) * 1_000_000_000 + i64::from(block.ts_usec) * unit;
    let direction = link.direction(block.data).unwrap_or(Direction::Receive);
    Ok(Record { at, length: block.origlen, link, direction, frame: block.data })
}
