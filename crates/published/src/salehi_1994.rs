//! Salehi, Kurose & Towsley 1994: "Scheduling for Cache Affinity in Parallelized Communication Protocols".
//! Figures 4 and 7 to 15, the statements about Table 2, and the claims of the text about them.
//!
//! ```text
//! ReproductionOptions ──► SimulationPlan: which points ──► results ──► Simulations: the evidence
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`] | the paper as data, and the evidence for its claims in a report |
//! | [`claims`] | the statements of the text, and how our values are derived |
//! | [`figures`], [`figure_name`], [`curves`] | the figures in words, by name, and the curves each one draws |
//! | [`options`] | what is reproduced, for which machine, how exactly |
//! | [`setting`] | one curve's setting, and its scenario at a rate |
//! | [`rates`] | the rates at which a curve is simulated |
//! | [`plan`] | the points of all figures, each once |
//! | [`mod@reproduce`] | simulates the points: in parallel, can be interrupted and resumed |
//! | [`mod@error`] | why the figures cannot be reproduced |
//! | [`simulations`] | the results, in the form that the claims need |
//! | [`latency`] | end-to-end latency (§6.3) from simulated delays |
//! | [`charts`], [`columns`] | the results as charts, and as columns for other programs |
//!
//! Curves that are compared are simulated at the same rates, and points of one rate have the same arrivals.

pub mod charts;
pub mod claims;
pub mod columns;
pub mod curves;
pub mod error;
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

pub use crate::source::KeepError;
pub use error::ReproduceError;
pub use figure_name::FigureName;
pub use options::ReproductionOptions;
pub use plan::SimulationPlan;
pub use reproduce::reproduce;
pub use setting::CurveSetting;
pub use simulations::Simulations;
pub use source::source;
