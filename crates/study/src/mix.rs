//! A mix of programs, measured: the scheduler's events of a live system become a scenario that `warmcore simulate
//! runqueue` can run.
//!
//! | module | purpose |
//! |---|---|
//! | [`threads`] | what each thread did, from the events as they come |
//! | `chain` | the steps of a thread, without what the scheduler decided |
//! | [`scenario`] | threads of one command together, as an application of a scenario |
//!
//! What is recorded is the demand: how long each thread computed between the things that it did, which are to wake up others,
//! to start them, to wait for one of them, or for an interrupt. Cache misses are in those times already, so a scenario of
//! this origin charges none.

mod chain;
pub mod scenario;
pub mod threads;

pub use scenario::{ApplicationSummary, Mix, mix};
pub use threads::Threads;
