//! The kernel's TCP at both ends.

use super::{Cost, receive, send, time_busy};
use crate::tcp::{accept, limited};
use crate::{KERNEL_BEFORE_TUN, OURS_BEHIND_TUN, PORT, TUN};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{FrameDevice, Namespace, Tun, TunOptions, wait_readable};

/// Most packets carried in one direction at once, as many as our host receives at once.
const BATCH: usize = 64;

/// A transfer from one namespace to an address in another, while this thread does `meanwhile` until the
/// flag is set. Returns the cost of both ends.
fn transfer(
    from: &Namespace,
    to: &Namespace,
    address: Ipv4Addr,
    meanwhile: impl FnOnce(&AtomicBool),
) -> Duration {
    let listener = to.run(|| TcpListener::bind((address, PORT))).unwrap().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let socket = accept(&listener);
            time_busy(|| receive(socket))
        });
        let sender = scope.spawn(|| {
            let socket = from.run(|| TcpStream::connect((address, PORT))).unwrap().unwrap();
            time_busy(|| send(limited(socket)))
        });
        let ends = scope.spawn(|| {
            let ends = receiver.join().unwrap() + sender.join().unwrap();
            is_over.store(true, Ordering::Relaxed);
            ends
        });
        meanwhile(&is_over);
        ends.join().unwrap()
    })
}

/// Over two TUN interfaces and a thread between them.
pub(super) fn relayed(mtu: usize) -> Cost {
    let ends = [KERNEL_BEFORE_TUN, OURS_BEHIND_TUN].map(|address| {
        let namespace = Namespace::new().unwrap();
        let tun = namespace.run(|| Tun::open(TUN, TunOptions::default())).unwrap().unwrap();
        namespace.ip(&["link", "set", TUN, "mtu", &mtu.to_string(), "addrgenmode", "none"]).unwrap();
        namespace.configure(TUN, address, 24).unwrap();
        (namespace, tun)
    });
    let [(near, mut one), (far, mut other)] = ends;
    let mut process = Duration::ZERO;
    let kernel = transfer(&near, &far, OURS_BEHIND_TUN, |is_over| {
        process = time_busy(|| relay(&mut one, &mut other, is_over));
    });
    Cost { kernel, process, softirqs: Duration::ZERO }
}

/// Carries packets between two interfaces until it is over.
fn relay(one: &mut Tun, other: &mut Tun, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let there = one.receive(BATCH, |frame| other.send(frame.bytes).unwrap());
        let back = other.receive(BATCH, |frame| one.send(frame.bytes).unwrap());
        if there + back == 0 {
            wait_readable(&[one.descriptor(), other.descriptor()], Some(Duration::from_millis(10))).unwrap();
        }
    }
}

/// Over a veth pair without offloads.
pub(super) fn veth(mtu: usize) -> Cost {
    let lab = Lab::new(&LinkOptions { mtu, ..LinkOptions::default() }).unwrap();
    let kernel = transfer(&lab.near, &lab.far, lab.link.far.address, |_| {});
    Cost { kernel, process: Duration::ZERO, softirqs: Duration::ZERO }
}
