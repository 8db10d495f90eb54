//! A mix of programs, measured: the scheduler's events of a live system become a scenario that `warmcore simulate
//! runqueue` can run.
//!
//! | module | purpose |
//! |---|---|
//! | [`threads`] | what each thread did, from the events as they come |
//! | `histogram` | how long threads run until they stop by themselves |
//! | [`scenario`] | threads of one command together, as an application of a scenario |
//!
//! What is recorded is the demand: how long threads compute until they block, and how long they then wait for. Cache misses
//! are in those times already, so a scenario of this origin charges none.

mod histogram;
pub mod scenario;
pub mod threads;

pub use scenario::{ApplicationSummary, Mix, mix};
pub use threads::Threads;
