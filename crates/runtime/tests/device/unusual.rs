//! What not every network brings: fragments, jumbo frames, and checksums that are wrong.

use crate::socat::{self, Client};
use crate::{PORT, There, visited};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};
use warmcore_stack::DropReason;

const EVERY_DRIVER: [DriverKind; 3] = [DriverKind::PacketSocket, DriverKind::Xdp, DriverKind::Tun];

/// The kernel cuts up what is longer than its link's packets. The first piece names its port and is
/// refused by the stack, which puts none together; where there is a filter, it lets no other through.
#[test]
fn fragments_are_refused_and_counted() {
    for driver in EVERY_DRIVER {
        let visit = |there: There<'_>| {
            Client::new(there).ask(b"whole");
            socat::send(there, &[5; 4000], &socat::us(there));
            Client::new(there).ask(b"whole again");
        };
        if let Some(ran) = visited(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
            let pieces = if driver == DriverKind::Tun { 3 } else { 1 };
            ran.assert(2, &[(DropReason::IpFragment, pieces)]);
        }
    }
}

#[test]
fn jumbo_frames_are_answered_in_kind() {
    for driver in EVERY_DRIVER {
        let visit = |there: There<'_>| {
            let mut client = Client::new(there);
            for length in [1473, 4096, 8000, 8972] {
                client.ask(&vec![length as u8; length]);
            }
        };
        let link = LinkOptions { mtu: 9000, ..LinkOptions::default() };
        if let Some(ran) = visited(driver, Parallelism::Locking, &link, visit) {
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
        let visit = |there: There<'_>| {
            Client::new(there).ask(b"right");
            let raw = format!("IP4-SENDTO:{}:17", there.address);
            socat::send(there, &with_wrong_checksum(b"wrong"), &raw);
            Client::new(there).ask(b"right again");
        };
        if let Some(ran) = visited(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
            ran.assert(2, &[(DropReason::UdpChecksum, 1)]);
        }
    }
}
