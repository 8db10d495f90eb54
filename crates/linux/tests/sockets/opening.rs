//! What cannot be opened says why.

use crate::{every_sharing, v4};
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;
use warmcore_linux::net::PortProtocol;
use warmcore_linux::net::sockets::{Port, PortError, PortOptions, Sharing};

fn refused(address: SocketAddr, sharing: &Sharing, workers: usize) -> PortError {
    Port::open(address, sharing, workers, PortOptions::default()).unwrap_err()
}

#[test]
fn a_port_in_use_is_said_with_its_user() {
    let own = format!("(process {})", std::process::id());
    let [all, one]: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::LOCALHOST.into()];
    let [all6, one6]: [IpAddr; 2] = [Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::LOCALHOST.into()];
    for (other, asked) in [(one, one), (one, all), (all, one), (one6, one6), (all6, one6), (all6, one)] {
        let other = UdpSocket::bind((other, 0)).unwrap();
        let address = SocketAddr::new(asked, other.local_addr().unwrap().port());
        for sharing in every_sharing(2) {
            let message = refused(address, &sharing, 2).to_string();
            assert!(message.contains(&format!("UDP port {address} is in use by ")), "{message}");
            assert!(message.contains(&own), "{message}");
        }
    }
}

#[test]
fn a_port_shared_by_another_server_is_in_use_too() {
    let first = Port::open(v4(), &Sharing::Hash, 2, PortOptions::default()).unwrap();
    for sharing in every_sharing(2) {
        let error = refused(first.0.address(), &sharing, 2);
        assert!(matches!(error, PortError::InUse { user: Some(_), .. }), "{error}");
    }
}

#[test]
fn a_closed_port_can_be_opened_again() {
    let first = Port::open(v4(), &Sharing::Flow { seed: 1 }, 2, PortOptions::default()).unwrap();
    let address = first.0.address();
    drop(first);
    for sharing in every_sharing(2) {
        let (port, _workers) = Port::open(address, &sharing, 2, PortOptions::default()).unwrap();
        assert_eq!(port.address(), address);
    }
}

#[test]
fn reserved_ports_need_a_privilege() {
    let address: SocketAddr = (Ipv4Addr::LOCALHOST, 7).into();
    if std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap().trim() != "1024" {
        println!("skipped: ports below 1024 are not reserved here");
        return;
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let held = capabilities(None).unwrap();
            set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..held }).unwrap();
            every_sharing(1).iter().map(|sharing| refused(address, sharing, 1)).collect::<Vec<_>>()
        });
        for error in thread.join().unwrap() {
            assert_eq!(error, PortError::Privilege { protocol: PortProtocol::Udp, address });
        }
    });
}

#[test]
fn other_mistakes_are_named() {
    let foreign: SocketAddr = (Ipv4Addr::new(192, 0, 2, 1), 0).into();
    assert_eq!(refused(foreign, &Sharing::Lifo, 1), PortError::NotLocal { address: foreign });
    assert!(matches!(refused(v4(), &Sharing::Hash, 0), PortError::Workers { workers: 0, .. }));
    let cpus = Sharing::Cpu { cpus: Vec::new() };
    assert_eq!(refused(v4(), &cpus, 2), PortError::Cpus { workers: 2, cpus: 0 });
}

#[test]
fn too_few_descriptors_are_said() {
    // The limit is the process's: a child's, so that no other test runs out.
    const CHILD: &str = "WARMCORE_FEW_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().unwrap();
        let arguments = ["--exact", "opening::too_few_descriptors_are_said", "--test-threads=1"];
        let child = std::process::Command::new(this).args(arguments).env(CHILD, "1").output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        return;
    }
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), ..limit }).unwrap();
    for sharing in [Sharing::Hash, Sharing::Flow { seed: 0 }] {
        assert_eq!(refused(v4(), &sharing, 100), PortError::Descriptors { workers: 100, needed: 100 });
    }
    // Nothing was left open.
    Port::open(v4(), &Sharing::Hash, 10, PortOptions::default()).unwrap();
}

/// Until it becomes its program, a child has every socket of its parent, those too that were closed meanwhile.
#[test]
fn a_port_opens_while_this_process_starts_others() {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let child = Command::new("true").spawn();
                child.and_then(|mut child| child.wait()).expect("`true` runs");
            }
        });
        let opened: Result<Vec<u16>, PortError> = (0..500)
            .map(|_| {
                let opened = Port::open(v4(), &Sharing::Hash, 2, PortOptions::default())?;
                Ok(opened.0.address().port())
            })
            .collect();
        done.store(true, Ordering::Relaxed);
        assert!(opened.is_ok(), "{opened:?}");
    });
}
