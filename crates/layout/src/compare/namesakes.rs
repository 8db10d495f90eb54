//! Functions that share a linker's name with another one of the program.
//!
//! A list for a linker names functions, and not the objects that they come from: of two static functions with one name, which
//! objects may have each, the linker moves both.

use crate::order::CallGraph;
use crate::trace::Trace;
use hashbrown::HashMap;

/// The linker's names of functions of `graph` that several functions of the program have, in the order of first execution.
/// The program's own lie below `base`, those of its libraries beyond.
pub(super) fn namesakes(trace: &Trace, graph: &CallGraph, base: u64) -> Vec<String> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for function in trace.functions().iter().filter(|function| function.address < base) {
        *times.entry(function.symbol.as_str()).or_default() += 1;
    }
    let mut names: Vec<String> = Vec::new();
    for node in graph.nodes() {
        let symbol = &trace.functions()[node.function as usize].symbol;
        if times.get(symbol.as_str()).is_some_and(|&times| times > 1) && !names.contains(symbol) {
            names.push(symbol.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::namesakes;
    use crate::movable::MovablePart;
    use crate::sample::{Walk, function};

    #[test]
    fn a_name_counts_if_another_function_of_the_program_has_it_executed_or_not() {
        let functions = [
            function("grow", 0x5555_5555_5000, 32),
            function("once", 0x5555_5555_6000, 32),
            function("read", 0x5555_5555_7000, 32),
            // In an object that the path never enters.
            function("grow", 0x5555_5555_8000, 32),
            function("idle", 0x5555_5555_9000, 32),
            function("idle", 0x5555_5555_a000, 32),
            // A library's.
            function("read", 0x7fff_f7d0_0000, 32),
        ];
        let mut walk = Walk::new(&functions);
        walk.whole("grow").whole("once").whole("read").whole("grow");
        let movable = MovablePart::new(&walk.trace);
        assert_eq!(namesakes(&walk.trace, &movable.graph, movable.base), ["grow"]);
    }
}
