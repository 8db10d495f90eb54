//! `socat` asks.

use crate::{PATIENCE, PORT, There, visited};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};

/// The longest packet in one piece.
const IN_ONE_PIECE: [&str; 2] = ["-b", "9000"];

/// Starts `socat` where peers are.
pub(crate) fn start(there: There<'_>, arguments: &[&str]) -> Child {
    let mut command = Command::new("socat");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = there.namespace.spawn(&mut command).unwrap();
    started.expect("`socat` is there: scripts/install-test-tools installs it")
}

/// Sends `bytes` in one piece to what `socat` calls an address, and has done so when it returns.
pub(crate) fn send(there: There<'_>, bytes: &[u8], address: &str) {
    let mut sender = start(there, &[&IN_ONE_PIECE[..], &["-u", "-", address]].concat());
    sender.stdin.take().expect("it is piped").write_all(bytes).unwrap();
    assert!(sender.wait().unwrap().success(), "nothing was sent to {address}");
}

/// A client of ours, ended when it is dropped, or by itself when nothing has come for some time.
pub(crate) struct Client(Child);

impl Client {
    pub(crate) fn new(there: There<'_>) -> Self {
        let (patience, us) = (PATIENCE.as_secs().to_string(), us(there));
        Self(start(there, &[&IN_ONE_PIECE[..], &["-T", &patience, "-", &us]].concat()))
    }

    /// Sends `question`, and holds the answer against it.
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

/// Our port, as `socat` calls it.
pub(crate) fn us(there: There<'_>) -> String {
    format!("UDP4-DATAGRAM:{}:{PORT}", there.address)
}

fn answers(driver: DriverKind) {
    let questions = [1, 18, 64, 1471, 1472].map(|length| vec![length as u8; length]);
    let visit = |there: There<'_>| {
        for _ in 0..2 {
            let mut client = Client::new(there);
            questions.iter().for_each(|question| client.ask(question));
        }
    };
    if let Some(ran) = visited(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
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
