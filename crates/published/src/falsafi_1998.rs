//! Falsafi 1998: "Fine-Grain Protocol Execution Mechanisms & Scheduling Policies on SMP Clusters". Tables 4.1 to 5.3, figures 4-2
//! to 4-8 and 5-5 to 5-13, and what the text says of them.
//!
//! ```text
//! Options ──► plan: which runs, each once ──► reproduce ──► Runs: the evidence
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`], [`figures`] | the thesis as data: its figures in words, conclusions, choices |
//! | [`tables`] | the tables as printed |
//! | [`system`], [`work`], [`setup`] | a system, what it executes, and both with their parameters: one run |
//! | [`plan`] | the runs that each figure needs |
//! | [`measured`] | executes a run, and what is kept of it |
//! | [`mod@reproduce`] | executes the plan: in parallel, longest first, can be interrupted and resumed |
//! | [`runs`] | the results, in the form that the claims need |
//! | [`cost`] | the cost model of §4.3 |
//! | [`claims`] | the statements of the text, and how our values are derived |
//!
//! Runs have no random choices but those of the programs' inputs and of the microbenchmarks' computing times, one draw each, so that values have no intervals. Only with scaled inputs
//! (`--quick`) a value of a program has one: it has no ends, since nobody knows how far it is from that of the full input.

mod charts;
pub mod claims;
mod columns;
pub mod cost;
pub mod figures;
pub mod measured;
pub mod plan;
pub mod reproduce;
pub mod runs;
pub mod setup;
pub mod source;
pub mod system;
pub mod tables;
pub mod work;

pub use measured::{Measured, Obtained};
pub use reproduce::{Options, ReproduceError, reproduce};
pub use runs::Runs;
pub use setup::Setup;
pub use source::source;
pub use system::System;
pub use work::{App, Work};
