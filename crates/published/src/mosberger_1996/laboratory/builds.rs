//! The six builds: three forms that are compiled, and clones of two of them.

use super::super::points::{Build, Protocols};
use super::runs::site;
use warmcore_layout::lab::{Form, LabError, Switches, placed, trace};
use warmcore_layout::order::Strategy;
use warmcore_layout::trace::Trace;

/// BAD: every function at the same place of the instruction cache, and as many at the same place of the board's cache as the
/// machine's memory has room for: 64 MB are 32 times that cache, of which everything else takes a few.
pub(super) const PESSIMAL: Strategy = Strategy::Pessimal { hottest: 28 };

/// A round trip of `stack` in `build`.
pub(super) fn traced(stack: Protocols, build: Build, switches: Switches) -> Result<Trace, LabError> {
    let (form, strategy) = match build {
        Build::Std => (Form::Std, None),
        Build::Out => (Form::Out, None),
        Build::Pin => (Form::Pin, None),
        Build::Bad => (Form::Out, Some(PESSIMAL)),
        Build::Clo => (Form::Out, Some(Strategy::Bipartite)),
        Build::All => (Form::Pin, Some(Strategy::Bipartite)),
    };
    let image = form.image()?;
    match strategy {
        Some(strategy) => trace(&placed(&image, stack, strategy, &site()?)?, stack, switches),
        None => trace(&image, stack, switches),
    }
}
