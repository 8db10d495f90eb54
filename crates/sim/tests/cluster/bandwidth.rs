//! Bandwidth out of one node, against what occupancies allow (Falsafi 1998, §5.3.3).

use warmcore_sim::cluster::microbenchmarks::RemoteReads;
use warmcore_sim::cluster::{Device, Machine, Options, run};

/// Megabytes a second that a node replies with to `requesters` nodes.
fn reply(device: Device, requesters: u32, block_bytes: u64) -> f64 {
    let machine = Machine {
        block_bytes,
        line_bytes: block_bytes.min(64),
        ..Machine::chapter_5(requesters + 1, 1, device)
    };
    measure(&machine, &RemoteReads::reply_bandwidth(requesters, 1, 200, block_bytes))
}

/// Megabytes a second that a node requests from as many nodes as it has processors.
fn request(device: Device, requesters: u32, block_bytes: u64) -> f64 {
    let machine = Machine { block_bytes, ..Machine::chapter_5(requesters + 1, requesters, device) };
    measure(&machine, &RemoteReads::request_bandwidth(requesters, requesters, 200, block_bytes))
}

fn measure(machine: &Machine, program: &RemoteReads) -> f64 {
    let outcome = run(machine, program, &Options::default()).expect("it runs");
    400.0 * program.bytes_per_cycle(&outcome).expect("it has read blocks")
}

const fn hurricane(processors: u32, mhz: u32) -> Device {
    Device::Hurricane { processors, mhz }
}

const fn hurricane_1(processors: u32) -> Device {
    Device::Hurricane1 { dedicated: processors }
}

/// Whether `measured` is within a part in twenty of what one thread with this occupancy lets through.
fn assert_saturates(measured: f64, block_bytes: u64, occupancy: u64) {
    let bound = 400.0 * block_bytes as f64 / occupancy as f64;
    assert!((0.95..=1.0).contains(&(measured / bound)), "{measured} MB/s, with a bound of {bound}");
}

#[test]
fn one_thread_replies_as_fast_as_its_occupancy_allows() {
    assert_saturates(reply(Device::SComa {}, 4, 64), 64, 145);
    assert_saturates(reply(hurricane(1, 400), 4, 64), 64, 204);
    assert_saturates(reply(hurricane_1(1), 4, 64), 64, 377);
}

#[test]
fn one_thread_requests_as_fast_as_its_occupancy_allows() {
    assert_saturates(request(hurricane(1, 400), 8, 64), 64, 112);
    assert_saturates(request(hurricane_1(1), 8, 64), 64, 519);
}

#[test]
fn state_that_migrates_keeps_replies_from_growing_with_threads() {
    // A handler finds its entry in another's cache every second time with two threads, and three times of four with four. The
    // line takes 63 cycles then: (204 + 63/2) and (204 + 63·3/4) cycles a handler.
    let one = reply(hurricane(1, 400), 12, 64);
    for (threads, bound) in [(2, 2.0 * 204.0 / 235.5), (4, 4.0 * 204.0 / 251.0)] {
        let ratio = reply(hurricane(threads, 400), 12, 64) / one;
        assert!((0.9..1.1).contains(&(ratio / bound)), "{threads} threads: {ratio}, expected about {bound}");
    }
}

#[test]
fn a_slower_clock_halves_requests_but_not_replies() {
    let ratio = |measure: fn(Device, u32, u64) -> f64| {
        measure(hurricane(1, 400), 8, 64) / measure(hurricane(1, 200), 8, 64)
    };
    let (replies, requests) = (ratio(reply), ratio(request));
    assert!((1.25..1.45).contains(&replies) && (1.9..2.1).contains(&requests), "{replies} and {requests}");
}
