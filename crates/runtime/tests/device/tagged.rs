//! A VLAN: the peer is the kernel's UDP behind an interface that sends and receives only frames with a
//! tag. Because not every kernel has VLAN interfaces, the test adds and removes the tags itself.

use crate::socat::Client;
use crate::{Peers, run_with_peers};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::net::lab::LinkOptions;
use warmcore_linux::net::{
    FrameDevice, Namespace, PacketOptions, PacketSocket, Tun, TunMode, TunOptions, wait_readable,
};
use warmcore_scenario::{DriverKind, Parallelism};

/// Priority 3, VLAN 5.
const TAG: u16 = 0x6005;
/// The interface of the VLAN, and the wire beneath it.
const VLAN: &str = "vlan5";
const WIRE: &str = "wire0";
/// The kernel's address in the VLAN; ours is of the same network.
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 3);

/// Carries frames between the VLAN interface and the wire.
struct Trunk {
    vlan: Tun,
    wire: PacketSocket,
}

impl Trunk {
    /// In `namespace`, whose address on the wire moves into the VLAN.
    fn open(namespace: &Namespace) -> Self {
        let ethernet = TunOptions { mode: TunMode::Ethernet, ..TunOptions::default() };
        let vlan = namespace.run(|| Tun::open(VLAN, ethernet)).unwrap().unwrap();
        let wire = namespace.run(|| PacketSocket::open(WIRE, &PacketOptions::default())).unwrap().unwrap();
        namespace.ip(&["address", "flush", "dev", WIRE]).unwrap();
        namespace.ip(&["link", "set", VLAN, "addrgenmode", "none"]).unwrap();
        namespace.configure(VLAN, KERNEL, 24).unwrap();
        Self { vlan, wire }
    }

    /// Carries frames until `over` is set.
    fn carry(&mut self, over: &AtomicBool) {
        let Self { vlan, wire } = self;
        while !over.load(Ordering::Relaxed) {
            let ends = [vlan.descriptor(), wire.descriptor()];
            wait_readable(&ends, Some(Duration::from_millis(10))).unwrap();
            vlan.receive(usize::MAX, |frame| wire.send(&tagged(frame.bytes)).unwrap());
            wire.flush().unwrap();
            wire.receive(usize::MAX, |frame| {
                // The kernel has taken the tag out.
                if frame.vlan == Some(TAG) {
                    vlan.send(frame.bytes).unwrap();
                }
            });
        }
    }
}

/// `frame` with the tag after its addresses.
fn tagged(frame: &[u8]) -> Vec<u8> {
    let (addresses, rest) = frame.split_at(12);
    [addresses, &[0x81, 0], &TAG.to_be_bytes(), rest].concat()
}

#[test]
fn tags_are_answered_in_kind() {
    let visit = |peers: Peers<'_>| {
        let (mut trunk, over) = (Trunk::open(peers.namespace), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| trunk.carry(&over));
            let asked = scope.spawn(|| {
                let mut client = Client::new(peers);
                client.ask(b"tagged");
                client.ask(&[5; 1400]);
            });
            let asked = asked.join();
            over.store(true, Ordering::Relaxed);
            asked.expect("each is answered");
        });
    };
    for driver in [DriverKind::Xdp] {
        if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
            ran.assert(2, &[]);
        }
    }
}
