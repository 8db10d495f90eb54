//! The reports on a server: which way to share its port, and how predictions compare with runs.
//!
//! | module | what a reader looks for |
//! |---|---|
//! | [`advised`] | which policy to use at which rate |
//! | [`compared`] | how far off each prediction is |
//! | `charts` | processor time and delay against the rate |

pub mod advised;
mod charts;
pub mod compared;

use warmcore_scenario::ServerPolicy;

/// The policy in words, to follow "with".
#[must_use]
pub const fn in_words(policy: ServerPolicy) -> &'static str {
    match policy {
        ServerPolicy::ByFlow => "a socket for each worker, flows spread by a program",
        ServerPolicy::KernelHash => "a socket for each worker, flows spread by the kernel's hash",
        ServerPolicy::Stealing => "a socket for each worker, idle workers take from busy ones",
        ServerPolicy::Adaptive => "a socket for each of as few workers as the load needs",
        ServerPolicy::Exclusive => "a socket for all, a connection stays with the worker that accepts it",
        ServerPolicy::ByCpu => "a socket for each worker, packets processed where they arrive",
        ServerPolicy::SharedLifo => "a shared socket, last in first out",
        ServerPolicy::SharedFifo => "a shared socket, first in first out",
    }
}
