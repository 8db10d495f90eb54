//! What a dispatcher promises, on real threads.

mod breaker;
mod completions;
mod conformance;
mod dropped;
mod ends;
mod errors;
mod keyed;
mod memory;
mod order;
mod overload;
mod panics;
mod promises;
mod runs;
mod slow;
mod states;
mod tasks;
mod waits;

use warmcore_dispatch::{Binding, Builder, Dispatcher};

pub(crate) const BINDINGS: [Binding; 2] = [Binding::Dynamic, Binding::Static];

pub(crate) fn builder() -> Builder {
    // So few strands that keys meet in them.
    Dispatcher::<u64, u64>::builder().strands(2)
}
