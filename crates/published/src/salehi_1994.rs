//! Salehi, Kurose & Towsley 1994: "Scheduling for Cache Affinity in Parallelized Communication
//! Protocols". Figures 4 and 7 to 15, the statements about Table 2, and what the text says of them.
//!
//! ```text
//! Options ──► Plan: which points ──► results ──► Reproduction: figures, claims with verdicts
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`options`] | what is reproduced, for which machine, how exactly |
//! | [`figure`], [`curves`] | the figures by name, and the curves each one draws |
//! | [`setting`] | one curve's setting, and its scenario at a rate |
//! | [`rates`] | at which rates a curve is simulated |
//! | [`plan`] | the points of all figures, each once |
//! | [`mod@reproduce`] | simulating them: in parallel, interruptible, resumable |
//! | [`evidence`] | what came of them, as the claims ask for it |
//! | [`claims`] | what the text says, how ours is derived, the verdict |
//! | [`latency`] | end-to-end latency (§6.3) from simulated delays |
//! | [`present`] | the report |
//! | [`columns`], [`summary`] | points and claims for other programs |
//!
//! Two rules hold throughout. Curves that are compared share their rates, and points of one rate
//! share their arrivals. A verdict is computed from intervals by one stated rule
//! ([`claims::judge`]), never written down beside a claim.

pub mod claims;
pub mod columns;
pub mod curves;
pub mod evidence;
pub mod figure;
pub mod latency;
pub mod options;
pub mod plan;
pub mod present;
pub mod rates;
pub mod reproduce;
pub mod setting;
pub mod summary;

pub use claims::{Claim, Concluded, Verdict};
pub use evidence::Evidence;
pub use figure::Figure;
pub use options::{Detail, Options};
pub use plan::Plan;
pub use reproduce::{KeepError, ReproduceError, Reproduction, conclude, reproduce};
pub use setting::Setting;
pub use summary::Summary;

/// The source, as a report cites it.
pub const SOURCE: &str = "James D. Salehi, James F. Kurose and Don Towsley, \"Scheduling for Cache \
                          Affinity in Parallelized Communication Protocols\", University of \
                          Massachusetts, CMPSCI Technical Report 94-75, October 1994";
