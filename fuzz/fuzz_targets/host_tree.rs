//! A fake host of which some files are changed, removed or replaced by folders: it is read, and its queues and
//! readers are placed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warmcore_fuzz::host::tree::{Edited, observe};

fuzz_target!(|edited: Edited<'_>| observe(&edited));
