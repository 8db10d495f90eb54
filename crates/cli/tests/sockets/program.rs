//! `calibrate --server`: finished programs, measured from outside, for real.

use super::super::{failure, refusal, text, warmcore};
use super::processes;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_costs::ProgramProfile;
use warmcore_costs::program::ProgramRequests;
use warmcore_costs::socket::{Network, SoftirqCpu};
use warmcore_units::{Checked, Nanos};

/// A UDP server: sends back what comes, until it has done so `argv[3]` times.
const ECHO: &str = "import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], int(sys.argv[2])))
for _ in range(int(sys.argv[3])): s.sendto(*s.recvfrom(2000))
print('enough', file=sys.stderr); sys.exit(7)
";

/// A UDP server that does to each request what `argv[3]` says.
const STRANGE: &str = "import os, socket, sys, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
how = sys.argv[3]
if how == 'daemon':
    if os.fork(): time.sleep(1000)
    os.setsid()
    if os.fork(): time.sleep(1000)
s.bind((sys.argv[1], int(sys.argv[2])))
def spin():
    while True: pass
if how == 'busy': threading.Thread(target=spin, daemon=True).start()
while True:
    got = s.recvfrom(2000)
    if how == 'mute': continue
    if how == 'slow': time.sleep(0.3)
    if how == 'nap': time.sleep(0.002)
    s.sendto(*got)
";

/// An HTTP/1.1 server, whose bodies come in chunks.
const HTTP: &str = "import sys
from http.server import *
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = -1
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200 if self.path == '/here' else 404)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        self.wfile.write(b'5\\r\\nhello\\r\\n0\\r\\n\\r\\n')
[HTTPServer, ThreadingHTTPServer][len(sys.argv) - 2](('0.0.0.0', int(sys.argv[1])), Handler).serve_forever()
";

const CALIBRATE: [&str; 2] = ["calibrate", "--quick"];

fn profile(folder: &std::path::Path) -> ProgramProfile {
    let document = fs::read_to_string(folder.join("server.toml")).expect("the profile");
    let profile: ProgramProfile = toml::from_str(&document).expect("a profile of a program");
    profile.check().expect("what was measured is possible");
    // Without privilege it depends on whether the system allows user namespaces.
    if warmcore_linux::net::privilege_missing().is_none() {
        assert_eq!(profile.network, Network::Veth, "{:?}", profile.provenance.notes);
    }
    profile
}

#[test]
fn a_udp_server_is_measured_from_outside() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("echo.py"), ECHO).expect("a program");
    let more = ["--server", "python3 echo.py {address} {port} 1000000", "--requests", "echo:64"];
    let output = warmcore(&[&CALIBRATE[..], &more].concat(), folder.path());
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{error}");
    let named = "`python3 echo.py {address} {port} 1000000`, asked datagrams of 64 bytes: a request takes";
    assert!(said.contains(named) && said.contains("The profile is in server.toml."), "{said}");
    let profile = profile(folder.path());
    assert_eq!(profile.requests, ProgramRequests::Datagrams { bytes: 64 });
    assert_eq!(profile.with(SoftirqCpu::Reader).count(), 4, "{said}");
    for times in &profile.times {
        assert!(times.lost < 0.05, "{times:?}");
        // An interpreter, a receiving and a sending call take at least this, and no machine is that slow.
        let cpu = times.program_cpu.mean;
        assert!(cpu > Nanos(1_000.0) && cpu < Nanos(1e6), "{times:?}");
        assert!(times.delay.mean > times.call.mean * 0.5, "{times:?}");
        assert!(times.idle > Nanos(90e3), "a request comes alone: {times:?}");
    }
    assert!(profile.idle_share < 0.2, "{}", profile.idle_share);
}

/// One that sleeps is slower and takes no more processor time than its interpreter does; no request waits for another.
#[test]
fn a_server_slower_than_the_intervals_is_asked_one_request_at_a_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("strange.py"), STRANGE).expect("a program");
    let more = ["--server", "python3 strange.py {address} {port} nap"];
    let output = warmcore(&[&CALIBRATE[..], &more].concat(), folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    for times in profile(folder.path()).times {
        assert!(times.median.mean > Nanos(2e6) && times.median.mean < Nanos(20e6), "{times:?}");
        assert!(times.program_cpu.mean < Nanos(1e6) && times.lost < 0.5, "{times:?}");
        assert!(times.idle > Nanos(90e3), "{times:?}");
    }
}

