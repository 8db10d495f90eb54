//! ETH: the part of the Ethernet driver that no device decides.

use crate::layer::{Above, Below, Demux, Lost};
use crate::message::Message;
use crate::on_path;
use core::cell::Cell;
use core::hint::cold_path;
use warmcore_stack::LinkAddress;
use warmcore_stack::wire::ethernet::{EthernetHeader, HEADER};
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, IntoBytes};

/// The way down: puts the header in front.
pub struct EthOut<B: Below + ?Sized + 'static> {
    /// This station.
    pub station: LinkAddress,
    /// The peer's.
    pub peer: LinkAddress,
    /// What the frames carry.
    pub ethertype: u16,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for EthOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            let ethertype = U16::new(self.ethertype);
            let header = EthernetHeader { destination: self.peer, source: self.station, ethertype };
            let Some(bytes) = message.push(HEADER) else {
                cold_path();
                return Err(Lost::NoSpace);
            };
            bytes.copy_from_slice(header.as_bytes());
            self.below.push(message)
        }
    }
}

/// The way up: checks the header, and finds who its data is for.
pub struct EthIn<D: Demux> {
    /// This station.
    pub station: LinkAddress,
    /// Who is above, by EtherType.
    pub above: D,
    /// Frames that were for somebody else.
    pub foreign: Cell<u64>,
}

impl<D: Demux> Above for EthIn<D> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let Ok((header, _)) = EthernetHeader::ref_from_prefix(message.bytes()) else {
                cold_path();
                return Err(Lost::Malformed);
            };
            let (destination, source, ethertype) = (header.destination, header.source, header.ethertype.get());
            if destination != self.station && destination.is_unicast() {
                cold_path();
                self.foreign.set(self.foreign.get() + 1);
                return Err(Lost::Unclaimed);
            }
            message.peer = source;
            message.strip(HEADER);
            let Some(above) = self.above.find(u32::from(ethertype)) else {
                cold_path();
                return Err(Lost::Unclaimed);
            };
            above.pop(message)
        }
    }
}
