//! Link-layer headers of captured frames (<https://www.tcpdump.org/linktypes.html>).

use crate::arrivals::Direction;
use etherparse::{EtherType, ether_type};

/// A link type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    Ethernet,
    /// No link-layer header.
    RawIp,
    /// Four bytes with the address family.
    Loopback,
    /// `tcpdump -i any`, version 1.
    LinuxCooked,
    /// `tcpdump -i any`, version 2.
    LinuxCooked2,
}

/// Packet type of a Linux cooked header: sent by this machine.
const OUTGOING: u8 = 4;

impl Link {
    pub(super) fn from_code(code: i32) -> Option<Self> {
        match code {
            1 => Some(Self::Ethernet),
            12 | 14 | 101 | 228 | 229 => Some(Self::RawIp),
            0 | 108 => Some(Self::Loopback),
            113 => Some(Self::LinuxCooked),
            276 => Some(Self::LinuxCooked2),
            _ => None,
        }
    }

    /// The network packet in `frame` and its stated type, if the frame is long enough.
    pub(super) fn packet(self, frame: &[u8]) -> Option<(EtherType, &[u8])> {
        match self {
            Self::Ethernet => Some((protocol(frame, 12)?, frame.get(14..)?)),
            Self::RawIp => Some((ip_version(frame)?, frame)),
            Self::Loopback => {
                let packet = frame.get(4..)?;
                Some((ip_version(packet)?, packet))
            }
            Self::LinuxCooked => Some((protocol(frame, 14)?, frame.get(16..)?)),
            Self::LinuxCooked2 => Some((protocol(frame, 0)?, frame.get(20..)?)),
        }
    }

    /// The direction of `frame`, if its header states it.
    pub(super) fn direction(self, frame: &[u8]) -> Option<Direction> {
        let packet_type = match self {
            Self::LinuxCooked => frame.get(1)?,
            Self::LinuxCooked2 => frame.get(10)?,
            Self::Ethernet | Self::RawIp | Self::Loopback => return None,
        };
        Some(if *packet_type == OUTGOING { Direction::Send } else { Direction::Receive })
    }
}

fn protocol(frame: &[u8], at: usize) -> Option<EtherType> {
    let bytes = frame.get(at..)?.first_chunk()?;
    Some(EtherType(u16::from_be_bytes(*bytes)))
}

fn ip_version(packet: &[u8]) -> Option<EtherType> {
    match packet.first()? >> 4 {
        4 => Some(ether_type::IPV4),
        6 => Some(ether_type::IPV6),
        _ => None,
    }
}
