//! Files that `socat` sends and receives.

use super::host::{Host, Id};
use super::stream::{Sink, Source, Stream};
use super::{MTU, Net, config, flow, net};
use crate::{OURS_BEHIND_TUN, PORT};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use warmcore_stack::tcp::{End, State};

const FILE: Stream = Stream { salt: 6, length: 3_000_001 };

/// A file of a test's own, which goes with it.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A `socat` process, which ends with its test.
struct Socat(Child);

impl Socat {
    /// Starts it to copy from one address to another.
    fn copy(net: &Net, from: &str, to: &str) -> Self {
        let mut command = Command::new("socat");
        command.args(["-u", from, to]).stdin(Stdio::null());
        let started = net.namespace.spawn(&mut command).unwrap();
        Self(started.expect("`socat` is installed (scripts/install-test-tools)"))
    }

    fn is_over(&mut self) -> bool {
        let status = self.0.try_wait().unwrap();
        status.is_some_and(|status| {
            assert!(status.success(), "socat: {status}");
            true
        })
    }
}

impl Drop for Socat {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn us() -> String {
    format!("TCP4:{OURS_BEHIND_TUN}:{PORT}")
}

#[test]
fn it_sends_a_file_that_we_receive() {
    let Some((net, mut host)) = net(MTU, None) else { return };
    let file = File::new("sent");
    fs::write(&file.0, FILE.bytes()).unwrap();
    let id = host.listen(PORT, config());
    let mut socat = Socat::copy(&net, &format!("OPEN:{}", file.0.display()), &us());
    let mut sink = Sink::new(FILE);
    host.until("received", |host| sink.read(host.connection(id)));
    host.connection(id).close();
    host.until("closed", |host| host.state(id) == State::Closed);
    assert_eq!(host.connection(id).end(), Some(End::Closed));
    host.until("over for socat", |_| socat.is_over());
}

/// Connects to a program that may not listen yet.
fn connect_at_last(host: &mut Host) -> Id {
    let mut flow = flow();
    loop {
        let id = host.connect(flow, config());
        host.until("answered", |host| [State::Established, State::Closed].contains(&host.state(id)));
        if host.state(id) == State::Established {
            return id;
        }
        assert_eq!(host.connection(id).end(), Some(End::Refused));
        host.serve_for(std::time::Duration::from_millis(20));
        flow.source_port += 1;
        assert!(flow.source_port < super::OUR_PORT + 2000, "nobody listens");
    }
}

#[test]
fn it_receives_a_file_that_we_send() {
    let Some((net, mut host)) = net(MTU, None) else { return };
    let file = File::new("received");
    let listen = format!("TCP4-LISTEN:{PORT}");
    let mut socat = Socat::copy(&net, &listen, &format!("CREATE:{}", file.0.display()));
    let id = connect_at_last(&mut host);
    let mut source = Source::new(FILE);
    host.until("written", |host| source.write(host.connection(id)));
    host.connection(id).close();
    host.until("over for socat", |_| socat.is_over());
    host.until("closed", |host| host.state(id) == State::Closed);
    assert!(fs::read(&file.0).unwrap() == FILE.bytes(), "another file");
}

/// With `SO_LINGER` at zero, closing resets.
#[test]
fn it_resets_us_when_it_does_not_linger() {
    let Some((net, mut host)) = net(MTU, None) else { return };
    let id = host.listen(PORT, config());
    let mut socat = Socat::copy(&net, "OPEN:/dev/null", &format!("{},linger=0", us()));
    host.until("over for socat", |_| socat.is_over());
    host.until("reset", |host| host.state(id) == State::Closed);
    assert_eq!(host.connection(id).end(), Some(End::Reset));
}
