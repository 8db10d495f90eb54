//! Any bytes as a plan: it is refused with the field or line that is wrong, or applied to a made-up machine and
//! undone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warmcore_fuzz::host::{Machine, plan, seeds};

thread_local! {
    static MACHINE: Machine = Machine::new();
}

fuzz_target!(
    init: seeds::write(seeds::plans),
    |document: &[u8]| MACHINE.with(|machine| plan::apply_and_undo(machine, document))
);
