//! Real peers, the kernel's own UDP, ask over a veth pair or a TUN interface in namespaces that each
//! test makes and that end with it; every question is answered once.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_runtime::{Setup, Watch};
use warmcore_scenario::{
    DriverKind, Live, PacketScenario, Parallelism, ProcessorPolicy, Scheduling, Traffic,
};

const PORT: u16 = 9000;
const CLIENTS: u16 = 3;
const QUESTIONS: u16 = 50;
/// Not an address of the kernel's: peers find it only if our ARP answers.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 9);

fn scenario(driver: DriverKind, approach: Parallelism, address: Ipv4Addr, interface: &str) -> PacketScenario {
    PacketScenario {
        processors: usable_cores().unwrap().len().min(2) as u32,
        scheduling: Scheduling { approach, policy: ProcessorPolicy::WiredStreams, ..Scheduling::default() },
        traffic: Traffic { streams: 8, ..Traffic::default() },
        live: Live {
            driver,
            interface: Some(interface.to_owned()),
            address: Some(address),
            port: PORT,
            work_kib: 0,
            verify_udp_checksum: true,
            ..Live::default()
        },
        ..PacketScenario::default()
    }
}

/// Asks from several sockets in `namespace`, and holds each answer against its question.
fn ask(namespace: &Namespace, address: Ipv4Addr) {
    let bind = || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    for client in 0..CLIENTS {
        let socket = namespace.run(bind).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket.connect(SocketAddr::from((address, PORT))).unwrap();
        for question in 0..QUESTIONS {
            let asked = [client.to_be_bytes(), question.to_be_bytes()].concat();
            socket.send(&asked).unwrap();
            let mut answer = [0; 64];
            let length = socket.recv(&mut answer).expect("an answer within 10 s");
            assert_eq!(&answer[..length], asked);
        }
    }
}

/// Runs `scenario` in `here` while peers in `there` ask, after `prepare`; every packet is accounted for.
fn answers(scenario: &PacketScenario, here: &Namespace, there: &Namespace, prepare: impl FnOnce()) {
    let address = scenario.live.address.unwrap();
    let mut setup = Setup::of(scenario, &Profile::sgi_challenge_xl(), Path::new(".")).unwrap();
    let newcomers = setup.newcomers.take().unwrap();
    let attend = |watch: &Watch<'_>| {
        prepare();
        thread::scope(|scope| {
            let asking = scope.spawn(|| ask(there, address));
            while !asking.is_finished() {
                newcomers.admit(watch, Duration::from_millis(5));
            }
        });
    };
    let report = here.run(|| setup.run(attend)).unwrap().unwrap();
    let total = report.total();
    assert_eq!(total.packets(), u64::from(CLIENTS * QUESTIONS), "{total:?}");
    assert_eq!((total.unanswered, total.overflowed, total.failed, report.given_up), (0, 0, 0, 0));
    let refused: u64 = total.refused.values().sum();
    assert_eq!(setup.driver.shown(), total.packets() + refused);
}

fn over_a_veth(driver: DriverKind, approach: Parallelism) {
    if let Some(missing) = privilege_missing() {
        return println!("skipped: needs {missing}");
    }
    let lab = Lab::new(&LinkOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let scenario = scenario(driver, approach, OURS, &lab.link.near.name);
    answers(&scenario, &lab.near, &lab.far, || {});
}

#[test]
fn a_packet_socket_answers_under_locking() {
    over_a_veth(DriverKind::PacketSocket, Parallelism::Locking);
}

/// Each worker has a socket of its own.
#[test]
fn packet_sockets_answer_under_independent_stacks() {
    over_a_veth(DriverKind::PacketSocket, Parallelism::Ips);
}

#[test]
fn an_xdp_socket_answers() {
    over_a_veth(DriverKind::Xdp, Parallelism::Locking);
}

#[test]
fn a_tun_interface_answers() {
    if let Some(missing) = privilege_missing() {
        return println!("skipped: needs {missing}");
    }
    let here = Namespace::new().unwrap();
    let address = Ipv4Addr::new(10, 78, 0, 9);
    let scenario = scenario(DriverKind::Tun, Parallelism::Ips, address, "tried0");
    answers(&scenario, &here, &here, || here.configure("tried0", Ipv4Addr::new(10, 78, 0, 1), 24).unwrap());
}

#[test]
fn what_is_missing_is_said_before_anything_starts() {
    let profile = Profile::sgi_challenge_xl();
    let absent = scenario(DriverKind::PacketSocket, Parallelism::Ips, OURS, "nowhere0");
    let mut setup = Setup::of(&absent, &profile, Path::new(".")).unwrap();
    let error = setup.run(|_| panic!("started")).unwrap_err().to_string();
    assert!(error.contains("packet-socket") && error.contains("`nowhere0`"), "{error}");
}
