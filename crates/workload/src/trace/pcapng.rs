//! Packets of a pcapng file (draft-ietf-opsawg-pcapng).

use super::link::Link;
use super::{CONTRADICTION, Place, Record, Records, TraceError};
use crate::arrivals::Direction;
use pcap_parser::pcapng::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, PcapNGOption, UnknownBlock, parse_enhancedpacketblock_be,
    parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_unknownblock_be, parse_unknownblock_le,
};
use pcap_parser::traits::PcapNGPacketBlock;

/// The first bytes of such a file, in either byte order.
pub(super) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Block types used here.
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Options of interfaces and packets used here.
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;
const PACKET_FLAGS: u16 = 2;

/// The longest block that Wireshark writes or reads (`wiretap/pcapng.c`).
const LONGEST_BLOCK: u32 = 16 << 20;

/// The packets of the file, in file order.
pub(super) fn records(bytes: &[u8]) -> Result<Records<'_>, TraceError> {
    let mut section = Section { big_endian: false, interfaces: Vec::new() };
    Records::read(bytes, bytes, |rest, place, records| {
        if rest.starts_with(&MAGIC) {
            section = Section::begin(rest, place)?;
        }
        section.read_block(rest, place, records)
    })
}

/// A part of the file, with a byte order and interfaces of its own.
struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

impl Section {
    fn begin(bytes: &[u8], place: Place) -> Result<Self, TraceError> {
        let order = bytes.get(8..12).ok_or_else(|| place.truncated(12_usize.saturating_sub(bytes.len())))?;
        let big_endian = match order {
            [0x4d, 0x3c, 0x2b, 0x1a] => false,
            [0x1a, 0x2b, 0x3c, 0x4d] => true,
            _ => return Err(place.corrupt("does not state its byte order")),
        };
        Ok(Self { big_endian, interfaces: Vec::new() })
    }

    /// Reads the block at the start of `bytes` and returns the bytes after it.
    fn read_block<'a>(
        &mut self,
        bytes: &'a [u8],
        place: Place,
        records: &mut Vec<Record<'a>>,
    ) -> Result<&'a [u8], TraceError> {
        // An impossible length means a corrupt file, not a truncated one.
        if self.block_length(bytes).is_some_and(|length| length % 4 != 0 || length > LONGEST_BLOCK) {
            return Err(place.corrupt(CONTRADICTION));
        }
        let parse = if self.big_endian { parse_unknownblock_be } else { parse_unknownblock_le };
        let (rest, block) = parse(bytes).map_err(|error| place.unparsed(error))?;
        if block.block_len1 != block.block_len2 {
            return Err(place.corrupt(CONTRADICTION));
        }
        match self.block_type(&block) {
            INTERFACE => self.interfaces.push(self.interface(bytes, place)?),
            ENHANCED_PACKET => records.push(self.packet(bytes, place)?),
            SIMPLE_PACKET => return Err(place.corrupt("is a simple packet block, which has no time")),
            OBSOLETE_PACKET => {
                return Err(place.corrupt("is an obsolete packet block; convert the file with editcap"));
            }
            // The section's own header, and blocks that hold no packets.
            _ => {}
        }
        Ok(rest)
    }

    /// The length stated by the block at the start of `bytes`.
    fn block_length(&self, bytes: &[u8]) -> Option<u32> {
        let length = *bytes.get(4..)?.first_chunk()?;
        Some(if self.big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) })
    }

    fn block_type(&self, block: &UnknownBlock<'_>) -> u32 {
        // The parser always reads types as little-endian.
        if self.big_endian { block.block_type.swap_bytes() } else { block.block_type }
    }

    fn interface(&self, bytes: &[u8], place: Place) -> Result<Interface, TraceError> {
        let parse = if self.big_endian {
            parse_interfacedescriptionblock_be
        } else {
            parse_interfacedescriptionblock_le
        };
        let (_, block): (_, InterfaceDescriptionBlock<'_>) =
            parse(bytes).map_err(|_| place.corrupt(CONTRADICTION))?;
        let resolution = option(&block.options, TIME_RESOLUTION).map_or(6, |[resolution]| resolution);
        let ticks = ticks_per_second(resolution)
            .ok_or_else(|| place.corrupt(format!("has a time resolution of {resolution}")))?;
        let offset = option(&block.options, TIME_OFFSET).map_or(0, |offset| {
            if self.big_endian { i64::from_be_bytes(offset) } else { i64::from_le_bytes(offset) }
        });
        Ok(Interface { link: block.linktype.0, ticks, offset })
    }

    fn packet<'a>(&self, bytes: &'a [u8], place: Place) -> Result<Record<'a>, TraceError> {
        let parse = if self.big_endian { parse_enhancedpacketblock_be } else { parse_enhancedpacketblock_le };
        let (_, block) = parse(bytes).map_err(|_| place.corrupt(CONTRADICTION))?;
        let interface = usize::try_from(block.if_id).ok().and_then(|index| self.interfaces.get(index));
        let interface = interface.ok_or_else(|| {
            place.corrupt(format!("names interface {}, which is not described before it", block.if_id))
        })?;
        let code = interface.link;
        let link = Link::from_code(code).ok_or_else(|| place.unknown_link(code))?;
        if block.caplen > block.origlen {
            let problem = format!("claims {} bytes captured of {}", block.caplen, block.origlen);
            return Err(place.corrupt(problem));
        }
        let at = interface.time(block.ts_high, block.ts_low);
        let at = at.ok_or_else(|| place.corrupt("has a time outside the years 1677 to 2262"))?;
        // `data` borrows from the file, but includes padding; `packet_data` borrows from the block and has
        // the length without padding.
        let frame = block.data.get(..block.packet_data().len()).unwrap_or(block.data);
        let direction = self.direction(&block).or_else(|| link.direction(frame));
        Ok(Record {
            at,
            length: block.origlen,
            link,
            direction: direction.unwrap_or(Direction::Receive),
            frame,
        })
    }

    fn direction(&self, block: &EnhancedPacketBlock<'_>) -> Option<Direction> {
        let flags = option(&block.options, PACKET_FLAGS)?;
        let flags = if self.big_endian { u32::from_be_bytes(flags) } else { u32::from_le_bytes(flags) };
        match flags & 3 {
            1 => Some(Direction::Receive),
            2 => Some(Direction::Send),
            _ => None,
        }
    }
}

/// An interface on which packets were captured.
struct Interface {
    link: i32,
    ticks: i128,
    offset: i64,
}

impl Interface {
    /// Nanoseconds since 1970, if they fit.
    fn time(&self, high: u32, low: u32) -> Option<i64> {
        const NANOS: i128 = 1_000_000_000;
        let ticks = i128::from(high) << 32 | i128::from(low);
        i64::try_from(ticks * NANOS / self.ticks + i128::from(self.offset) * NANOS).ok()
    }
}

/// Ticks per second for a resolution of 10^-n seconds, or of 2^-n seconds if its highest bit is set.
fn ticks_per_second(resolution: u8) -> Option<i128> {
    match (resolution & 0x80 != 0, u32::from(resolution & 0x7f)) {
        (false, power @ 0..=19) => Some(10_i128.pow(power)),
        (true, power @ 0..=63) => Some(1 << power),
        _ => None,
    }
}

/// The value of the option with this code, if it is present and has the right length.
fn option<const N: usize>(options: &[PcapNGOption<'_>], code: u16) -> Option<[u8; N]> {
    let option = options.iter().find(|option| option.code.0 == code)?;
    option.as_bytes().ok()?.try_into().ok()
}
