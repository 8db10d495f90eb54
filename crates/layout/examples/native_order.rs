//! An order of functions for the laboratory's native program, of the paths of both its stacks, as lld reads it:
//! `cargo run --package warmcore-layout --example native_order PROGRAM > order.txt`.

use std::collections::BTreeSet;
use warmcore_cachesim::machines;
use warmcore_layout::native::{Request, trace};
use warmcore_layout::order::{CallGraph, Site, Strategy};
use warmcore_layout::trace::Trace;
use warmcore_linux::stepping::Launch;
use warmcore_units::Bytes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args().nth(1).ok_or("which program?")?;
    let site = Site::new(&machines::three_levels(1), 0x40_0000, Bytes(16))?;
    let mut listed = BTreeSet::new();
    for (stack, host) in [("tcp", "TcpHost"), ("rpc", "RpcHost")] {
        let traced = round_trip(&program, stack, host)?;
        let graph = CallGraph::new(&traced);
        let placement = Strategy::Bipartite.place(&traced, &graph, &site)?;
        for symbol in placement.symbols(&traced) {
            if listed.insert(symbol.to_owned()) {
                println!("{symbol}");
            }
        }
    }
    Ok(())
}

/// From one request to the next: the path of both hosts.
fn round_trip(program: &str, stack: &str, host: &str) -> Result<Trace, Box<dyn std::error::Error>> {
    let send = format!("warmcore_lab::graph::{stack}::{host}::send");
    let launch = Launch::new([program, stack, "50"]);
    let request = Request { launch, first: send.parse()?, last: send.parse()?, passes: 1, finish: false };
    trace(&request)?.paths.pop().ok_or_else(|| "no path".into())
}
