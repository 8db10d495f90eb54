//! IP: datagrams between hosts.

use crate::layer::{Above, Below, Demux, Lost};
use crate::message::Message;
use crate::on_path;
use core::cell::Cell;
use core::hint::cold_path;
use core::net::Ipv4Addr;
use warmcore_stack::DropReason;
use warmcore_stack::wire::checksum::Sum;
use warmcore_stack::wire::ipv4::{self, HEADER, Ipv4Header, VERSION_AND_LENGTH};
use zerocopy::IntoBytes;
use zerocopy::network_endian::U16;

const TIME_TO_LIVE: u8 = 64;
/// Most bytes of a datagram on the link.
const MTU: usize = 1500;

/// The way down: a session between two hosts.
pub struct IpOut<B: Below + ?Sized + 'static> {
    /// This host.
    pub source: Ipv4Addr,
    /// The peer.
    pub destination: Ipv4Addr,
    /// What the datagrams carry.
    pub protocol: u8,
    /// Identification of the next datagram.
    pub identification: Cell<u16>,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for IpOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let length = HEADER + message.len();
            if length > MTU {
                // TCP keeps its segments shorter.
                cold_path();
                return Err(Lost::NoSpace);
            }
            let identification = self.identification.get();
            self.identification.set(identification.wrapping_add(1));
            let mut header = Ipv4Header {
                version_and_length: VERSION_AND_LENGTH,
                service: 0,
                total_length: U16::new(length as u16),
                identification: U16::new(identification),
                fragment: U16::ZERO,
                time_to_live: TIME_TO_LIVE,
                protocol: self.protocol,
                checksum: [0; 2],
                source: self.source.octets(),
                destination: self.destination.octets(),
            };
            header.checksum = checksum(header.as_bytes());
            let Some(bytes) = message.push(HEADER) else {
                cold_path();
                return Err(Lost::NoSpace);
            };
            bytes.copy_from_slice(header.as_bytes());
            self.below.push(message)
        }
    }
}

/// The checksum of a header.
#[inline(never)]
fn checksum(header: &[u8]) -> [u8; 2] {
    Sum::ZERO.with(header).checksum()
}

/// The way up: checks the header, and finds who the data is for.
pub struct IpIn<D: Demux> {
    /// This host.
    pub address: Ipv4Addr,
    /// Who is above, by protocol.
    pub above: D,
    /// What was lost last, and how much altogether.
    pub lost: Cell<(Option<DropReason>, u64)>,
}

impl<D: Demux> Above for IpIn<D> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            // The header says which protocol it carries; the parser wants to be told, and checks everything else.
            let protocol = message.bytes().get(9).copied().unwrap_or(0);
            let datagram = match ipv4::parse_carrying(protocol, message.bytes()) {
                Ok(datagram) => datagram,
                Err(reason) => {
                    cold_path();
                    self.lost.set((Some(reason), self.lost.get().1 + 1));
                    return Err(Lost::Malformed);
                }
            };
            if datagram.header.destination() != self.address {
                cold_path();
                return Err(Lost::Unclaimed);
            }
            let (header, length) = (datagram.header_length, datagram.data.len());
            message.strip(header);
            message.truncate(length);
            let Some(above) = self.above.find(u32::from(protocol)) else {
                cold_path();
                return Err(Lost::Unclaimed);
            };
            above.pop(message)
        }
    }
}
