//! Reading captures that these tests write byte by byte.

mod formats;
mod fragments;
mod frames;
mod hostile;
mod writer;

use warmcore_workload::{Arrival, Arrivals, Trace};

/// All packets of a trace, unscaled.
fn packets(trace: &Trace) -> Vec<Arrival> {
    let mut block = vec![Arrival::default(); trace.packets() + 1];
    let filled = trace.replay(1.0).unwrap().fill(&mut block);
    assert_eq!(filled, trace.packets());
    block.truncate(filled);
    block
}

/// The streams of a trace's packets, in order of time.
fn streams(trace: &Trace) -> Vec<u32> {
    packets(trace).iter().map(|packet| packet.stream.0).collect()
}
