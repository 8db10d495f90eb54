//! Any bytes as the journal of a plan that is in force on a made-up machine.
//!
//! `ROOT` in them stands for the machine's folder, which differs in every run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warmcore_fuzz::host::{Machine, journal, seeds};

thread_local! {
    static MACHINE: Machine = journal::applied();
}

fuzz_target!(
    init: seeds::write(seeds::journals),
    |bytes: &[u8]| MACHINE.with(|machine| journal::undo_by(machine, bytes))
);