#[test]
fn an_http_server_is_measured_on_connections_that_stay_open() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("http_server.py"), HTTP).expect("a program");
    let server = ["--server", "python3 http_server.py {port} threads", "--requests"];
    // One serves a connection at a time, the other all.
    for server in ["python3 http_server.py {port}", server[1]] {
        let more = ["--server", server, "--requests", "http:/here", "--json", "--force"];
        let output = warmcore(&[&CALIBRATE[..], &more].concat(), folder.path());
        assert!(output.status.success(), "{server}: {}", text(&output.stderr));
        let profile = profile(folder.path());
        assert_eq!(profile.requests, ProgramRequests::Http { path: "/here".to_owned() });
        assert!(profile.times.iter().all(|times| times.lost < 0.05), "{profile:?}");
    }
    let error = failure(&[&CALIBRATE[..], &server, &["http:/gone", "--force"]].concat(), folder.path());
    assert!(error.contains("answered 404 to GET /gone"), "{error}");
    // That of the standard library speaks HTTP/1.0.
    let closing = ["--server", "python3 -m http.server {port}", "--requests", "http:/", "--force"];
    let error = failure(&[&CALIBRATE[..], &closing].concat(), folder.path());
    assert!(error.contains("the server closes the connection after a response"), "{error}");
}

#[test]
fn a_program_that_cannot_be_measured_is_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("echo.py"), ECHO).expect("a program");
    let fails = |server: &str| failure(&[&CALIBRATE[..], &["--server", server]].concat(), folder.path());
    let ended = fails("python3 echo.py {address} {port} 20");
    assert!(
        ended.contains("ended (exit status: 7) during the measurement") || ended.contains("answered"),
        "{ended}"
    );
    let early = fails("python3 echo.py {address} {port}");
    assert!(early.contains("ended (exit status: 1)"), "{early}");
    fs::write(folder.path().join("strange.py"), STRANGE).expect("a program");
    let strange = |how: &str| format!("python3 strange.py {{address}} {{port}} {how}");
    for (how, named) in [
        ("daemon", "it has left its process group"),
        ("busy", "of a processor when nobody asks it anything"),
        ("mute", "answered none of"),
        ("slow", "for a request that comes alone, expected at most 100 ms"),
    ] {
        let error = fails(&strange(how));
        assert!(error.contains(named), "{how}: {error}");
    }
    // The daemon has ended too.
    let left = processes::with_words(&["strange.py", "daemon"]);
    assert!(left.is_empty(), "left behind: {left:?}");
    let deaf = fails("sh -c 'sleep 100 # {port}'");
    assert!(deaf.contains("does not listen at") && deaf.contains("within 10 s"), "{deaf}");
    if warmcore_linux::net::privilege_missing().is_none() {
        // Nobody hears it there, as the interface of the namespace's loopback is down or another.
        let hidden = fails("python3 echo.py 127.0.0.1 {port} 1000");
        assert!(hidden.contains("listens at 127.0.0.1 alone"), "{hidden}");
    }
    let refuses = |more: &[&str]| refusal(&[&CALIBRATE[..], more].concat(), folder.path());
    for (given, named) in [
        (&["--server", "python3 echo.py"][..], "--server has no `{port}`"),
        (&["--server", "/no/such/server {port}"], "/no/such/server"),
        (&["--server", "'unclosed {port}"], "with quotes in pairs"),
        (&["--server", "true {port}", "--requests", "http:index.html"], "as in `http:/index.html`"),
        (&["--server", "true {port}", "--requests", "http://host/"], "as in `http:/index.html`"),
        (&["--server", "true {port}", "--path", "stack"], "--path does not fit --requests"),
        (&["--server", "true {port}", "--path", "udp-socket", "--requests", "http:/"], "--path does not fit"),
        (&["--server", "true {port}", "--handler", "x.so"], "--handler"),
        (&["--server", "true {port}", "--transport", "tcp"], "--transport has no effect here"),
        (&["--server", "true {port}", "--out", "."], "is a directory"),
        (&["--path", "udp-socket", "--requests", "http:/"], "asks a program"),
        (&["--path", "tcp-socket", "--requests", "http:/"], "asks a program"),
    ] {
        let error = refuses(given);
        assert!(error.contains(named), "{given:?}: {error}");
    }
}

#[test]
fn the_program_ends_with_a_measurement_that_is_killed_or_interrupted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("echo.py"), ECHO).expect("a program");
    for (signal, status) in [("KILL", None), ("INT", Some(130))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
        command.args(["calibrate", "--server", "python3 echo.py {address} {port} 1000000"]);
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary can be run");
        let began = Instant::now();
        let started = || processes::children(child.id());
        while started().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(20), "no program was started");
            sleep(Duration::from_millis(10));
        }
        sleep(Duration::from_millis(500));
        let started = started();
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().expect("kill");
        assert_eq!(child.wait().expect("its status").code(), status, "{signal}");
        let killed = Instant::now();
        while started.iter().any(|child| processes::is_running(*child)) {
            assert!(killed.elapsed() < Duration::from_secs(10), "{signal}: the program lives");
            sleep(Duration::from_millis(10));
        }
        assert!(!folder.path().join("server.toml").exists());
    }
}
