//! Frames that not every network carries: fragments, jumbo frames, and wrong checksums.

use crate::socat::{self, Client};
use crate::{PORT, Peers, run_with_peers};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};
use warmcore_stack::DropReason;

const EVERY_DRIVER: [DriverKind; 3] = [DriverKind::PacketSocket, DriverKind::Xdp, DriverKind::Tun];

/// The kernel fragments packets longer than the link's MTU. The first fragment contains the port and is
/// refused by the stack, which does not reassemble. Where there is a filter, it lets no other fragment
/// through.
#[test]
fn fragments_are_refused_and_counted() {
    for driver in EVERY_DRIVER {
        let visit = |peers: Peers<'_>| {
            Client::new(peers).ask(b"whole");
            socat::send(peers, &[5; 4000], &socat::us(peers));
            Client::new(peers).ask(b"whole again");
        };
        if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
            let pieces = if driver == DriverKind::Tun { 3 } else { 1 };
            ran.assert(2, &[(DropReason::IpFragment, pieces)]);
        }
    }
}

#[test]
fn jumbo_frames_are_answered_with_jumbo_frames() {
    for driver in EVERY_DRIVER {
        let visit = |peers: Peers<'_>| {
            let mut client = Client::new(peers);
            for length in [1473, 4096, 8000, 8972] {
                client.ask(&vec![length as u8; length]);
            }
        };
        let link = LinkOptions { mtu: 9000, ..LinkOptions::default() };
        if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &link, visit) {
            ran.assert(4, &[]);
        }
    }
}

/// A datagram to our port with the wrong checksum, as the kernel's raw sockets send it.
fn with_wrong_checksum(payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    [&7000_u16.to_be_bytes()[..], &PORT.to_be_bytes(), &length.to_be_bytes(), &[1, 1], payload].concat()
}

#[test]
fn wrong_checksums_are_refused_and_counted() {
    for driver in EVERY_DRIVER {
        let visit = |peers: Peers<'_>| {
            Client::new(peers).ask(b"right");
            let raw = format!("IP4-SENDTO:{}:17", peers.address);
            socat::send(peers, &with_wrong_checksum(b"wrong"), &raw);
            Client::new(peers).ask(b"right again");
        };
        if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
            ran.assert(2, &[(DropReason::UdpChecksum, 1)]);
        }
    }
}
