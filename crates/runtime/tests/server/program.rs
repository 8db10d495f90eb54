//! The example as a program, ended by a signal.

use crate::LONG;
use std::io::Read;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The example, which cargo builds beside the tests.
fn example() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let profile = this.ancestors().nth(2).expect("tests lie in `deps` below the profile's folder");
    profile.join("examples/echo_server")
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

#[test]
fn the_example_echoes_until_it_is_asked_to_end() {
    if !example().exists() {
        println!("skipped: `{}` is not built", example().display());
        return;
    }
    for name in ["-TERM", "-INT"] {
        // A port that was free a moment ago.
        let address: SocketAddr = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(example());
        let child = command.arg(address.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut server = Ended(child.unwrap());
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (begun, mut answer) = (Instant::now(), [0; 10]);
        // Until it is there, requests are refused.
        while client.send(b"hello").is_err() || client.recv(&mut answer).is_err() {
            assert!(begun.elapsed() < LONG, "no answer");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(&answer[..5], b"hello");
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
