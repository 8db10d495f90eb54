//! Salehi, Kurose & Towsley 1994: "Scheduling for Cache Affinity in Parallelized Communication
//! Protocols". Figures 4 and 7 to 15, the statements about Table 2, and what the text says of them.
//!
//! ```text
//! Options ──► Plan: which points ──► results ──► Simulations: the evidence
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`] | the source as data, and its evidence in a report |
//! | [`claims`] | what the text says, how ours is derived |
//! | [`figures`], [`figure_name`], [`curves`] | the figures in words, by name, and the curves each one draws |
//! | [`options`] | what is reproduced, for which machine, how exactly |
//! | [`setting`] | one curve's setting, and its scenario at a rate |
//! | [`rates`] | at which rates a curve is simulated |
//! | [`plan`] | the points of all figures, each once |
//! | [`mod@reproduce`] | simulating them: in parallel, interruptible, resumable |
//! | [`simulations`] | what came of them, as the claims ask for it |
//! | [`latency`] | end-to-end latency (§6.3) from simulated delays |
//! | [`charts`], [`columns`] | the same as charts, and for other programs |
//!
//! Curves that are compared share their rates, and points of one rate share their arrivals.

pub mod charts;
pub mod claims;
pub mod columns;
pub mod curves;
pub mod figure_name;
pub mod figures;
pub mod latency;
pub mod options;
pub mod plan;
pub mod rates;
pub mod reproduce;
pub mod setting;
pub mod simulations;
pub mod source;

pub use figure_name::FigureName;
pub use options::Options;
pub use plan::Plan;
pub use reproduce::{KeepError, ReproduceError, reproduce};
pub use setting::Setting;
pub use simulations::Simulations;
pub use source::source;
