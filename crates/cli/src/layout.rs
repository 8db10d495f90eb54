//! `warmcore layout`: a traced path, what its place in memory costs, and orders of its functions for a linker.

mod input;
mod machine;
mod measure;
mod order;
mod simulate;
mod trace;

use crate::args::layout::LayoutCommand;
use warmcore_units::Bytes;

/// Compilers let functions begin at multiples of it.
const ALIGNMENT: Bytes = Bytes(16);

pub(crate) fn run(command: &LayoutCommand) -> miette::Result<()> {
    match command {
        LayoutCommand::Trace(arguments) => trace::run(arguments),
        LayoutCommand::Order(arguments) => order::run(arguments),
        LayoutCommand::Simulate(arguments) => simulate::run(arguments),
        LayoutCommand::Measure(arguments) => measure::run(arguments),
    }
}
