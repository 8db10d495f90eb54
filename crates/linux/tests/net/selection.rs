//! Tests which frames a device receives, and what happens to the others.

use crate::frames::Datagram;
use crate::{
    PORT, at, introduce, lab, packet_socket, packet_socket_with, plain_lab, receive, receive_all, rest,
    udp_socket, until, xdp_socket, xdp_socket_with,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{
    AttachMode, Fanout, FanoutMode, Filter, FrameDevice, PacketOptions, PacketSocket, Ports, XdpInterface,
    XdpOptions,
};

const OTHER: u16 = PORT + 1;

#[test]
fn only_frames_that_xdp_does_not_take_reach_the_kernel() {
    for mode in [AttachMode::Driver, AttachMode::Generic] {
        let Some(lab) = plain_lab() else { return };
        let mut device = xdp_socket(&lab, mode);
        let taken = udp_socket(&lab.near, &lab.link.near, PORT);
        let passed = udp_socket(&lab.near, &lab.link.near, OTHER);
        let peer = udp_socket(&lab.far, &lab.link.far, 0);
        // This also requires that the kernel answers ARP.
        for port in [PORT, OTHER, PORT] {
            peer.send_to(&port.to_be_bytes(), at(&lab.link.near, port)).unwrap();
        }
        assert_eq!(receive(&mut device, 2).len(), 2);
        assert_eq!(passed.recv(&mut [0; 10]).unwrap(), 2);
        taken.set_nonblocking(true).unwrap();
        assert!(taken.recv(&mut [0; 10]).is_err(), "XDP took it");
        assert_eq!(rest(&mut device), Vec::<Vec<u8>>::new());
        drop(device);
        taken.set_nonblocking(false).unwrap();
        peer.send_to(b"now", at(&lab.link.near, PORT)).unwrap();
        assert_eq!(taken.recv(&mut [0; 10]).unwrap(), 3, "the program was detached with its device");
    }
}

/// Sends frames of several kinds, by the kernel or through `raw`.
fn send_kinds(lab: &Lab, raw: &mut PacketSocket) {
    let peer = udp_socket(&lab.far, &lab.link.far, 9);
    peer.send_to(b"ours", at(&lab.link.near, PORT)).unwrap();
    peer.send_to(b"other", at(&lab.link.near, OTHER)).unwrap();
    peer.send_to(&[5; 4000], at(&lab.link.near, PORT)).unwrap();
    let datagram = |vlan, payload: &[u8]| Datagram {
        vlan,
        ..Datagram::between(&lab.link.far, &lab.link.near, [9, PORT], payload)
    };
    raw.send(&datagram(Some(0x6005), b"tagged").encode()).unwrap();
    raw.send(&with_ip_options(&datagram(None, b"options").encode())).unwrap();
    let mut tcp = datagram(None, b"not UDP").encode();
    tcp[23] = 6;
    raw.send(&tcp).unwrap();
    raw.send(&datagram(None, b"cut off").encode()[..40]).unwrap();
    raw.flush().unwrap();
}

/// Returns how many of these frames, and of one ARP request, a device with the filter `ports` receives.
fn count_of(ports: &Ports) -> usize {
    4 + usize::from(ports.arp) + if ports.fragments { 2 } else { 0 }
}

/// Inserts four bytes of options into a frame's IP header.
fn with_ip_options(frame: &[u8]) -> Vec<u8> {
    let mut frame = [&frame[..34], &[1; 4], &frame[34..]].concat();
    frame[14] = 0x46;
    frame
}

fn ends(frames: &[Vec<u8>], payload: &[u8]) -> usize {
    frames.iter().filter(|frame| frame.ends_with(payload)).count()
}

fn check_kinds(frames: &[Vec<u8>], ports: &Ports) {
    let count = |payload| ends(frames, payload);
    assert_eq!([count(b"ours"), count(b"tagged"), count(b"options")], [1, 1, 1]);
    assert_eq!([count(b"other"), count(b"not UDP")], [0, 0]);
    // 4,008 bytes of UDP in packets of 1,480: the first and two later fragments.
    assert_eq!(count(&[5; 900]), if ports.fragments { 3 } else { 1 });
    let arp = frames.iter().filter(|frame| frame[12..14] == [8, 6]).count();
    assert_eq!(arp > 0, ports.arp);
    assert_eq!(frames.len(), 4 + arp + if ports.fragments { 2 } else { 0 });
}

fn raw_peer(lab: &Lab) -> PacketSocket {
    lab.far.run(|| PacketSocket::open(&lab.link.far.name, &PacketOptions::default())).unwrap().unwrap()
}

#[test]
fn all_devices_receive_the_same_frames() {
    for (arp, fragments) in [(false, false), (true, true)] {
        let Some(lab) = plain_lab() else { return };
        let ports = Ports { ports: vec![1, PORT, 65_535], arp, fragments, ..Ports::default() };
        let filter = Filter::Ports(ports.clone());
        let mut raw = raw_peer(&lab);
        let mut packet =
            packet_socket_with(&lab, PacketOptions { filter: filter.clone(), ..PacketOptions::default() });
        ask_for_address(&lab, 100);
        send_kinds(&lab, &mut raw);
        check_kinds(&receive_all(&mut packet, count_of(&ports)), &ports);
        drop(packet);
        for (mode, number) in [(AttachMode::Driver, 101), (AttachMode::Generic, 102)] {
            let mut xdp = xdp_socket_with(&lab, &filter, mode, XdpOptions::default());
            ask_for_address(&lab, number);
            introduce(&lab);
            send_kinds(&lab, &mut raw);
            check_kinds(&receive_all(&mut xdp, count_of(&ports)), &ports);
        }
    }
}

/// Makes the far kernel send an ARP request, for an address that does not exist and that it has not
/// requested before.
fn ask_for_address(lab: &Lab, number: u8) {
    let peer = udp_socket(&lab.far, &lab.link.far, 0);
    peer.send_to(b"anybody?", (Ipv4Addr::new(10, 77, 0, number), 9)).unwrap();
}

#[test]
fn a_packet_socket_returns_vlan_tags_separately_and_xdp_in_the_frame() {
    let Some(lab) = plain_lab() else { return };
    let tagged = Datagram {
        vlan: Some(0x6005),
        ..Datagram::between(&lab.link.far, &lab.link.near, [9, PORT], b"tagged")
    };
    let untagged = Datagram { vlan: None, ..tagged.clone() }.encode();
    let mut raw = raw_peer(&lab);
    let mut send = || {
        raw.send(&tagged.encode()).unwrap();
        raw.send(&untagged).unwrap();
        raw.flush().unwrap();
    };
    let mut packet = packet_socket(&lab);
    send();
    let mut frames = Vec::new();
    until(|| {
        packet.receive(2, |frame| frames.push((frame.bytes.to_vec(), frame.vlan)));
        frames.len() == 2
    });
    assert_eq!(frames, [(untagged.clone(), Some(0x6005)), (untagged.clone(), None)]);
    let mut xdp = xdp_socket(&lab, AttachMode::Driver);
    send();
    assert_eq!(receive(&mut xdp, 2), [tagged.encode(), untagged]);
}

#[test]
fn a_packet_socket_reports_missing_checksums() {
    for offloads in [true, false] {
        let Some(lab) = lab(&LinkOptions { offloads, ..LinkOptions::default() }) else { return };
        let mut device = packet_socket(&lab);
        let peer = udp_socket(&lab.far, &lab.link.far, 0);
        peer.send_to(b"checksum?", at(&lab.link.near, PORT)).unwrap();
        let mut left_out = None;
        until(|| device.receive(1, |frame| left_out = Some(frame.checksum_left_out)) == 1);
        assert_eq!(left_out, Some(offloads));
    }
}

#[test]
fn outgoing_frames_are_received_only_if_requested() {
    let Some(lab) = plain_lab() else { return };
    let open = |ignore_outgoing| {
        packet_socket_with(&lab, PacketOptions { ignore_outgoing, ..PacketOptions::default() })
    };
    let (mut all, mut incoming) = (open(false), open(true));
    let socket = udp_socket(&lab.near, &lab.link.near, 0);
    lab.near.neighbour(&lab.link.near.name, lab.link.far.address, &lab.link.far.mac).unwrap();
    let peer = udp_socket(&lab.far, &lab.link.far, PORT);
    socket.send_to(b"outgoing", at(&lab.link.far, PORT)).unwrap();
    assert_eq!(peer.recv(&mut [0; 10]).unwrap(), 8);
    assert_eq!([ends(&rest(&mut all), b"outgoing"), ends(&rest(&mut incoming), b"outgoing")], [1, 0]);
}

#[test]
fn a_group_of_packet_sockets_shares_streams_without_splitting_them() {
    let Some(lab) = plain_lab() else { return };
    let fanout = Some(Fanout { group: 7, mode: FanoutMode::FlowHash });
    let options = PacketOptions { fanout, filter: Filter::udp_ports([PORT]), ..PacketOptions::default() };
    let mut group: Vec<_> = (0..3).map(|_| packet_socket_with(&lab, options.clone())).collect();
    let peers: Vec<_> = (0..24).map(|_| udp_socket(&lab.far, &lab.link.far, 0)).collect();
    for number in 0..10_u8 {
        for peer in &peers {
            peer.send_to(&[number], at(&lab.link.near, PORT)).unwrap();
        }
    }
    let (mut streams, mut received) = (BTreeMap::<u16, Vec<(usize, Vec<u8>)>>::new(), 0);
    until(|| {
        for (member, socket) in group.iter_mut().enumerate() {
            received += socket.receive(usize::MAX, |frame| {
                let datagram = Datagram::decode(frame.bytes).unwrap();
                streams.entry(datagram.ports[0]).or_default().push((member, datagram.payload));
            });
        }
        received >= 10 * peers.len()
    });
    assert_eq!(streams.len(), peers.len());
    let mut used = [false; 3];
    for frames in streams.values() {
        let member = frames[0].0;
        used[member] = true;
        let expected: Vec<_> = (0..10).map(|number| (member, vec![number])).collect();
        assert_eq!(frames, &expected, "every frame once, in order, at one socket");
    }
    assert!(used.iter().filter(|&&used| used).count() > 1, "24 streams hash to more than one of 3 sockets");
}

/// While the sockets of a group are opened one by one, the hash has fewer of them to choose from.
#[test]
fn a_group_that_opens_under_load_does_not_split_streams() {
    let Some(lab) = plain_lab() else { return };
    let fanout = Some(Fanout { group: 8, mode: FanoutMode::FlowHash });
    let options = PacketOptions { fanout, filter: Filter::udp_ports([PORT]), ..PacketOptions::default() };
    let peers: Vec<_> = (0..24).map(|_| udp_socket(&lab.far, &lab.link.far, 0)).collect();
    let send = || {
        for peer in &peers {
            peer.send_to(b"load", at(&lab.link.near, PORT)).unwrap();
        }
    };
    let is_open = AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_open.load(Ordering::Relaxed) {
                send();
            }
        });
        let opened = lab.near.run(|| PacketSocket::open_group(&lab.link.near.name, &options, 3));
        is_open.store(true, Ordering::Relaxed);
        opened
    });
    send();
    let mut members = BTreeMap::<u16, BTreeSet<usize>>::new();
    for (member, socket) in opened.unwrap().unwrap().iter_mut().enumerate() {
        for frame in rest(socket) {
            members.entry(Datagram::decode(&frame).unwrap().ports[0]).or_default().insert(member);
        }
    }
    assert_eq!(members.len(), peers.len());
    assert!(members.values().all(|members| members.len() == 1), "{members:?}");
}

