//! Why a frame was not delivered.

use core::fmt;

/// Defines the reasons together with the list of all of them.
macro_rules! drop_reasons {
    ($($(#[$doc:meta])* $name:ident => $layer:ident, $text:literal;)*) => {
        /// Why a frame was not delivered. Each has its own count in [`Counters`](crate::Counters).
        ///
        /// A frame is dropped for the first reason that applies on its way up.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, thiserror::Error)]
        pub enum DropReason {
            $($(#[$doc])* #[error($text)] $name,)*
        }

        impl DropReason {
            /// Every reason, in the order in which a frame meets them.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// The layer that refused the frame.
            #[must_use]
            pub const fn layer(self) -> Layer {
                match self { $(Self::$name => Layer::$layer,)* }
            }
        }
    };
}

drop_reasons! {
    /// The free-memory pool had no segment left for the message structure.
    PoolExhausted => Driver, "the free-memory pool is empty";
    /// The frame is shorter than its link header.
    LinkTruncated => Link, "the frame ends inside its link header";
    /// The frame is shorter than its VLAN tags say.
    LinkTagTruncated => Link, "the frame ends inside a VLAN tag";
    /// The frame is longer than the link allows.
    LinkOversized => Link, "the frame is longer than its link allows";
    /// The FDDI frame control is not that of an LLC frame with 48-bit addresses.
    LinkNotLlc => Link, "the FDDI frame does not carry LLC with 48-bit addresses";
    /// The FDDI frame carries LLC, but not the SNAP header that carries IP.
    LinkNotSnap => Link, "the LLC header is not SNAP with an EtherType";
    /// The frame carries something other than IPv4.
    LinkEtherType => Link, "the frame does not carry IPv4";
    /// No open stream receives frames from and to these link addresses.
    LinkNoSession => Link, "no session is open between these link addresses";
    /// The datagram is shorter than a minimal IP header.
    IpTruncated => Ip, "the datagram ends inside its IP header";
    /// The version is not 4.
    IpVersion => Ip, "the IP version is not 4";
    /// The header length is below the minimum, or beyond the end of the frame.
    IpHeaderLength => Ip, "the IP header length is below 20 bytes or beyond the frame";
    /// The total length is below the header length, or beyond the end of the frame.
    IpTotalLength => Ip, "the IP total length is below the header's or beyond the frame";
    /// The header checksum is wrong.
    IpChecksum => Ip, "the IP header checksum is wrong";
    /// The datagram's time to live is zero (RFC 791: it must be destroyed).
    IpTimeToLive => Ip, "the IP time to live is zero";
    /// The datagram is a fragment; this stack does not reassemble.
    IpFragment => Ip, "the datagram is a fragment";
    /// The datagram carries something other than what is received: UDP, or TCP for who receives that.
    IpProtocol => Ip, "the datagram carries another protocol than expected";
    /// No open stream receives datagrams from and to these IP addresses.
    IpNoSession => Ip, "no session is open between these IP addresses";
    /// The segment is shorter than a UDP header.
    UdpTruncated => Udp, "the datagram ends inside its UDP header";
    /// The UDP length is below the header's, or beyond the end of the datagram.
    UdpLength => Udp, "the UDP length is below 8 bytes or beyond the datagram";
    /// The UDP checksum is wrong (only if checksums are verified).
    UdpChecksum => Udp, "the UDP checksum is wrong";
    /// No open stream receives from and to these ports.
    UdpNoSession => Udp, "no session is open between these ports";
    /// The segment is shorter than a TCP header.
    TcpTruncated => Tcp, "the datagram ends inside its TCP header";
    /// The data offset is below the minimum, or beyond the end of the datagram.
    TcpDataOffset => Tcp, "the TCP data offset is below 20 bytes or beyond the datagram";
    /// An option's length is not what its kind has, or beyond the header.
    TcpOption => Tcp, "a TCP option has a wrong length";
    /// The segment opens a connection and ends it at once.
    TcpFlags => Tcp, "the TCP segment has SYN together with FIN or RST";
    /// The TCP checksum is wrong.
    TcpChecksum => Tcp, "the TCP checksum is wrong";
    /// No open stream receives from and to these ports.
    TcpNoSession => Tcp, "no connection is open between these ports";
    /// A layer of RPC refused the packet, as it must if it is late or came twice.
    RpcRefused => Rpc, "the RPC layers refused the packet";
}

impl DropReason {
    /// The reason as an index into a table with one entry for each of [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A layer on a packet's way up (Salehi 1994, figure 2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// The driver, which builds the message around the frame.
    Driver,
    /// FDDI or Ethernet.
    Link,
    /// VNET, the pass-through layer over all links.
    Vnet,
    /// IPv4.
    Ip,
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
    /// RPC.
    Rpc,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver => "driver",
            Self::Link => "link",
            Self::Vnet => "VNET",
            Self::Ip => "IP",
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Rpc => "RPC",
        })
    }
}
