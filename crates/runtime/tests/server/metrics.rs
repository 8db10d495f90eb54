//! The page with the metrics.

use crate::{ask, client, server, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use warmcore_runtime::server::{Frames, Policy, Server};

#[test]
fn the_page_counts_what_happened() {
    for policy in [Policy::ByFlow, Policy::SharedLifo] {
        let running = server()
            .policy(policy)
            .workers(1)
            .metrics("127.0.0.1:0".parse().unwrap())
            .start(|(), request, reply| reply.send(request.bytes))
            .unwrap();
        let client = client(&running);
        (0..5).for_each(|_| _ = ask(&client, b"x"));
        until("the worker publishes its counts", || running.report().total().replies == 5);
        let mut scraper = TcpStream::connect(running.metrics_addr().unwrap()).unwrap();
        scraper.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut page = String::new();
        scraper.read_to_string(&mut page).unwrap();
        let cpu = running.report().workers[0].cpu.unwrap().0;
        for line in [
            "# TYPE warmcore_server_requests_total counter".to_owned(),
            format!("warmcore_server_requests_total{{worker=\"0\",cpu=\"{cpu}\"}} 5"),
            format!("warmcore_server_replies_total{{worker=\"0\",cpu=\"{cpu}\"}} 5"),
            format!("warmcore_server_errors_total{{worker=\"0\",cpu=\"{cpu}\",reason=\"panic\"}} 0"),
            format!("warmcore_server_flows_total{{worker=\"0\",cpu=\"{cpu}\",event=\"opened\"}} 1"),
            "warmcore_server_flows 1".to_owned(),
            "warmcore_server_dropped_total 0".to_owned(),
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        running.stop().unwrap();
    }
}

#[test]
fn the_page_counts_what_peers_did_wrong() {
    let server = Server::bind_tcp("127.0.0.1:0", Frames::Lines).unwrap().workers(1).longest_request(10);
    let running = server.start(|(), request, reply| reply.send(request.bytes)).unwrap();
    let mut peer = TcpStream::connect(running.local_addr()).unwrap();
    peer.write_all(b"fine\n12345678901\n").unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "fine\n");
    let page = running.stop().unwrap().metrics();
    let errors = |line: &&str| line.starts_with("warmcore_server_errors_total{worker=\"0\"");
    let counted: Vec<&str> = page.lines().filter(errors).filter(|line| !line.ends_with(" 0")).collect();
    assert!(matches!(counted[..], [line] if line.ends_with("reason=\"too-long\"} 1")), "{page}");
}

#[test]
fn the_kernels_drops_are_counted() {
    let held = std::sync::Arc::new(std::sync::Barrier::new(2));
    let barrier = std::sync::Arc::clone(&held);
    let running = server()
        .workers(1)
        .receive_buffer(4096)
        .start(move |(), request, _| {
            if request.bytes == b"hold" {
                barrier.wait();
            }
        })
        .unwrap();
    let client = client(&running);
    client.send(b"hold").unwrap();
    (0..500).for_each(|_| _ = client.send(&[0; 500]).unwrap());
    held.wait();
    let report = running.stop().unwrap();
    assert!(report.dropped > 0);
    assert_eq!(report.total().requests + report.dropped, 501);
}
