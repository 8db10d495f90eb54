//! The part of a native trace that its program's linker can move: not what lies in shared libraries.
//!
//! Linux maps a program at its fixed address or from two thirds of the address space on, which 32 bits of randomness hardly
//! move (`ELF_ET_DYN_BASE` in `fs/binfmt_elf.c`), and shared libraries and its own vDSO below the stack (`mmap_base` in
//! `mm/util.c`). So the two are told apart by address. A static program that may lie anywhere has no libraries, and lies
//! where they would.

use crate::order::CallGraph;
use crate::trace::{Function, Instruction, Trace};

/// Shared libraries of x86-64 lie above, programs below.
const LIBRARIES: u64 = 0x7000_0000_0000;

/// Places begin at multiples of it: the largest page, and a multiple of every way of a cache.
const ALIGNMENT: u64 = 2 << 20;

/// A trace, seen by its program's linker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovablePart {
    /// The graph of the program's functions alone: what strategies place.
    pub graph: CallGraph,
    /// Functions of others that were executed, in the order of first execution.
    pub left_out: Vec<Function>,
    /// An address beyond all of it, a multiple of 2 MiB: functions can be placed from there on.
    pub base: u64,
}

impl MovablePart {
    /// Takes `trace` apart.
    #[must_use]
    pub fn new(trace: &Trace) -> Self {
        let all = CallGraph::new(trace);
        let executed = || all.nodes().iter().map(|node| &trace.functions()[node.function as usize]);
        let limit =
            if executed().any(|function| function.address < LIBRARIES) { LIBRARIES } else { u64::MAX };
        let is_movable = |function: &Function| function.address < limit;
        let left_out = executed().filter(|one| !is_movable(one)).cloned().collect();
        Self { graph: CallGraph::restricted(trace, is_movable), left_out, base: beyond(trace, limit) }
    }
}

/// The first multiple of the alignment behind all functions and all code that begin below `limit`.
fn beyond(trace: &Trace, limit: u64) -> u64 {
    let functions = trace.functions().iter().filter(|function| function.address < limit);
    let functions = functions.map(|function| function.address.saturating_add(function.size));
    let code = trace.instructions().iter().map(Instruction::end);
    let end = functions.chain(code.filter(|&end| end <= limit)).max().unwrap_or(0);
    end.checked_next_multiple_of(ALIGNMENT).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Walk, function};

    #[test]
    fn libraries_are_left_out_and_the_place_lies_behind_all_of_the_program() {
        let functions = [
            function("m", 0x5555_5555_5000, 64),
            function("never", 0x5555_5560_0000, 64),
            function("l", 0x7fff_f7d0_0000, 64),
        ];
        let mut walk = Walk::new(&functions);
        walk.whole("m").whole("l");
        let part = MovablePart::new(&walk.trace);
        let movable: Vec<u32> = part.graph.nodes().iter().map(|node| node.function).collect();
        assert_eq!(movable, [0]);
        assert_eq!(part.left_out, functions[2..]);
        assert_eq!(part.base, 0x5555_5580_0000);
    }

    #[test]
    fn a_static_program_lies_where_libraries_would() {
        let mut walk = Walk::new(&[function("m", 0x7fff_f7d0_0000, 64)]);
        walk.whole("m");
        let part = MovablePart::new(&walk.trace);
        assert_eq!((part.graph.nodes().len(), part.left_out.len()), (1, 0));
        assert_eq!(MovablePart::new(&Trace::default()).base, 0);
    }
}
