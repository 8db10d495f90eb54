//! Connections and their states: they end by their peer, the handler, time, or number.

use super::{ask, assert_over, client, framed, receive, rest, server};
use crate::{LONG, until};
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use warmcore_runtime::server::{Closed, Frames, Handler, Policy, Reply, Request, Running, Server};

/// Counts requests, and tells of connections that end. A request of `close` closes its connection.
struct Counting(Sender<(SocketAddr, u32, Closed)>);

impl Handler<u32> for Counting {
    fn request(&self, count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>) {
        *count += 1;
        reply.send(&count.to_le_bytes());
        if request.bytes == b"close" {
            reply.close();
        }
    }

    fn closed(&self, peer: SocketAddr, count: u32, reason: Closed) {
        let _ = self.0.send((peer, count, reason));
    }
}

type Ended = Receiver<(SocketAddr, u32, Closed)>;

fn start(change: impl FnOnce(Server<u32>) -> Server<u32>) -> (Running, Ended) {
    let (told, ended) = channel();
    let server = change(server(Frames::Length).workers(2).state(|_| 0));
    (server.start_handler(Counting(told)).unwrap(), ended)
}

fn count(answer: &[u8]) -> u32 {
    u32::from_le_bytes(answer.try_into().unwrap())
}

#[test]
fn a_peer_that_closes_or_resets_ends_its_flow() {
    for policy in Policy::TCP {
        let (running, ended) = start(|server| server.policy(policy));
        let mut one = client(&running);
        let peer = one.local_addr().unwrap();
        assert_eq!((count(&ask(&mut one, b"")), count(&ask(&mut one, b""))), (1, 2));
        drop(one);
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, 2, Closed::ByPeer)), "{policy:?}");
        let mut one = client(&running);
        let peer = one.local_addr().unwrap();
        one.write_all(&framed(b"")).unwrap();
        until("the reply is there", || one.peek(&mut [0]).unwrap() == 1);
        // With a reply unread, the kernel resets the connection.
        drop(one);
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, 1, Closed::ByPeer)), "{policy:?}");
        let total = running.stop().unwrap().total();
        assert_eq!((total.opened, total.closed, total.replies), (2, 2, 3));
    }
}

#[test]
fn a_peer_that_says_its_end_still_gets_its_replies() {
    const REQUESTS: u32 = 5000;
    for policy in Policy::TCP {
        let (running, ended) = start(|server| server.policy(policy));
        let mut one = client(&running);
        let peer = one.local_addr().unwrap();
        one.write_all(&(0..REQUESTS).flat_map(|_| framed(b"request")).collect::<Vec<_>>()).unwrap();
        // The beginning of a request that never comes.
        one.write_all(&[0, 0]).unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        let expected: Vec<u8> = (1..=REQUESTS).flat_map(|count| framed(&count.to_le_bytes())).collect();
        assert!(rest(&mut one) == expected, "{policy:?}");
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, REQUESTS, Closed::ByPeer)), "{policy:?}");
        running.stop().unwrap();
    }
}

/// The peer goes on sending: its kernel would drop replies that are on their way, if the connection were reset.
#[test]
fn a_connection_that_the_handler_closes_ends_behind_its_replies() {
    for policy in Policy::TCP {
        let (running, ended) = start(|server| server.policy(policy));
        let mut one = client(&running);
        let peer = one.local_addr().unwrap();
        let many = |text: &[u8]| (0..3000).flat_map(|_| framed(text)).collect::<Vec<_>>();
        let _ = one.write_all(&[many(b"before"), framed(b"close"), many(b"after")].concat());
        for expected in 1..=3001 {
            assert_eq!(count(&receive(&mut one)), expected, "{policy:?}");
        }
        assert_over(&mut one);
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, 3001, Closed::ByHandler)), "{policy:?}");
        assert_eq!(running.stop().unwrap().total().requests, 3001);
    }
}

