//! What a dispatcher promises, on real threads.

mod batches;
mod breaker;
mod completions;
mod conformance;
mod dropped;
mod ends;
mod errors;
mod keyed;
mod memory;
mod mixes;
mod order;
mod overload;
mod panics;
mod promises;
mod slow;
mod states;
mod tasks;
mod waits;

use warmcore_dispatch::{Binding, Builder, Dispatcher};

pub(crate) const BINDINGS: [Binding; 2] = [Binding::Dynamic, Binding::Static];

/// Aborts, and waits until all is gone; how many events were dropped.
pub(crate) fn abort<K, E>(dispatcher: &Dispatcher<K, E>) -> u64 {
    dispatcher.abort();
    dispatcher.wait_idle().unwrap();
    dispatcher.stats().discarded
}

pub(crate) fn builder<K, E>() -> Builder<K, E> {
    // So few strands that keys meet in them.
    Dispatcher::builder().strands(2)
}
