//! The kernel's TCP, and RPC over the kernel's UDP, served by a run: connections that come, echo and go.

use super::{OURS, PORT, Peers, RunOutcome, TIMEOUT, run, run_changed_with_peers, scenario};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::num::NonZero;
use std::time::{Duration, Instant};
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::privilege_missing;
use warmcore_scenario::{DriverKind, PacketScenario, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_stack::rpc::{BootId, Config, Endpoint, Event};
use warmcore_stack::{DropReason, PROCEDURE};
use warmcore_units::Transport;

/// Bytes that a client sends and has sent back.
const LENGTH: usize = 200_000;

fn connect(peers: Peers<'_>) -> TcpStream {
    let address = SocketAddr::from((peers.address, PORT));
    let socket = peers.namespace.run(|| TcpStream::connect_timeout(&address, TIMEOUT)).unwrap();
    let socket = socket.unwrap_or_else(|error| panic!("not connected: {error}"));
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.set_write_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Sends `length` bytes, closes its direction, and asserts that all come back and then the end.
fn echo(mut socket: TcpStream, length: usize) {
    let sent: Vec<u8> = (0..length).map(|at| (at / 7 + at) as u8).collect();
    let mut writer = socket.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            writer.write_all(&sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        socket.read_to_end(&mut received).unwrap();
        assert!(received == sent, "{} of {length} bytes came back", received.len());
    });
}

fn serving(transport: Transport, approach: Parallelism, streams: u32) -> impl FnOnce(&mut PacketScenario) {
    move |scenario: &mut PacketScenario| {
        scenario.traffic.streams = streams;
        scenario.live.transport = transport;
        let policy = match approach {
            Parallelism::Locking => ProcessorPolicy::Mru,
            Parallelism::Ips | Parallelism::Hybrid => ProcessorPolicy::WiredStreams,
        };
        scenario.scheduling = Scheduling { approach, policy, ..Scheduling::default() };
    }
}

/// Runs a server over `driver` while peers `visit` it; asserts that every frame is accounted for.
fn served(
    driver: DriverKind,
    transport: Transport,
    (approach, streams): (Parallelism, u32),
    visit: impl FnOnce(Peers<'_>) + Send,
) -> Option<RunOutcome> {
    let change = serving(transport, approach, streams);
    let outcome = run_changed_with_peers(driver, approach, &LinkOptions::default(), change, visit)?;
    assert_eq!(outcome.accounted(), outcome.received);
    let total = outcome.report.total();
    // A frame that the device has no room for is sent again.
    assert_eq!((total.failed, total.overflowed), (0, 0), "{total:?}");
    Some(outcome)
}

const DRIVERS: [DriverKind; 3] = [DriverKind::Tun, DriverKind::PacketSocket, DriverKind::Xdp];

#[test]
fn connections_of_the_kernel_are_echoed_over_every_driver() {
    for driver in DRIVERS {
        for approach in [Parallelism::Locking, Parallelism::Ips] {
            served(driver, Transport::Tcp, (approach, 8), |peers| {
                std::thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| echo(connect(peers), LENGTH));
                    }
                });
            });
        }
    }
}

#[test]
fn more_connections_than_streams_come_one_after_the_other() {
    for approach in [Parallelism::Locking, Parallelism::Ips] {
        served(DriverKind::Tun, Transport::Tcp, (approach, 2), |peers| {
            for _ in 0..30 {
                // While the stream of the one before is being closed, a connection is refused.
                let began = Instant::now();
                let address = SocketAddr::from((peers.address, PORT));
                let socket = loop {
                    match peers.namespace.run(|| TcpStream::connect_timeout(&address, TIMEOUT)).unwrap() {
                        Ok(socket) => break socket,
                        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                            assert!(began.elapsed() < TIMEOUT, "refused for ever");
                        }
                        Err(error) => panic!("{error}"),
                    }
                };
                echo(socket, 1000);
            }
        });
    }
}

#[test]
fn a_connection_beyond_the_limit_is_refused_at_once_and_the_others_live() {
    let outcome = served(DriverKind::Tun, Transport::Tcp, (Parallelism::Locking, 2), |peers| {
        let connected = [connect(peers), connect(peers)];
        let address = SocketAddr::from((peers.address, PORT));
        let third = peers.namespace.run(|| TcpStream::connect_timeout(&address, TIMEOUT)).unwrap();
        assert_eq!(third.map_err(|error| error.kind()).unwrap_err(), ErrorKind::ConnectionRefused);
        connected.into_iter().for_each(|socket| echo(socket, 5000));
    });
    let refused = |outcome: RunOutcome| outcome.report.total().refused[&DropReason::TcpNoSession];
    assert!(outcome.is_none_or(|outcome| refused(outcome) >= 1));
}

#[test]
fn calls_over_the_kernels_udp_are_answered() {
    for driver in DRIVERS {
        for approach in [Parallelism::Locking, Parallelism::Ips] {
            served(driver, Transport::Rpc, (approach, 4), |peers| {
                let bind = || UdpSocket::bind(("0.0.0.0", 0));
                let socket = peers.namespace.run(bind).unwrap().unwrap();
                socket.connect((peers.address, PORT)).unwrap();
                socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                for length in [0, 1, 100, 1300] {
                    call(&socket, length);
                }
            });
        }
    }
}

/// Makes one call with `length` bytes, each time as a new incarnation of the client, and checks the answer.
fn call(socket: &UdpSocket, length: usize) {
    let boot = BootId(NonZero::new(length as u32 + 1).unwrap());
    let mut endpoint = Endpoint::new(Config::with_sizes(1472, 1400), boot, &[]);
    let (began, arguments) = (Instant::now(), vec![length as u8; length]);
    endpoint.call(Duration::ZERO, PROCEDURE, &arguments).unwrap();
    let mut buffer = [0; 2000];
    loop {
        let now = began.elapsed();
        assert!(now < TIMEOUT, "no answer");
        endpoint.time_passes(now);
        while let Some(frame) = endpoint.transmit(now) {
            socket.send(frame).unwrap();
        }
        if let Ok(received) = socket.recv(&mut buffer) {
            let _ = endpoint.arrives(now, &buffer[..received]);
        }
        match endpoint.event() {
            Some(Event::Replied { results, .. }) => return assert_eq!(results, arguments),
            Some(Event::Failed { failure, .. }) => panic!("{failure}"),
            Some(_) | None => {}
        }
    }
}

#[test]
fn a_connection_to_a_server_that_began_anew_is_reset() {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return;
    }
    let lab = Lab::new(&LinkOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let peers = Peers { namespace: &lab.far, address: OURS };
    let approach = Parallelism::Ips;
    let mut scenario = scenario(DriverKind::PacketSocket, approach, OURS, &lab.link.near.name);
    serving(Transport::Tcp, approach, 4)(&mut scenario);
    let (mut socket, mut answer) = (None, [0; 5]);
    run(&scenario, &lab.near, || {
        let opened = socket.insert(connect(peers));
        opened.write_all(b"hello").unwrap();
        opened.read_exact(&mut answer).unwrap();
    });
    assert_eq!(&answer, b"hello");
    let mut error = None;
    run(&scenario, &lab.near, || {
        let mut socket = socket.take().unwrap();
        socket.write_all(b"again").unwrap();
        error = socket.read_exact(&mut answer).err();
    });
    assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::ConnectionReset));
}