#[test]
fn idle_connections_are_closed() {
    for policy in Policy::TCP {
        let (running, ended) = start(|server| server.policy(policy).idle_after(Duration::from_millis(80)));
        // One that says nothing, too.
        let (mut silent, mut one) = (client(&running), client(&running));
        assert_eq!(count(&ask(&mut one, b"")), 1);
        assert_eq!((rest(&mut silent), rest(&mut one)), (Vec::new(), Vec::new()));
        let mut told: Vec<_> = (0..2).map(|_| ended.recv_timeout(LONG).unwrap()).collect();
        told.sort_unstable_by_key(|(_, count, _)| *count);
        let peers = [silent, one].map(|stream| stream.local_addr().unwrap());
        assert_eq!(told, [(peers[0], 0, Closed::Expired), (peers[1], 1, Closed::Expired)], "{policy:?}");
        assert_eq!(running.stop().unwrap().total().expired, 2);
    }
}

#[test]
fn the_connection_idle_longest_makes_way() {
    let (running, ended) = start(|server| server.workers(1).flows(3));
    let mut clients: Vec<_> = (0..3).map(|_| client(&running)).collect();
    for at in [0, 1, 2, 0] {
        ask(&mut clients[at], b"");
    }
    let mut more = client(&running);
    assert_eq!(count(&ask(&mut more, b"")), 1);
    // The second of them was the oldest.
    assert_eq!(ended.recv_timeout(LONG), Ok((clients[1].local_addr().unwrap(), 1, Closed::Evicted)));
    assert_over(&mut clients[1]);
    assert_eq!(count(&ask(&mut clients[0], b"")), 3);
    until("the worker publishes its counts", || running.report().total().requests == 6);
    assert_eq!((running.report().flows, running.report().total().evicted), (3, 1));
    running.stop().unwrap();
}

#[test]
fn a_thousand_connections_have_their_states() {
    const CONNECTIONS: usize = 1000;
    for policy in Policy::TCP {
        let (running, ended) = start(|server| server.policy(policy));
        let mut clients: Vec<TcpStream> = (0..CONNECTIONS).map(|_| client(&running)).collect();
        for round in 1..=3 {
            clients.iter_mut().for_each(|client| client.write_all(&framed(b"")).unwrap());
            for client in &mut clients {
                assert_eq!(count(&receive(client)), round, "{policy:?}");
            }
        }
        assert_eq!(running.report().flows, CONNECTIONS);
        let report = running.stop().unwrap();
        assert_eq!((report.total().opened, report.flows), (CONNECTIONS as u64, 0));
        assert!(ended.iter().all(|(_, count, reason)| (count, reason) == (3, Closed::Stopped)));
    }
}

/// Both from one port, to different addresses of the server. Prints what each count is; each ends when told.
const TWINS: &str = "
import socket, sys
port = int(sys.argv[1])
def connect(own, to):
    one = socket.socket()
    one.settimeout(20)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(('127.0.0.1', own))
    one.connect((to, port))
    return one
def ask(one):
    one.sendall(bytes(4))
    return one.recv(8)[4]
first = connect(0, '127.0.0.1')
second = connect(first.getsockname()[1], '127.0.0.2')
print(ask(first), ask(first), ask(second), flush=True)
first.close()
sys.stdin.readline()
print(ask(second), ask(second))
";

/// Two connections of a server of all addresses may have the same peer address and port.
#[test]
fn two_connections_of_one_peer_are_told_apart() {
    for policy in Policy::TCP {
        let server = Server::bind_tcp("0.0.0.0:0", Frames::Length).unwrap().policy(policy).workers(2);
        let (told, ended) = channel();
        let running = server.state(|_| 0).start_handler(Counting(told)).unwrap();
        let port = running.local_addr().port().to_string();
        let mut command = Command::new("python3");
        let piped = command.args(["-c", TWINS, &port]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = piped.spawn() else {
            println!("skipped: no python3");
            return;
        };
        let (first, count, reason) = ended.recv_timeout(LONG).unwrap();
        assert_eq!((count, reason), (2, Closed::ByPeer), "{policy:?}");
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1 2 1\n2 3\n", "{policy:?}");
        assert_eq!(ended.recv_timeout(LONG), Ok((first, 3, Closed::ByPeer)), "{policy:?}");
        running.stop().unwrap();
    }
}
