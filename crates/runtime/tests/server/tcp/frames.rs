//! Where requests end: lines, and functions of the user's, asked by clients that others wrote.

use super::{client, rest, server};
use crate::LONG;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use warmcore_runtime::server::{Closed, Frame, Frames, Handler, Policy, Reply, Request};

#[test]
fn lines_are_lines() {
    for policy in Policy::TCP {
        let server = server(Frames::Lines).policy(policy).workers(2);
        let running = server.start(|(), request, reply| reply.send(request.bytes)).unwrap();
        let mut one = client(&running);
        let text = b"first\n\nthird with \r\nlast\n";
        // A byte at a time, and all at once.
        for byte in text {
            one.write_all(&[*byte]).unwrap();
        }
        one.write_all(text).unwrap();
        one.write_all(b"no line").unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        assert_eq!(rest(&mut one), [&text[..], text].concat(), "{policy:?}");
        running.stop().unwrap();
    }
}

/// The end of an HTTP/1.1 request with a `Content-Length` or without a body.
fn http(bytes: &[u8]) -> Frame {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Frame::Partial };
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else { return Frame::Invalid("no text") };
    if !head.lines().next().is_some_and(|line| line.ends_with("HTTP/1.1")) {
        return Frame::Invalid("no HTTP/1.1");
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let whole = end + 4 + length.unwrap_or(0_usize);
    if bytes.len() < whole { Frame::Partial } else { Frame::Whole(whole) }
}

fn answer(reply: &mut Reply<'_>, body: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    reply.send(&[head.as_bytes(), body].concat());
}

const PYTHON: &str = "
import http.client, sys
connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=20)
sockets = set()
for length in [0, 1, 1000, 300000]:
    body = bytes(at % 251 for at in range(length))
    connection.request('POST', '/echo', body)
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read().endswith(body), length
    sockets.add(connection.sock.getsockname())
assert len(sockets) == 1, 'the connection is kept'
print('all answered')
";

#[test]
fn http_clients_are_answered_by_a_function_of_the_frames() {
    for policy in Policy::TCP {
        let server = server(Frames::By(Arc::new(http))).policy(policy).workers(2);
        let running = server.start(|(), request, reply| answer(reply, request.bytes)).unwrap();
        let port = running.local_addr().port().to_string();
        match Command::new("python3").args(["-c", PYTHON, &port]).output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success() && said.contains("all answered"), "{policy:?}: {output:?}");
            }
            Err(error) => println!("skipped python3: {error}"),
        }
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.1\\r\\n\\r\\nGET /2 HTTP/1.1\\r\\n\\r\\n' >&3; timeout 20 head -n 10 <&3"
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.matches("200 OK").count() == 2 && said.contains("GET /2"), "{policy:?}: {output:?}");
        running.stop().unwrap();
    }
}

/// Tells why connections end.
struct Telling(std::sync::mpsc::Sender<Closed>);

impl Handler<()> for Telling {
    fn request(&self, (): &mut (), request: Request<'_>, reply: &mut Reply<'_>) {
        reply.send(request.bytes);
    }

    fn closed(&self, _: std::net::SocketAddr, (): (), reason: Closed) {
        let _ = self.0.send(reason);
    }
}

#[test]
fn what_is_no_request_ends_its_connection_behind_earlier_replies() {
    let faulty = |bytes: &[u8]| match bytes[0] {
        b'0' => Frame::Whole(0),
        b'9' => Frame::Whole(usize::MAX),
        b'!' => std::panic::resume_unwind(Box::new("told to")),
        _ if bytes.len() < 4 => Frame::Partial,
        _ => Frame::Whole(4),
    };
    let faulty: Frames = Frames::By(Arc::new(faulty));
    let http: Frames = Frames::By(Arc::new(http));
    let get = "GET / HTTP/1.1\r\n\r\n";
    let long = "x".repeat(101);
    let cases = [
        (&http, get, "GET / HTTP/3\r\n\r\n", "no HTTP/1.1"),
        (&http, get, &*long, "too long"),
        (&faulty, "abcd", "0", "no bytes"),
        (&faulty, "abcd", "9", "too long"),
        (&faulty, "abcd", "!", "panicked"),
        (&Frames::Lines, "line\n", &*long, "too long"),
        (&Frames::Length, "\0\0\0\x02ab", "\0\0\0\x65", "too long"),
    ];
    for policy in Policy::TCP {
        for (frames, good, bad, expected) in &cases {
            let (told, ended) = channel();
            let server = server((*frames).clone()).policy(policy).workers(2).longest_request(100);
            let running = server.start_handler(Telling(told)).unwrap();
            let mut one = client(&running);
            one.write_all(&[good.as_bytes(), good.as_bytes(), bad.as_bytes()].concat()).unwrap();
            assert_eq!(rest(&mut one), [*good, *good].concat().as_bytes(), "{bad:?} under {policy:?}");
            let Ok(Closed::Invalid(why)) = ended.recv_timeout(LONG) else { panic!("{bad:?}") };
            assert!(why.contains(expected), "{bad:?}: {why}");
            let total = running.stop().unwrap().total();
            assert_eq!((total.invalid + total.too_long, total.closed, total.requests), (1, 1, 2));
        }
    }
}

/// The longest request that is allowed passes.
#[test]
fn limits_hold_to_the_byte() {
    let server = server(Frames::Lines).workers(1).longest_request(5);
    let running = server.start(|(), request, reply| reply.send(request.bytes)).unwrap();
    let mut one = BufReader::new(client(&running));
    for part in ["1234", "5", "\n"] {
        one.get_mut().write_all(part.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut line = String::new();
    one.read_line(&mut line).unwrap();
    assert_eq!(line, "12345\n");
    one.get_mut().write_all(b"123456\n").unwrap();
    assert_eq!(one.read_line(&mut line).unwrap(), 0);
    assert_eq!(running.stop().unwrap().total().too_long, 1);
}
