//! The six builds: three forms that are compiled, and clones of two of them.

use super::super::points::{Build, Protocols};
use super::runs::site;
use warmcore_layout::lab::{Form, LabError, Switches, placed, trace};
use warmcore_layout::order::Strategy;
use warmcore_layout::trace::Trace;

/// BAD has every function at the same place of the instruction cache, and so many at the same place of the board's cache as the
/// machine's memory has room for: 64 MB are 32 times that cache, of which everything else takes a few.
pub(super) const HOTTEST: u32 = 28;
/// How many that may be besides. The text does not say how BAD was made: with 12, TCP/IP has about as many replacement misses in
/// the board's cache as printed (110).
pub(super) const HOTTEST_PRINTED: u32 = 12;

/// A round trip of `stack` in `build`.
pub(super) fn traced(stack: Protocols, build: Build, switches: Switches) -> Result<Trace, LabError> {
    let (form, strategy) = match build {
        Build::Bad => return bad(stack, HOTTEST, switches),
        Build::Std => (Form::Std, None),
        Build::Out => (Form::Out, None),
        Build::Pin => (Form::Pin, None),
        Build::Clo => (Form::Out, Some(Strategy::Bipartite)),
        Build::All => (Form::Pin, Some(Strategy::Bipartite)),
    };
    let image = form.image()?;
    match strategy {
        Some(strategy) => trace(&placed(&image, stack, strategy, &site()?)?, stack, switches),
        None => trace(&image, stack, switches),
    }
}

/// A round trip of BAD with so many functions at one place of the board's cache.
pub(super) fn bad(stack: Protocols, hottest: u32, switches: Switches) -> Result<Trace, LabError> {
    let placed = placed(&Form::Out.image()?, stack, Strategy::Pessimal { hottest }, &site()?)?;
    trace(&placed, stack, switches)
}
