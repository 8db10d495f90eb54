//! Opening the queues of an interface.

use super::link::{Frames, SharedLink};
use super::neighbours::Neighbours;
use super::port::{InterfacePort, Queue};
use super::{Below, Device};
use crate::server::{Policy, ServerError};
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::{Arc, Mutex};
use warmcore_linux::net::sockets::{Port, Sharing};
use warmcore_linux::net::{
    AttachMode, DeviceError, Filter, FrameDevice, Interface, PacketOptions, PacketSocket, Ports, Tun,
    TunHeader, TunMode, TunOptions, XdpInterface, XdpOptions,
};
use warmcore_stack::LinkAddress;

/// The most queues of a TUN interface (the kernel's `MAX_TAP_QUEUES`), and the most packet sockets of a group in kernels
/// before 5.10 (`PACKET_FANOUT_MAX`).
const MOST_QUEUES: usize = 256;

/// What one slot of a ring stands for in a receive buffer's size, in bytes: a frame of Ethernet and what goes with it.
const PACKET_SLOT: usize = 2048;
const XDP_SLOT: usize = 4096;
const SLOTS: core::ops::RangeInclusive<usize> = 64..=1 << 16;

impl Below {
    /// The most workers under `policy`.
    ///
    /// # Errors
    /// If there is no such interface.
    pub(in crate::server) fn most_workers(&self, policy: Policy) -> Result<usize, ServerError> {
        Ok(match self.device {
            _ if policy.is_shared() => Port::MAX_WORKERS,
            Device::Xdp => self.receive_queues()?,
            Device::Tun | Device::PacketSocket => MOST_QUEUES,
        })
    }

    fn receive_queues(&self) -> Result<usize, DeviceError> {
        Interface::find(&self.interface).map(|interface| interface.queues as usize)
    }

    /// Refuses policies that the device has no mechanism for, and more workers than queues.
    pub(in crate::server) fn check(&self, policy: Policy, workers: usize) -> Result<(), ServerError> {
        let refuse = |option, found, expected| Err(ServerError::Option { option, found, expected });
        if workers > self.most_workers(policy)? {
            let expected = match self.device {
                Device::Xdp => {
                    "at most one for each receive queue of the interface (`ethtool -L` changes their number), or a \
                     shared policy"
                }
                Device::Tun | Device::PacketSocket => "at most 256, or a shared policy",
            };
            return refuse("workers", workers.to_string(), expected);
        }
        // The kernel has an address that a socket can be bound to.
        if UdpSocket::bind((*self.address.ip(), 0)).is_ok() {
            let expected = "one that this host does not have: the kernel would answer too";
            return refuse("address", self.address.to_string(), expected);
        }
        let found = format!("{policy:?}");
        match (self.device, policy) {
            (_, Policy::Stealing | Policy::Adaptive) => refuse(
                "policy",
                found,
                "another one: only the kernel's sockets let workers help each other so",
            ),
            (Device::Xdp | Device::Tun, Policy::ByCpu) => {
                let expected =
                    "another one, or a packet socket: here the interface chooses a queue by its hash";
                refuse("policy", found, expected)
            }
            (Device::Xdp, _) if policy.is_shared() && self.receive_queues()? > 1 => {
                let expected =
                    "`ByFlow` or `KernelHash`, or an interface with one receive queue (`ethtool -L`)";
                refuse("policy", found, expected)
            }
            _ => Ok(()),
        }
    }

    /// Opens the queues for so many `workers`, and for peers of so many `flows`.
    pub(in super::super) fn open(
        &self,
        sharing: &Sharing,
        workers: usize,
        receive_buffer: usize,
        flows: usize,
    ) -> Result<InterfacePort, ServerError> {
        let links = match self.device {
            Device::PacketSocket => self.packet_sockets(sharing, workers, receive_buffer, flows),
            Device::Xdp => self.xdp_sockets(receive_buffer, flows),
            Device::Tun => self.tun(if sharing.is_one_socket() { 1 } else { workers }),
        }?;
        let queues = links.into_iter().map(Queue::new).collect::<Result<Vec<_>, _>>();
        let queues = queues.map_err(|error| ServerError::Descriptors(error.to_string()))?;
        InterfacePort::new(self.address, queues, sharing)
            .map_err(|error| ServerError::Descriptors(error.to_string()))
    }

    /// Accepts datagrams to our port, and ARP.
    fn filter(&self) -> Filter {
        Filter::Ports(Ports { ports: vec![self.address.port()], arp: true, ..Ports::default() })
    }

    fn link<D: FrameDevice + 'static>(
        address: SocketAddrV4,
        device: D,
        station: [u8; 6],
        neighbours: &Neighbours,
        other_end: Option<[u8; 6]>,
    ) -> SharedLink {
        let other_end = other_end.map(LinkAddress);
        let frames = Frames::new(device, address, LinkAddress(station), neighbours.clone(), other_end);
        Arc::new(Mutex::new(frames))
    }

    fn packet_sockets(
        &self,
        sharing: &Sharing,
        workers: usize,
        receive_buffer: usize,
        flows: usize,
    ) -> Result<Vec<SharedLink>, DeviceError> {
        let slots = slots(receive_buffer, PACKET_SLOT);
        let options = PacketOptions { slots, filter: self.filter(), ..PacketOptions::default() };
        let sockets = PacketSocket::open_shared(&self.interface, &options, sharing, workers)?;
        let neighbours = Neighbours::new(sockets.len(), flows);
        let link = |socket: PacketSocket| {
            let mac = socket.interface().mac;
            Self::link(self.address, socket, mac, &neighbours, None)
        };
        Ok(sockets.into_iter().map(link).collect())
    }

    /// A socket for each receive queue of the interface: what arrives on a queue without one goes to the kernel.
    fn xdp_sockets(&self, receive_buffer: usize, flows: usize) -> Result<Vec<SharedLink>, DeviceError> {
        let receive_slots = slots(receive_buffer, XDP_SLOT).next_power_of_two() as u32;
        let options = XdpOptions { receive_slots, ..XdpOptions::default() };
        let attached = XdpInterface::attach(&self.interface, &self.filter(), AttachMode::Best)?;
        let neighbours = Neighbours::new(attached.interface().queues as usize, flows);
        let mac = attached.interface().mac;
        let open = |queue| {
            let socket = attached.socket(queue, options)?;
            Ok(Self::link(self.address, socket, mac, &neighbours, None))
        };
        (0..attached.interface().queues).map(open).collect()
    }

    fn tun(&self, number: usize) -> Result<Vec<SharedLink>, DeviceError> {
        let header = TunHeader::default();
        let options = TunOptions { mode: TunMode::Ip(header), several_queues: number > 1 };
        // All peers are at its other end.
        let neighbours = Neighbours::new(1, 0);
        let open = |_| {
            let queue = Tun::open(&self.interface, options)?;
            Ok(Self::link(self.address, queue, header.destination, &neighbours, Some(header.source)))
        };
        (0..number).map(open).collect()
    }
}

/// The slots of a ring that stand for a receive buffer of so many `bytes`.
fn slots(bytes: usize, slot: usize) -> usize {
    (bytes / slot).clamp(*SLOTS.start(), *SLOTS.end())
}
