//! Exchanges datagrams between each device and the kernel, in both directions, and compares all bytes.

use crate::frames::{Datagram, payloads};
use crate::{PORT, at, introduce, lab, packet_socket, plain_lab, receive, rest, udp_socket, xdp_socket};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{
    AttachMode, FrameDevice, Namespace, SendError, Tun, TunHeader, TunMode, TunOptions,
};

/// Exchanges `payloads` in both directions, and compares whole frames in order.
fn exchange(device: &mut impl FrameDevice, peer: &UdpSocket, outward: &Datagram, payloads: &[Vec<u8>]) {
    let [peer_port, own_port] = [peer.local_addr().unwrap().port(), outward.ports[0]];
    for part in payloads.chunks(100) {
        for payload in part {
            peer.send_to(payload, (outward.addresses[0], own_port)).unwrap();
        }
        for (payload, frame) in part.iter().zip(receive(device, part.len())) {
            let [near, far] = outward.macs;
            let [own, other] = outward.addresses;
            let expected = Datagram {
                macs: [far, near],
                addresses: [other, own],
                ports: [peer_port, own_port],
                payload: payload.clone(),
                ..outward.clone()
            };
            assert_eq!(Datagram::decode(&frame).as_ref(), Some(&expected));
        }
        for payload in part {
            let frame = Datagram { payload: payload.clone(), ..outward.clone() }.encode();
            device.send(&frame).unwrap();
        }
        device.flush().unwrap();
        for payload in part {
            let mut bytes = [0; 1 << 16];
            let (length, from) = peer.recv_from(&mut bytes).unwrap();
            assert_eq!(&bytes[..length], payload);
            assert_eq!(from, (outward.addresses[0], own_port).into());
        }
    }
    assert_eq!(rest(device), Vec::<Vec<u8>>::new(), "no duplicate or unexpected frame arrived");
    assert_eq!((device.dropped(), device.lost_sending(), device.check()), (0, 0, Ok(())));
}

fn exchange_over(lab: &Lab, mut device: impl FrameDevice, payloads: &[Vec<u8>]) {
    introduce(lab);
    let peer = udp_socket(&lab.far, &lab.link.far, 0);
    let ports = [PORT, peer.local_addr().unwrap().port()];
    exchange(&mut device, &peer, &Datagram::to_far(&lab.link, ports, &[]), payloads);
}

#[test]
fn a_packet_socket_exchanges_datagrams_with_the_kernel() {
    let Some(lab) = plain_lab() else { return };
    exchange_over(&lab, packet_socket(&lab), &payloads(700));
}

#[test]
fn xdp_in_the_driver_exchanges_datagrams_with_the_kernel() {
    let Some(lab) = plain_lab() else { return };
    exchange_over(&lab, xdp_socket(&lab, AttachMode::Driver), &payloads(700));
}

#[test]
fn xdp_after_the_driver_exchanges_datagrams_with_the_kernel() {
    let Some(lab) = plain_lab() else { return };
    exchange_over(&lab, xdp_socket(&lab, AttachMode::Generic), &payloads(700));
}

fn jumbo_lab() -> Option<Lab> {
    lab(&LinkOptions { mtu: 9000, ..LinkOptions::default() })
}

/// Returns payloads with lengths around one XDP buffer, two buffers, and the largest packet.
fn jumbo_payloads() -> Vec<Vec<u8>> {
    [1, 1472, 3798, 3799, 4054, 4055, 7000, 8150, 8972].map(|length| vec![length as u8; length]).to_vec()
}

#[test]
fn a_packet_socket_exchanges_jumbo_frames() {
    let Some(lab) = jumbo_lab() else { return };
    exchange_over(&lab, packet_socket(&lab), &jumbo_payloads());
}

#[test]
fn xdp_exchanges_jumbo_frames_in_several_buffers() {
    let Some(lab) = jumbo_lab() else { return };
    for mode in [AttachMode::Driver, AttachMode::Generic] {
        exchange_over(&lab, xdp_socket(&lab, mode), &jumbo_payloads());
    }
}

/// Addresses of the TUN network: the kernel's, and ours.
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
const OURS: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 2);

