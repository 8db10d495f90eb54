//! The flow of a stream, who sends to whom, and the 5-tuple that identifies it.

use crate::identifiers::{LinkAddress, PROTOCOL_TCP, PROTOCOL_UDP};
use core::net::Ipv4Addr;

/// The addresses of a stream at every layer, as its packets carry them: the source is the remote
/// sender, the destination is this host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Flow {
    /// MAC address the frames come from.
    pub source_link: LinkAddress,
    /// MAC address of this host.
    pub destination_link: LinkAddress,
    /// IP address the datagrams come from.
    pub source: Ipv4Addr,
    /// IP address of this host.
    pub destination: Ipv4Addr,
    /// UDP or TCP port the datagrams come from.
    pub source_port: u16,
    /// UDP or TCP port of the application on this host.
    pub destination_port: u16,
}

impl Flow {
    /// The flow from the `host`-th of a family of made-up hosts to one made-up receiver.
    ///
    /// Flows of different hosts differ in MAC and IP address and share both ports, so each has its own
    /// session at every layer. The streams in the experiments of Salehi 1994 differ in the same way
    /// ("endpoints on distinct hosts", §5).
    #[must_use]
    pub const fn synthetic(host: u16) -> Self {
        let [high, low] = host.to_be_bytes();
        Self {
            source_link: LinkAddress([0x02, 0, 0, 0, high, low]),
            destination_link: LinkAddress([0x02, 0xff, 0, 0, 0, 1]),
            source: Ipv4Addr::new(10, 1, high, low),
            destination: Ipv4Addr::new(10, 0, 0, 1),
            source_port: 4000,
            destination_port: 5000,
        }
    }

    /// The flow of the answers, from this flow's destination to its source at every layer.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self {
            source_link: self.destination_link,
            destination_link: self.source_link,
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// The 5-tuple that identifies the flow's packets, which carry UDP.
    #[must_use]
    pub const fn key(&self) -> FlowKey {
        self.key_of(PROTOCOL_UDP)
    }

    /// The 5-tuple that identifies the flow's packets, which carry TCP.
    #[must_use]
    pub const fn tcp_key(&self) -> FlowKey {
        self.key_of(PROTOCOL_TCP)
    }

    /// The 5-tuple that identifies the flow's packets, which carry `protocol`.
    pub(crate) const fn key_of(&self, protocol: u8) -> FlowKey {
        FlowKey {
            source: self.source,
            destination: self.destination,
            protocol,
            source_port: self.source_port,
            destination_port: self.destination_port,
        }
    }
}

/// A 5-tuple, which a classifier reads from a frame to find its stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowKey {
    /// IP address of the sender.
    pub source: Ipv4Addr,
    /// IP address of this host.
    pub destination: Ipv4Addr,
    /// IP protocol number: UDP's or TCP's.
    pub protocol: u8,
    /// Port of the sender.
    pub source_port: u16,
    /// Port on this host.
    pub destination_port: u16,
}
