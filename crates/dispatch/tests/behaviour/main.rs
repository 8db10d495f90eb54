//! What a dispatcher promises, on real threads.

mod ahead;
mod completions;
mod conformance;
mod ends;
mod keyed;
mod memory;
mod order;
mod overload;
mod panics;
mod runs;

use warmcore_dispatch::{Builder, Dispatcher, Rule};

/// Every rule, with queues so few and small that keys meet in them.
pub(crate) const RULES: [Rule; 4] = [
    Rule::Sharded,
    Rule::Bound { queues: 2 },
    Rule::Window { window: 32 },
    Rule::Elastic { queues: 2, window: 32 },
];

pub(crate) fn builder() -> Builder {
    Dispatcher::<u64, u64>::builder()
}
