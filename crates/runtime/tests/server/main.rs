//! The server library over loopback, with clients of the standard library: every byte is checked, and everything that
//! happens is counted. No test depends on speed; each waits for what must come, with a limit.

mod end;
mod exchange;
mod flows;
mod helping;
mod interface;
mod metrics;
mod program;
mod refusals;
mod tcp;
mod timers;
mod trouble;

use std::net::UdpSocket;
use std::time::{Duration, Instant};
use warmcore_runtime::server::{Running, Server};

/// How long a test waits for what must come.
const LONG: Duration = Duration::from_secs(20);

fn server() -> Server {
    Server::bind("127.0.0.1:0").unwrap()
}

/// A socket whose peer is the server.
fn client(running: &Running) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(running.local_addr()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

/// The next datagram that the client receives.
fn receive(client: &UdpSocket) -> Vec<u8> {
    let mut bytes = vec![0; 65_535];
    let length = client.recv(&mut bytes).unwrap_or_else(|error| panic!("no answer: {error}"));
    bytes.truncate(length);
    bytes
}

/// The answer to a request.
fn ask(client: &UdpSocket, request: &[u8]) -> Vec<u8> {
    client.send(request).unwrap();
    receive(client)
}

/// Waits until `done`.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
