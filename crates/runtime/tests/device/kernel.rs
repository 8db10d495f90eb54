//! Peers that are sockets of this process, served by the kernel's UDP.

use crate::{OURS, PORT, Peers, TIMEOUT, run_with_peers, scenario};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use warmcore_costs::Profile;
use warmcore_linux::net::lab::LinkOptions;
use warmcore_runtime::Setup;
use warmcore_scenario::{DriverKind, Parallelism};

const CLIENTS: u16 = 3;
const QUESTIONS: u16 = 50;

/// Asks from several sockets and compares each answer with its question.
fn ask(peers: Peers<'_>) {
    let bind = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    for client in 0..CLIENTS {
        let socket = peers.namespace.run(bind).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket.connect(SocketAddr::from((peers.address, PORT))).unwrap();
        for question in 0..QUESTIONS {
            let asked = [client.to_be_bytes(), question.to_be_bytes()].concat();
            socket.send(&asked).unwrap();
            let mut answer = [0; 64];
            let length = socket.recv(&mut answer).expect("an answer in time");
            assert_eq!(&answer[..length], asked);
        }
    }
}

fn answers(driver: DriverKind, approach: Parallelism) {
    if let Some(ran) = run_with_peers(driver, approach, &LinkOptions::default(), ask) {
        ran.assert(u64::from(CLIENTS * QUESTIONS), &[]);
    }
}

#[test]
fn a_packet_socket_answers_under_locking() {
    answers(DriverKind::PacketSocket, Parallelism::Locking);
}

/// Each worker has a socket of its own.
#[test]
fn packet_sockets_answer_under_independent_stacks() {
    answers(DriverKind::PacketSocket, Parallelism::Ips);
}

#[test]
fn an_xdp_socket_answers() {
    answers(DriverKind::Xdp, Parallelism::Locking);
}

#[test]
fn a_tun_interface_answers() {
    answers(DriverKind::Tun, Parallelism::Ips);
}

#[test]
fn a_missing_interface_is_reported_before_the_run_starts() {
    let profile = Profile::sgi_challenge_xl();
    let absent = scenario(DriverKind::PacketSocket, Parallelism::Ips, OURS, "nowhere0");
    let mut setup = Setup::new(&absent, &profile).unwrap();
    let error = setup.run(|_| panic!("started")).unwrap_err().to_string();
    assert!(error.contains("packet-socket") && error.contains("`nowhere0`"), "{error}");
}
