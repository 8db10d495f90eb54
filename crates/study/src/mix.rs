//! A mix of programs, measured: the scheduler's events of a live system become a scenario that `warmcore simulate
//! runqueue` can run.
//!
//! | module | purpose |
//! |---|---|
//! | [`threads`] | what each thread did, from the events as they come |
//! | `totals` | what threads did in all |
//! | `chain` | the steps of a thread, without what the scheduler decided |
//! | `process` | of which process a thread is, and what that is called |
//! | `selection` | which threads are asked for |
//! | `groups` | processes of one command together, as an application |
//! | [`scenario`] | the applications as a scenario |
//!
//! What is recorded is the demand: how long each thread computed between the things that it did, which are to wake up others,
//! to start them, to wait for one of them, or for an interrupt. Cache misses are in those times already, so a scenario of
//! this origin charges none.

mod chain;
mod groups;
mod process;
#[cfg(test)]
mod recordings;
pub mod scenario;
mod selection;
pub mod threads;
mod totals;

pub use groups::ApplicationSummary;
pub use scenario::{Mix, NothingRan, mix};
pub use selection::Selection;
pub use threads::Threads;
pub use totals::Delays;
