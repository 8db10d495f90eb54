//! The source's machine, with words of one instruction.

use crate::order::Site;
use crate::simulate::Setup;
use warmcore_cachesim::machines;
use warmcore_units::{Bytes, Cycles, Fault};

/// Its caches and processor, with memory so many cycles away: the text does not say how many.
#[must_use]
pub fn setup(memory: u64) -> Setup {
    Setup::new(machines::dec_3000_600(Cycles(memory)))
}

/// A place for functions from `base` on, each at a multiple of one instruction.
///
/// # Errors
/// If `base` is no such multiple, or too large.
pub fn site(base: u64, memory: u64) -> Result<Site, Fault> {
    Site::new(&setup(memory).caches, base, Bytes(4))
}
