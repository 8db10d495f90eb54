//! The page on a round trip of TCP/IP: `cargo run --package warmcore-layout --example page [FILE]`. The answer goes to the terminal.

use std::path::PathBuf;
use warmcore_cachesim::machines;
use warmcore_layout::compare::Plan;
use warmcore_layout::lab::{Form, Protocols, Switches, trace};
use warmcore_layout::order::CallGraph;
use warmcore_layout::present::{ComparisonFigures, document};
use warmcore_layout::simulate::Setup;
use warmcore_record::{Existing, atomic_file};
use warmcore_units::Cycles;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("path.html"), PathBuf::from);
    let trace = trace(&Form::Std.image()?, Protocols::TcpIp, Switches::IMPROVED)?;
    let graph = CallGraph::new(&trace);
    let setup = Setup::new(machines::dec_3000_600(Cycles(50)));
    let plan = Plan { random_orders: 200, ..Plan::new("TCP/IP round trip", setup) };
    let comparison = plan.run(&trace, &graph, &mut |_, _| {})?;
    println!("{}", ComparisonFigures::from(&comparison).headline);
    let page = warmcore_report::render(&document(&comparison));
    atomic_file::write(&path, page.as_bytes(), Existing::Replace)?;
    Ok(())
}