/// Creates a TUN interface in a namespace, brings it up, and opens a kernel socket there.
fn tun(namespace: &Namespace, mode: TunMode) -> (Tun, UdpSocket) {
    let options = TunOptions { mode, ..TunOptions::default() };
    let device =
        namespace.run(|| Tun::open("tunnel", options)).unwrap().unwrap_or_else(|error| panic!("{error}"));
    namespace.configure("tunnel", KERNEL, 24).unwrap();
    let socket = namespace.run(|| UdpSocket::bind((KERNEL, 0))).unwrap().unwrap();
    socket.set_read_timeout(Some(core::time::Duration::from_secs(5))).unwrap();
    (device, socket)
}

fn over_tun(macs: [[u8; 6]; 2], socket: &UdpSocket) -> Datagram {
    let ports = [PORT, socket.local_addr().unwrap().port()];
    Datagram { macs, addresses: [OURS, KERNEL], ports, vlan: None, payload: Vec::new() }
}

#[test]
fn tun_adds_an_ethernet_header_to_ip_packets() {
    let Some(lab) = plain_lab() else { return };
    let header = TunHeader::default();
    let (mut device, socket) = tun(&lab.near, TunMode::Ip(header));
    exchange(&mut device, &socket, &over_tun([header.destination, header.source], &socket), &payloads(300));
    let arp = [&[0xff; 6][..], &header.destination, &[8, 6], &[0; 28]].concat();
    assert_eq!(device.send(&arp), Err(SendError::NotIp { ethertype: 0x0806 }));
}

#[test]
fn tap_carries_ethernet_frames() {
    let Some(lab) = plain_lab() else { return };
    let (mut device, socket) = tun(&lab.near, TunMode::Ethernet);
    let ours = [2, 9, 9, 9, 9, 9];
    lab.near.neighbour("tunnel", OURS, &ours).unwrap();
    let kernel = device.interface().mac;
    exchange(&mut device, &socket, &over_tun([ours, kernel], &socket), &payloads(300));
}

/// Sends a datagram's payload back to where it came from.
fn echo(device: &mut impl FrameDevice, frame: &[u8]) {
    let request = Datagram::decode(frame).unwrap();
    let swap = |[from, to]: [[u8; 6]; 2]| [to, from];
    let answer = Datagram {
        macs: swap(request.macs),
        addresses: [request.addresses[1], request.addresses[0]],
        ports: [request.ports[1], request.ports[0]],
        ..request
    };
    device.send(&answer.encode()).unwrap();
    device.flush().unwrap();
}

#[test]
fn a_program_in_another_language_gets_its_echo() {
    let Some(lab) = plain_lab() else { return };
    let mut device = xdp_socket(&lab, AttachMode::Best);
    let script = format!(
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.settimeout(5)\n\
         for n in range(50):\n    s.sendto(b'x' * n, ('{}', {PORT}))\n    assert s.recv(2000) == b'x' * n\n",
        lab.link.near.address
    );
    let mut python = Command::new("python3");
    let started = lab.far.spawn(python.args(["-c", &script]).stdin(Stdio::null())).unwrap();
    let Ok(mut client) = started else {
        println!("skipped: no `python3` here");
        return;
    };
    for _ in 0..50 {
        let frame = receive(&mut device, 1).remove(0);
        echo(&mut device, &frame);
    }
    assert!(client.wait().unwrap().success());
}

#[test]
fn a_panicking_receiver_loses_its_frame_but_no_buffer() {
    let Some(lab) = plain_lab() else { return };
    let peer = udp_socket(&lab.far, &lab.link.far, 0);
    let mut packet = packet_socket(&lab);
    panic_while_receiving(&mut packet, &lab, &peer);
    drop(packet);
    panic_while_receiving(&mut xdp_socket(&lab, AttachMode::Best), &lab, &peer);
}

/// Panics in more receive calls than there are buffers.
fn panic_while_receiving(device: &mut impl FrameDevice, lab: &Lab, peer: &UdpSocket) {
    for round in 0..5000_u32 {
        peer.send_to(&round.to_be_bytes(), at(&lab.link.near, PORT)).unwrap();
        wait_and_panic(device);
    }
    peer.send_to(b"still here", at(&lab.link.near, PORT)).unwrap();
    assert!(receive(device, 1)[0].ends_with(b"still here"));
    assert_eq!(device.dropped(), 0);
}

fn wait_and_panic(device: &mut impl FrameDevice) {
    loop {
        let unwound = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            // Without the message that `panic!` prints.
            device.receive(1, |_| std::panic::resume_unwind(Box::new(())))
        }));
        if unwound.is_err() {
            return;
        }
    }
}
