//! Every frame that a full queue drops is counted.

use crate::frames::Datagram;
use crate::{
    PORT, at, introduce, lab, packet_socket_with, plain_lab, receive_all, rest, udp_socket, until,
    xdp_socket_with,
};
use std::net::{Ipv4Addr, UdpSocket};
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{
    AttachMode, DeviceError, Filter, FrameDevice, PacketOptions, SendError, Tun, TunOptions, XdpOptions,
};

/// More frames than the rings below hold, and fewer than the kernel's own queues hold.
const BURST: u64 = 500;

/// Sends a burst and receives only after the ring has overflowed. Checks that all missing frames are
/// counted as dropped, and that the oldest frames were received. `room` is how many frames the ring holds.
fn overflow(device: &mut impl FrameDevice, lab: &Lab, room: core::ops::RangeInclusive<u64>) {
    introduce(lab);
    let peer = udp_socket(&lab.far, &lab.link.far, 0);
    let mut received = 0;
    for round in 1..=2 {
        for number in 0..BURST {
            peer.send_to(&number.to_be_bytes(), at(&lab.link.near, PORT)).unwrap();
        }
        until(|| received + device.dropped() + room.end() >= BURST * round);
        let mut frames = Vec::new();
        until(|| {
            device.receive(usize::MAX, |frame| frames.push(frame.bytes.to_vec()));
            received + frames.len() as u64 + device.dropped() == BURST * round
        });
        assert_eq!(rest(device), Vec::<Vec<u8>>::new());
        received += frames.len() as u64;
        let numbers = numbers(&frames);
        assert!(numbers.iter().copied().take(*room.start() as usize).eq(0..*room.start()), "{numbers:?}");
        assert!(numbers.is_sorted_by(|a, b| a < b), "in order, each once");
    }
    assert!(device.dropped() >= 2 * (BURST - room.end()));
}

/// Returns the number at the end of a frame's payload.
fn number(frame: &[u8]) -> u64 {
    u64::from_be_bytes(*frame.last_chunk().unwrap())
}

fn numbers(frames: &[Vec<u8>]) -> Vec<u64> {
    frames.iter().map(|frame| number(frame)).collect()
}

#[test]
fn a_packet_socket_counts_frames_that_overflow_its_ring() {
    let Some(lab) = plain_lab() else { return };
    let options = PacketOptions { slots: 64, filter: Filter::udp_ports([PORT]), ..PacketOptions::default() };
    overflow(&mut packet_socket_with(&lab, options), &lab, 64..=80);
}

#[test]
fn xdp_counts_frames_that_overflow_its_rings() {
    for mode in [AttachMode::Driver, AttachMode::Generic] {
        let Some(lab) = plain_lab() else { return };
        let options = XdpOptions { receive_slots: 64, send_slots: 64 };
        overflow(&mut xdp_socket_with(&lab, &Filter::udp_ports([PORT]), mode, options), &lab, 64..=64);
    }
}

/// The kernel shows a received frame a moment before it shows that the buffer has left the fill ring. A
/// receiver that polls without pause runs into that moment.
#[test]
fn xdp_receives_and_counts_while_frames_arrive() {
    const FRAMES: u64 = 100_000;
    for mode in [AttachMode::Driver, AttachMode::Generic] {
        let Some(lab) = plain_lab() else { return };
        introduce(&lab);
        let options = XdpOptions { receive_slots: 64, send_slots: 64 };
        let mut device = xdp_socket_with(&lab, &Filter::udp_ports([PORT]), mode, options);
        let peer = udp_socket(&lab.far, &lab.link.far, 0);
        let mut received = Vec::with_capacity(FRAMES as usize);
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                for number in 0..FRAMES {
                    peer.send_to(&number.to_be_bytes(), at(&lab.link.near, PORT)).unwrap();
                }
            });
            while !sender.is_finished() {
                device.receive(usize::MAX, |frame| received.push(number(frame.bytes)));
            }
        });
        received.extend(numbers(&rest(&mut device)));
        assert!(received.is_sorted_by(|a, b| a < b), "in order, each once");
        assert_eq!(received.len() as u64 + device.dropped(), FRAMES);
    }
}

#[test]
fn tun_counts_packets_that_overflow_its_queue() {
    let Some(lab) = plain_lab() else { return };
    let mut device = lab.near.run(|| Tun::open("tunnel", TunOptions::default())).unwrap().unwrap();
    lab.near.configure("tunnel", Ipv4Addr::new(10, 78, 0, 1), 24).unwrap();
    let socket = lab.near.run(|| UdpSocket::bind("10.78.0.1:0")).unwrap().unwrap();
    for number in 0..2 * BURST {
        socket.send_to(&number.to_be_bytes(), (Ipv4Addr::new(10, 78, 0, 2), PORT)).unwrap();
    }
    let dropped = device.dropped();
    assert!(dropped > 0, "its queue holds 500 packets");
    assert_eq!(rest(&mut device).len() as u64 + dropped, 2 * BURST);
}

