//! Tests the devices against the kernel's own network stack, over veth pairs between namespaces. Each
//! test creates its own, and they are removed with it.

mod frames;
mod lab;
mod losses;
mod refusals;
mod selection;
mod transfer;

use core::time::Duration;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;
use warmcore_linux::net::lab::{End, Lab, LinkOptions};
use warmcore_linux::net::{
    AttachMode, Filter, FrameDevice, Namespace, PacketOptions, PacketSocket, XdpInterface, XdpOptions,
    XdpSocket, wait_readable,
};

/// The port that our devices receive.
const PORT: u16 = 4791;

/// Creates a lab; prints a note and returns `None` without the privilege.
fn lab(options: &LinkOptions) -> Option<Lab> {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    Some(Lab::new(options).unwrap_or_else(|error| panic!("{error}")))
}

fn plain_lab() -> Option<Lab> {
    lab(&LinkOptions::default())
}

/// Tells the far kernel the near end's hardware address, so that it does not use ARP. A device that takes
/// ARP would not answer, and the first datagram would wait for the answer while others overtake it.
fn introduce(lab: &Lab) {
    lab.far.neighbour(&lab.link.far.name, lab.link.near.address, &lab.link.near.mac).unwrap();
}

/// Opens a packet socket on the near end that receives our port.
fn packet_socket(lab: &Lab) -> PacketSocket {
    packet_socket_with(lab, PacketOptions { filter: Filter::udp_ports([PORT]), ..PacketOptions::default() })
}

fn packet_socket_with(lab: &Lab, options: PacketOptions) -> PacketSocket {
    let opened = lab.near.run(|| PacketSocket::open(&lab.link.near.name, &options)).unwrap();
    opened.unwrap_or_else(|error| panic!("{error}"))
}

/// Opens an XDP socket on the near end's first queue that receives our port.
fn xdp_socket(lab: &Lab, mode: AttachMode) -> XdpSocket {
    xdp_socket_with(lab, &Filter::udp_ports([PORT]), mode, XdpOptions::default())
}

fn xdp_socket_with(lab: &Lab, filter: &Filter, mode: AttachMode, options: XdpOptions) -> XdpSocket {
    let opened =
        lab.near.run(|| XdpInterface::attach(&lab.link.near.name, filter, mode)?.socket(0, options)).unwrap();
    opened.unwrap_or_else(|error| panic!("{error}"))
}

/// Opens a kernel UDP socket at an end of the link.
fn udp_socket(namespace: &Namespace, end: &End, port: u16) -> UdpSocket {
    let socket = namespace.run(|| UdpSocket::bind((end.address, port))).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

fn at(end: &End, port: u16) -> SocketAddr {
    (end.address, port).into()
}

/// Receives the next `count` frames; panics if they do not arrive.
fn receive(device: &mut impl FrameDevice, count: usize) -> Vec<Vec<u8>> {
    let (mut frames, start) = (Vec::new(), Instant::now());
    while frames.len() < count {
        let wanted = count - frames.len();
        let received = device.receive(wanted, |frame| frames.push(frame.bytes.to_vec()));
        assert!(received <= wanted && count - frames.len() == wanted - received);
        if received == 0 {
            wait_readable(&[device.descriptor()], Some(Duration::from_millis(100))).unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{} of {count} frames arrived", frames.len());
    }
    frames
}

/// Receives all frames that arrive within a short time.
fn rest(device: &mut impl FrameDevice) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while wait_readable(&[device.descriptor()], Some(Duration::from_millis(50))).unwrap() > 0 {
        device.receive(usize::MAX, |frame| frames.push(frame.bytes.to_vec()));
    }
    frames
}

/// Receives the next `count` frames, and all that arrive shortly after.
fn receive_all(device: &mut impl FrameDevice, count: usize) -> Vec<Vec<u8>> {
    let mut frames = receive(device, count);
    frames.extend(rest(device));
    frames
}

/// Waits until `done` returns true; panics if that takes too long.
fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(5), "timed out");
        std::thread::sleep(Duration::from_millis(1));
    }
}
