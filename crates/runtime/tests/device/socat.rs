//! Peers that are `socat` processes.

use crate::{PORT, Peers, TIMEOUT, run_with_peers};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};

/// Options to send a long packet in one piece.
const IN_ONE_PIECE: [&str; 2] = ["-b", "9000"];

/// Starts `socat` in the peers' namespace.
pub(crate) fn start(peers: Peers<'_>, arguments: &[&str]) -> Child {
    let mut command = Command::new("socat");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = peers.namespace.spawn(&mut command).unwrap();
    started.expect("`socat` is installed (scripts/install-test-tools)")
}

/// Sends `bytes` in one datagram to a `socat` address, and waits until it is sent.
pub(crate) fn send(peers: Peers<'_>, bytes: &[u8], address: &str) {
    let mut sender = start(peers, &[&IN_ONE_PIECE[..], &["-u", "-", address]].concat());
    sender.stdin.take().expect("it is piped").write_all(bytes).unwrap();
    assert!(sender.wait().unwrap().success(), "nothing was sent to {address}");
}

/// A `socat` client. It ends when it is dropped, or by itself when nothing has arrived for some time.
pub(crate) struct Client(Child);

impl Client {
    pub(crate) fn new(peers: Peers<'_>) -> Self {
        let (patience, us) = (TIMEOUT.as_secs().to_string(), us(peers));
        Self(start(peers, &[&IN_ONE_PIECE[..], &["-T", &patience, "-", &us]].concat()))
    }

    /// Sends `question` and compares the answer with it.
    pub(crate) fn ask(&mut self, question: &[u8]) {
        self.0.stdin.as_mut().expect("it is piped").write_all(question).unwrap();
        let mut answer = vec![0; question.len()];
        let heard = self.0.stdout.as_mut().expect("it is piped").read_exact(&mut answer);
        heard.unwrap_or_else(|error| panic!("no answer to {} bytes: {error}", question.len()));
        assert!(answer == question, "another answer to {} bytes", question.len());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Our address and port in `socat` notation.
pub(crate) fn us(peers: Peers<'_>) -> String {
    format!("UDP4-DATAGRAM:{}:{PORT}", peers.address)
}

fn answers(driver: DriverKind) {
    let questions = [1, 18, 64, 1471, 1472].map(|length| vec![length as u8; length]);
    let visit = |peers: Peers<'_>| {
        for _ in 0..2 {
            let mut client = Client::new(peers);
            questions.iter().for_each(|question| client.ask(question));
        }
    };
    if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
        ran.assert(2 * questions.len() as u64, &[]);
    }
}

#[test]
fn a_packet_socket_answers_it() {
    answers(DriverKind::PacketSocket);
}

#[test]
fn an_xdp_socket_answers_it() {
    answers(DriverKind::Xdp);
}

#[test]
fn a_tun_interface_answers_it() {
    answers(DriverKind::Tun);
}