#[test]
fn frames_too_long_for_their_slots_are_dropped_and_counted() {
    let Some(lab) = plain_lab() else { return };
    let options = PacketOptions {
        longest_frame: Some(200),
        filter: Filter::udp_ports([PORT]),
        ..PacketOptions::default()
    };
    let mut device = packet_socket_with(&lab, options);
    let peer = udp_socket(&lab.far, &lab.link.far, 0);
    for length in [100, 1000, 150, 158] {
        peer.send_to(&vec![7; length], at(&lab.link.near, PORT)).unwrap();
    }
    let lengths: Vec<_> = receive_all(&mut device, 3).iter().map(Vec::len).collect();
    assert_eq!(lengths, [142, 192, 200]);
    assert_eq!(device.dropped(), 1);
}

#[test]
fn frames_of_invalid_length_are_refused() {
    let Some(lab) = plain_lab() else { return };
    let refuse = |device: &mut dyn FnMut(&[u8]) -> Result<(), SendError>| {
        for length in [0, 13, 1519, 100_000] {
            let refused = device(&vec![0; length]).unwrap_err();
            assert_eq!(refused, SendError::Length { length, least: 14, most: 1518 });
        }
    };
    let mut packet = packet_socket_with(&lab, PacketOptions::default());
    refuse(&mut |frame| packet.send(frame));
    let mut xdp = xdp_socket_with(&lab, &Filter::Everything, AttachMode::Best, XdpOptions::default());
    refuse(&mut |frame| xdp.send(frame));
}

/// Sends a frame of valid length that the link does not carry: above its MTU without a VLAN tag.
#[test]
fn a_frame_that_the_kernel_refuses_is_counted_and_does_not_block_others() {
    let Some(lab) = plain_lab() else { return };
    let mut device = packet_socket_with(&lab, PacketOptions::default());
    let peer = udp_socket(&lab.far, &lab.link.far, PORT);
    for payload in [&[1; 100][..], &[2; 1476], &[3; 100]] {
        device.send(&Datagram::to_far(&lab.link, [PORT, PORT], payload).encode()).unwrap();
    }
    device.flush().unwrap();
    let mut bytes = [0; 2000];
    for first in [1, 3] {
        assert_eq!((peer.recv(&mut bytes).unwrap(), bytes[0]), (100, first));
    }
    assert_eq!(device.lost_sending(), 1);
}

#[test]
fn an_interface_that_goes_down_is_noticed() {
    let Some(lab) = lab(&LinkOptions::default()) else { return };
    let down = DeviceError::Down { name: "wire0".to_owned() };
    let mut device = packet_socket_with(&lab, PacketOptions::default());
    assert_eq!(device.check(), Ok(()));
    lab.near.ip(&["link", "set", "wire0", "down"]).unwrap();
    assert_eq!(device.check(), Err(down));
    device.send(&Datagram::to_far(&lab.link, [1, 1], &[]).encode()).unwrap();
    assert!(matches!(device.flush(), Err(SendError::Failed { interface, .. }) if interface == "wire0"));
    lab.near.ip(&["link", "set", "wire0", "up"]).unwrap();
    assert_eq!(device.check(), Ok(()));
    assert_eq!(device.flush(), Ok(()), "the frame was still queued");
}

/// Every device says that its interface is gone, each time it is asked after it has received.
#[test]
fn an_interface_that_is_deleted_is_noticed() {
    let Some(lab) = lab(&LinkOptions::default()) else { return };
    let mut tun = lab.near.run(|| Tun::open("tried0", TunOptions::default())).unwrap().unwrap();
    let check = |device: &mut dyn FnMut() -> Result<(), DeviceError>, name: &str, times: u32| {
        assert_eq!(device(), Ok(()));
        lab.near.ip(&["link", "delete", name]).unwrap();
        for _ in 0..times {
            assert_eq!(device(), Err(DeviceError::Gone { name: name.to_owned() }));
        }
    };
    let mut receive = || {
        assert_eq!(tun.receive(1, |_| ()), 0);
        tun.check()
    };
    check(&mut receive, "tried0", 2);
    let everything = Filter::Everything;
    let mut xdp = xdp_socket_with(&lab, &everything, AttachMode::Best, XdpOptions::default());
    let mut packet = packet_socket_with(&lab, PacketOptions::default());
    check(&mut || packet.check(), "wire0", 2);
    assert_eq!(xdp.check(), Err(DeviceError::Gone { name: "wire0".to_owned() }));
}
