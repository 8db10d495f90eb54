//! A server below the kernel's sockets: its datagrams are frames of an interface, and the kernel's UDP has no part in it.
//!
//! | module | holds |
//! |---|---|
//! | `open` | a device's queues, and which policies it has |
//! | `link` | frames in and out of one queue, as datagrams |
//! | `neighbours` | to which link address a peer's frames go |
//! | `batch` | datagrams copied out of frames |
//! | `port`, `turns` | all queues together, how workers wait for them, and their end |

mod batch;
mod link;
mod neighbours;
mod open;
mod port;
mod turns;

pub(super) use link::{SharedLink, lock};
pub(super) use port::{InterfacePort, Receiver};

use std::net::SocketAddrV4;

/// How a server receives below the kernel's sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// A packet socket for each worker, in one group. The kernel's own stack sees the frames too.
    PacketSocket,
    /// An AF_XDP socket for each receive queue of the interface. The kernel never sees the server's datagrams.
    Xdp,
    /// A TUN interface that the server makes, with a queue for each worker. It ends with the server.
    Tun,
}

/// A server's place on an interface.
#[derive(Clone, Debug)]
pub(in crate::server) struct Below {
    pub(in crate::server) device: Device,
    pub(in crate::server) interface: String,
    pub(in crate::server) address: SocketAddrV4,
}

impl Device {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::PacketSocket, Self::Xdp, Self::Tun];

    /// Whether a flow stays with its queue, whoever sends to its peer.
    pub(super) const fn keeps_flows(self) -> bool {
        // An interface may move a flow: when its table of queues is changed, or, with TUN, to the queue that sends to it.
        matches!(self, Self::PacketSocket)
    }
}