#[test]
fn each_queue_has_its_own_socket_and_a_queue_without_one_passes_frames_to_the_kernel() {
    let Some(lab) = lab(&LinkOptions { queues: 2, ..LinkOptions::default() }) else { return };
    let filter = Filter::udp_ports([PORT]);
    let interface = lab
        .near
        .run(|| XdpInterface::attach(&lab.link.near.name, &filter, AttachMode::Driver))
        .unwrap()
        .unwrap();
    assert_eq!(interface.interface().queues, 2);
    let mut second = interface.socket(1, XdpOptions::default()).unwrap();
    let kernel = udp_socket(&lab.near, &lab.link.near, PORT);
    let peers: Vec<_> = (0..32).map(|_| udp_socket(&lab.far, &lab.link.far, 0)).collect();
    let send = |mark: &[u8]| {
        for peer in &peers {
            peer.send_to(mark, at(&lab.link.near, PORT)).unwrap();
        }
    };
    send(b"one");
    kernel.set_nonblocking(true).unwrap();
    let mut received = 0;
    until(|| {
        received += second.receive(usize::MAX, |_| ());
        received += core::iter::from_fn(|| kernel.recv(&mut [0; 10]).ok()).count();
        received == peers.len()
    });
    let mut first = interface.socket(0, XdpOptions::default()).unwrap();
    send(b"two");
    until(|| {
        received += first.receive(usize::MAX, |_| ()) + second.receive(usize::MAX, |_| ());
        received == 2 * peers.len()
    });
    assert!(kernel.recv(&mut [0; 10]).is_err());
}
