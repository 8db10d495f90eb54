//! The time to receive one UDP packet in each form of the stack, and one TCP segment, compared with smoltcp.
//!
//! Every receiver gets the same Ethernet frame, checks the same fields and checksums, and passes the
//! payload to the application, which reads its first and last byte. All run in one process in
//! interleaved rounds, so that a disturbance of the machine affects all of them alike. The ratio to
//! smoltcp is taken within each round.
//!
//! Run with `make bench`.

mod peer;
mod segments;
mod table;

use peer::Smoltcp;
use std::hint::black_box;
use std::time::Instant;
use table::Column;
use warmcore_bench::Provenance;
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_stack::{Config, DropReason, Flow, IndependentStacks, LockingStack, Pool, SerialStack};
use warmcore_units::StackId;

const ROUNDS: usize = 301;
const PACKETS_PER_ROUND: u32 = 2_000;

fn main() {
    // Without this argument it runs as a test: one round, only to show that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let mut provenance = Provenance::read(&["warmcore-stack", "smoltcp"]);
    println!(
        "{rounds} interleaved rounds of {PACKETS_PER_ROUND} packets; median [quartiles] of the rounds\n"
    );
    for payload in [64, 1472] {
        for verify_udp_checksum in [true, false] {
            compare(payload, verify_udp_checksum, rounds);
        }
    }
    for payload in [1, 64, 1460] {
        segments::compare(payload, rounds);
    }
    // Last, because it includes the load after the benchmark.
    provenance.finish();
    provenance.print();
}

/// Measures all receivers with one kind of frame and prints a table.
fn compare(payload: usize, verify_udp_checksum: bool, rounds: usize) {
    let flow = Flow::synthetic(1);
    let config = Config { link: LinkKind::Ethernet, verify_udp_checksum };
    let mut buffer = [0; 2048];
    let payload_bytes: Vec<u8> = (0..payload).map(|i| i as u8).collect();
    let frame = FrameBuilder::new(LinkKind::Ethernet, flow).write(&payload_bytes, &mut buffer);
    let frame: &[u8] = frame.expect("the payload fits the frame, and the frame the buffer");

    let pool = Pool::new(8);
    let mut serial = SerialStack::new(config);
    let mut locking = LockingStack::new(config);
    let mut independent = IndependentStacks::new(1, config);
    serial.open(&flow).expect("the flow is open once");
    locking.open(&flow).expect("the flow is open once");
    independent.open(StackId(0), &flow).expect("the flow is open once");
    let mut whole_poll = Smoltcp::new(&flow, verify_udp_checksum);
    let mut ingress_only = Smoltcp::new(&flow, verify_udp_checksum);

    let mut columns = [
        Column::new("smoltcp, ingress only"),
        Column::new("smoltcp, whole poll"),
        Column::new("serial"),
        Column::new("locking"),
        Column::new("independent stacks"),
    ];
    for _ in 0..rounds {
        let [ingress, poll, one, locks, stacks] = &mut columns;
        ingress.push(time(|| ingress_only.ingress(black_box(frame), touch)));
        poll.push(time(|| whole_poll.poll(black_box(frame), touch)));
        one.push(time(|| delivered(serial.receive(&pool, black_box(frame), |d| touch(d.payload)))));
        locks.push(time(|| delivered(locking.receive(&pool, black_box(frame), |d| touch(d.payload)))));
        stacks.push(time(|| {
            delivered(independent.receive(StackId(0), &pool, black_box(frame), |d| touch(d.payload)));
        }));
    }
    let checksum = if verify_udp_checksum { "verified" } else { "not verified" };
    table::print(&format!("{payload}-byte payload, UDP checksum {checksum}"), &columns);
}

/// Panics if the stack dropped the packet: a benchmark must process all of them.
fn delivered(outcome: Result<(), DropReason>) {
    outcome.expect("the frame is valid and its stream open");
}

/// The application: reads the first and last byte of a payload.
fn touch(payload: &[u8]) {
    black_box((payload.first(), payload.last(), payload.len()));
}

/// Nanoseconds per packet.
fn time(mut receive: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..PACKETS_PER_ROUND {
        receive();
    }
    start.elapsed().as_nanos() as f64 / f64::from(PACKETS_PER_ROUND)
}
