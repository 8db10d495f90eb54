//! smoltcp, configured to receive one flow of UDP.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr};
use warmcore_stack::Flow;

/// Datagrams that the socket can hold. One is enough; a power of two suits its ring.
const SOCKET_DATAGRAMS: usize = 4;
const SOCKET_BYTES: usize = 8192;

/// An interface with one bound UDP socket.
pub(crate) struct Smoltcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    verify_udp_checksum: bool,
}

impl Smoltcp {
    pub(crate) fn new(flow: &Flow, verify_udp_checksum: bool) -> Self {
        let mut device = OneFrame { frame: None, verify_udp_checksum };
        let config = Config::new(EthernetAddress(flow.destination_link.0).into());
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(flow.destination.into(), 8)).expect("the list holds one address");
        });
        let buffer = |bytes| PacketBuffer::new(vec![PacketMetadata::EMPTY; SOCKET_DATAGRAMS], vec![0; bytes]);
        let mut socket = Socket::new(buffer(SOCKET_BYTES), buffer(64));
        socket.bind(flow.destination_port).expect("the socket is bound once");
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(socket);
        Self { interface, sockets, socket, verify_udp_checksum }
    }

    /// Receives `frame` with the least work that smoltcp allows: one ingress step.
    pub(crate) fn ingress(&mut self, frame: &[u8], deliver: impl FnOnce(&[u8])) {
        let mut device = self.device(frame);
        self.interface.poll_ingress_single(Instant::ZERO, &mut device, &mut self.sockets);
        self.take(deliver);
    }

    /// Receives `frame` as an application's loop does: one full poll.
    pub(crate) fn poll(&mut self, frame: &[u8], deliver: impl FnOnce(&[u8])) {
        let mut device = self.device(frame);
        self.interface.poll(Instant::ZERO, &mut device, &mut self.sockets);
        self.take(deliver);
    }

    fn device<'f>(&self, frame: &'f [u8]) -> OneFrame<'f> {
        OneFrame { frame: Some(frame), verify_udp_checksum: self.verify_udp_checksum }
    }

    fn take(&mut self, deliver: impl FnOnce(&[u8])) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        let (payload, _) = socket.recv().expect("the frame was delivered");
        deliver(payload);
    }
}

/// A device that receives one frame and discards everything sent.
struct OneFrame<'f> {
    frame: Option<&'f [u8]>,
    verify_udp_checksum: bool,
}

impl Device for OneFrame<'_> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Discard
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.frame.take().map(|frame| (Received(frame), Discard))
    }

    fn transmit(&mut self, _: Instant) -> Option<Self::TxToken<'_>> {
        Some(Discard)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        if !self.verify_udp_checksum {
            capabilities.checksum.udp = Checksum::None;
        }
        capabilities
    }
}

struct Received<'f>(&'f [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

struct Discard;

impl TxToken for Discard {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        write(&mut vec![0; length])
    }
}
