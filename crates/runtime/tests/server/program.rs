//! The examples as programs, ended by a signal.

use crate::LONG;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An example, which cargo builds beside the tests.
fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.ancestors().nth(2).expect("tests lie in `deps` below the profile's folder");
    profile.join("examples").join(name)
}

/// Ends the child if the test does not.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts an example at `address`, waits until `asked` says that it answers, and ends it by each signal.
fn ends_in_order(name: &str, free_address: impl Fn() -> SocketAddr, asked: impl Fn(SocketAddr) -> bool) {
    let example = example(name);
    if !example.exists() {
        println!("skipped: `{}` is not built", example.display());
        return;
    }
    for name in ["-TERM", "-INT"] {
        let address = free_address();
        let mut command = Command::new(&example);
        let child = command.arg(address.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut server = Ended(child.unwrap());
        let begun = Instant::now();
        // Until it is there, requests are refused.
        while !asked(address) {
            assert!(begun.elapsed() < LONG, "no answer");
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&server.0, name);
        let begun = Instant::now();
        let status = loop {
            match server.0.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < LONG, "{name} does not end it"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (mut said, mut wrong) = (String::new(), String::new());
        server.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        server.0.stderr.take().unwrap().read_to_string(&mut wrong).unwrap();
        assert!(status.success() && said.contains("requests answered"), "{status}: {said} {wrong}");
    }
}

#[test]
fn the_example_echoes_until_it_is_asked_to_end() {
    // A port that was free a moment ago.
    let free = || UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    ends_in_order("echo_server", free, |address| {
        let mut answer = [0; 10];
        client.connect(address).unwrap();
        client.send(b"hello").is_ok() && client.recv(&mut answer).is_ok() && &answer[..5] == b"hello"
    });
}

#[test]
fn the_example_of_connections_echoes_until_it_is_asked_to_end() {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    ends_in_order("tcp_echo_server", free, |address| {
        let Ok(mut client) = TcpStream::connect(address) else { return false };
        client.set_read_timeout(Some(LONG)).unwrap();
        let mut answer = [0; 6];
        client.write_all(b"hello\n").unwrap();
        client.read_exact(&mut answer).unwrap();
        &answer == b"hello\n"
    });
}
