//! A time-sharing multiprocessor: what a run queue with affinity does to caches and completion times (Torrellas, Tucker &
//! Gupta 1995).
//!
//! ```text
//!               ┌──────────── one queue ────────────┐
//!   wake-ups ──►│ policy::runqueue: prio − affinity │◄── quantum over, yield, preempted
//!               └───┬────────┬────────┬────────┬────┘
//!                 cpu 0    cpu 1    cpu 2    cpu 3      each searches when it has nothing to run
//!                 cache    cache    cache    cache      what a process finds there decides how fast it is
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@cache`] | what processes find in caches: the analytic model, and simulated caches |
//! | [`mod@derive`] | what the analytic model is to be told of a mix whose references are described |
//! | `process` | what a process does next |
//! | `machine` | processors, queue and events; `machine/` what begins and ends, runs and wakes up |
//! | `memory` | what runs need, so that too much is refused |
//! | `scheduling` | either scheduler, behind one interface |
//! | `logged` | the queue of [`warmcore_policy::runqueue`], with a log of what it decides |
//! | [`tally`] | what is counted |
//! | [`advice`] | whether another scheduler would help, and whom it would starve |
//! | [`mod@run`] | independent runs of a scenario, and their figures with intervals |
//!
//! The same scenario, seed and run give the same figures. Events at one time happen in the order in which they were
//! foreseen. What a process does is drawn from a stream of its own, so that two schedulers see the same demands.

pub mod advice;
pub mod cache;
pub mod derive;
mod logged;
mod machine;
mod memory;
mod process;
pub mod run;
mod scheduling;
pub mod tally;

pub use memory::check_memory;
pub use run::{
    Comparison, Outcome, compare, simulate, simulate_logged, simulate_run, simulate_until, simulate_watched,
    simulate_watched_run,
};
pub use tally::{ApplicationTally, Durations, Tally};
