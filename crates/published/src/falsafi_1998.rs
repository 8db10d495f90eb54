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
//! | [`measured`] | executes a run, and the figures that it gives |
//! | [`totals`], [`preliminaries`] | what a run counted; what runs of chapter 4's microbenchmarks have in common |
//! | [`draws`], [`scatter`] | repetitions of microbenchmarks; how much programs scatter |
//! | [`uncertainty`] | values with their intervals |
//! | [`mod@reproduce`] | executes the plan: in parallel, longest first, can be interrupted and resumed |
//! | [`runs`] | the results, in the form that the claims need |
//! | [`cost`] | the cost model of §4.3 |
//! | [`claims`] | the statements of the text, and how our values are derived |
//!
//! A run always gives the same value, but accidents decide which: microbenchmarks are repeated with other seeds or latencies, and
//! how much a program's value scatters is measured. With scaled inputs (`--quick`) a value of a program has an interval without ends,
//! since nobody knows how far it is from that of the full input.

mod charts;
pub mod claims;
mod columns;
pub mod cost;
pub mod draws;
pub mod figures;
pub mod measured;
pub mod plan;
pub mod preliminaries;
pub mod reproduce;
pub mod runs;
pub mod scatter;
pub mod setup;
pub mod source;
pub mod system;
pub mod tables;
pub mod totals;
pub mod uncertainty;
pub mod work;

pub use measured::{Measured, Obtained};
pub use preliminaries::Preliminaries;
pub use reproduce::{Options, ReproduceError, reproduce};
pub use runs::Runs;
pub use setup::Setup;
pub use source::source;
pub use system::System;
pub use work::{App, Work};
