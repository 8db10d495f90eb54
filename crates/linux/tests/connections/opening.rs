//! What cannot be opened says why.

use crate::{every_accepting, open, v4};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use warmcore_linux::net::connections::{Accepted, Accepting, ListeningPort, PortError};

fn refused(address: SocketAddr, accepting: &Accepting, workers: usize) -> PortError {
    ListeningPort::open(address, accepting, workers, None).unwrap_err()
}

#[test]
fn a_port_in_use_is_said_with_its_user() {
    let own = format!("(process {})", std::process::id());
    let [all, one]: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::LOCALHOST.into()];
    let [all6, one6]: [IpAddr; 2] = [Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::LOCALHOST.into()];
    for (other, asked) in [(one, one), (one, all), (all, one), (one6, one6), (all6, one6), (all6, one)] {
        let other = TcpListener::bind((other, 0)).unwrap();
        let address = SocketAddr::new(asked, other.local_addr().unwrap().port());
        for accepting in every_accepting(2) {
            let message = refused(address, &accepting, 2).to_string();
            assert!(message.contains(&format!("TCP port {address} is in use by ")), "{message}");
            assert!(message.contains(&own), "{message}");
        }
    }
}

#[test]
fn a_port_shared_by_another_server_is_in_use_too() {
    let (first, _pollers) = open(v4(), &Accepting::Hash, 2);
    for accepting in every_accepting(2) {
        let error = refused(first.address(), &accepting, 2);
        assert!(matches!(error, PortError::InUse { user: Some(_), .. }), "{error}");
    }
}

/// The server ended its connections first, so that its kernel remembers them at this port.
#[test]
fn a_port_with_connections_of_the_past_can_be_opened_again() {
    for accepting in every_accepting(1) {
        let (port, pollers) = open(v4(), &accepting, 1);
        let address = port.address();
        let client = TcpStream::connect(address).unwrap();
        let Accepted::Connection(connection) = pollers[0].accept().unwrap() else { panic!("none waits") };
        drop(connection);
        drop((port, pollers));
        drop(client);
        let (port, _pollers) = open(address, &accepting, 1);
        assert_eq!(port.address(), address);
    }
}

#[test]
fn other_mistakes_are_named() {
    let foreign: SocketAddr = (Ipv4Addr::new(192, 0, 2, 1), 0).into();
    assert_eq!(refused(foreign, &Accepting::Shared, 1), PortError::NotLocal { address: foreign });
    assert!(matches!(refused(v4(), &Accepting::Hash, 0), PortError::Workers { workers: 0, .. }));
    let cpus = Accepting::Cpu { cpus: Vec::new() };
    assert_eq!(refused(v4(), &cpus, 2), PortError::Cpus { workers: 2, cpus: 0 });
}

#[test]
fn too_few_descriptors_are_said() {
    // The limit is the process's: a child's, so that no other test runs out.
    const CHILD: &str = "WARMCORE_FEW_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().unwrap();
        let script = format!(
            "ulimit -n 40; exec '{}' --exact opening::too_few_descriptors_are_said --test-threads=1",
            this.display()
        );
        let child = Command::new("bash").args(["-c", &script]).env(CHILD, "1").output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        return;
    }
    for (accepting, needed) in
        [(Accepting::Hash, 201), (Accepting::Flow { seed: 0 }, 201), (Accepting::Exclusive, 102)]
    {
        assert_eq!(refused(v4(), &accepting, 100), PortError::Descriptors { workers: 100, needed });
    }
    // Nothing was left open.
    open(v4(), &Accepting::Hash, 10);
}
