//! Peers that do not read, and descriptors that run out.

use super::{ask, client, framed, receive, server};
use crate::{LONG, until};
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use warmcore_runtime::server::{Frames, Policy};

const REPLY: usize = 100_000;

/// One reads nothing for a while, and its requests and replies are more than all buffers hold.
#[test]
fn a_peer_that_does_not_read_holds_up_nobody_else_and_loses_nothing() {
    const REQUESTS: u32 = 1000;
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(1).state(|_| 0_u32);
        let running = server
            .start(|count, request, reply| {
                *count += 1;
                match request.bytes {
                    b"much" => reply.send(&[&count.to_le_bytes()[..], &vec![7; REPLY]].concat()),
                    _ => reply.send(request.bytes),
                }
            })
            .unwrap();
        let (mut slow, mut fast) = (client(&running), client(&running));
        slow.write_all(&(0..REQUESTS).flat_map(|_| framed(b"much")).collect::<Vec<_>>()).unwrap();
        for _ in 0..50 {
            assert_eq!(ask(&mut fast, b"quick"), b"quick");
        }
        // The server has stopped handling requests of the one, at what the kernel and the queue take.
        let handled = || running.report().total().requests - 50;
        let mut before = 0;
        until("its requests wait", || {
            thread::sleep(std::time::Duration::from_millis(20));
            core::mem::replace(&mut before, handled()) == handled() && before > 0
        });
        assert!(handled() < u64::from(REQUESTS), "{policy:?}: {} handled", handled());
        for number in 1..=REQUESTS {
            let answer = receive(&mut slow);
            assert!(answer.len() == REPLY + 4 && answer[..4] == number.to_le_bytes(), "{policy:?}");
        }
        let total = running.stop().unwrap().total();
        assert_eq!((total.replies, total.unsent), (u64::from(REQUESTS) + 50, 0), "{policy:?}");
    }
}

#[test]
fn what_is_sent_unasked_to_a_peer_that_does_not_read_is_refused() {
    for policy in [Policy::ByFlow, Policy::SharedLifo] {
        let running =
            server(Frames::Length).policy(policy).workers(1).start(|(), _, reply| reply.send(b"")).unwrap();
        let mut one = client(&running);
        ask(&mut one, b"");
        let (sender, peer) = (running.sender(), one.local_addr().unwrap());
        let mut taken = 0_u32;
        while sender.send(peer, &vec![taken as u8; 1 << 20]) {
            taken += 1;
            assert!(taken < 1000, "a gigabyte is kept for a peer that does not read");
        }
        for number in 0..taken {
            let answer = receive(&mut one);
            assert!(answer.len() == 1 << 20 && answer.iter().all(|byte| *byte == number as u8), "{policy:?}");
        }
        assert!(sender.send(peer, b"again"));
        assert_eq!(receive(&mut one), b"again");
        running.stop().unwrap();
    }
}

#[test]
fn without_descriptors_peers_wait_and_others_are_served() {
    // The limit is the process's: a child's, so that no other test runs out.
    const CHILD: &str = "WARMCORE_FEW_DESCRIPTORS";
    if let Ok(address) = std::env::var(CHILD) {
        return few_descriptors(&address);
    }
    let this = std::env::current_exe().unwrap();
    let test = "tcp::limits::without_descriptors_peers_wait_and_others_are_served";
    let script =
        format!("ulimit -n 60; exec '{}' --exact {test} --nocapture --test-threads=1", this.display());
    let start = |policy: Policy| {
        let mut command = Command::new("bash");
        let child = command.args(["-c", &script]).env(CHILD, format!("{policy:?}")).stdout(Stdio::null());
        (policy, child.stderr(Stdio::piped()).spawn().unwrap())
    };
    for (policy, child) in Policy::TCP.map(start) {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{policy:?}: {said}");
        assert_eq!(said.matches("no descriptors left").count(), 1, "{said}");
    }
}

fn few_descriptors(policy: &str) {
    let policy = Policy::TCP.into_iter().find(|known| format!("{known:?}") == policy).unwrap();
    let running = server(Frames::Length)
        .policy(policy)
        .workers(2)
        .start(|(), request, reply| reply.send(request.bytes))
        .unwrap();
    // Both ends are in this process: more than half of the descriptors are clients'.
    let mut clients: Vec<TcpStream> = Vec::new();
    let spare = std::fs::File::open("/dev/null").unwrap();
    let mut connect = || {
        let client = TcpStream::connect(running.local_addr());
        client.map(|client| {
            client.set_read_timeout(Some(LONG)).unwrap();
            clients.push(client);
            thread::sleep(std::time::Duration::from_millis(1));
        })
    };
    while connect().is_ok() {}
    // One more, for which the server has none.
    drop(spare);
    let _ = connect();
    until("descriptors are short", || running.report().total().unaccepted > 0);
    // A connection that was accepted goes on.
    assert_eq!(ask(&mut clients[0], b"still here"), b"still here");
    let busy = |running: &warmcore_runtime::server::Running| {
        running
            .report()
            .workers
            .iter()
            .filter_map(|worker| worker.cpu_time)
            .map(warmcore_units::Nanos::secs)
            .sum::<f64>()
    };
    let before = busy(&running);
    thread::sleep(std::time::Duration::from_millis(500));
    let used = busy(&running) - before;
    assert!(used < 0.25, "{used} s of processor time in 0.5 s without work");
    // Every peer is answered once others have gone.
    let last = clients.split_off(clients.len() - 5);
    drop(clients);
    for mut client in last {
        assert_eq!(ask(&mut client, b"now"), b"now", "{policy:?}");
    }
    running.stop().unwrap();
}
