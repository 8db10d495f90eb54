//! The six builds: three forms that are compiled, and clones of two of them.

use super::super::points::{Build, Stack};
use super::runs::site;
use warmcore_layout::lab::{Form, LabError, Protocols, Switches, placed, trace};
use warmcore_layout::order::Strategy;
use warmcore_layout::trace::Trace;

/// BAD: every function at the same place of the instruction cache, and as many at the same place of the board's cache as the
/// machine's memory has room for: 64 MB are 32 times that cache, of which everything else takes a few.
pub(super) const PESSIMAL: Strategy = Strategy::Pessimal { hottest: 28 };

/// The stack as the laboratory calls it.
pub(super) const fn protocols(stack: Stack) -> Protocols {
    match stack {
        Stack::TcpIp => Protocols::TcpIp,
        Stack::Rpc => Protocols::Rpc,
    }
}

/// A round trip of `stack` in `build`.
pub(super) fn traced(stack: Stack, build: Build, switches: Switches) -> Result<Trace, LabError> {
    let (form, strategy) = match build {
        Build::Std => (Form::Std, None),
        Build::Out => (Form::Out, None),
        Build::Pin => (Form::Pin, None),
        Build::Bad => (Form::Out, Some(PESSIMAL)),
        Build::Clo => (Form::Out, Some(Strategy::Bipartite)),
        Build::All => (Form::Pin, Some(Strategy::Bipartite)),
    };
    let (image, protocols) = (form.image()?, protocols(stack));
    match strategy {
        Some(strategy) => trace(&placed(&image, protocols, strategy, &site()?)?, protocols, switches),
        None => trace(&image, protocols, switches),
    }
}
