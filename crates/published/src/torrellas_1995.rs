//! Torrellas, Tucker & Gupta 1995: "Evaluating the Performance of Cache-Affinity Scheduling in Shared-Memory
//! Multiprocessors". Tables II to V, figures 1 to 5, and what the text says of them.
//!
//! | module | holds |
//! |---|---|
//! | [`tables`] | the tables as printed |
//! | [`open`] | the parameters that the text leaves open |
//! | [`models`] | the applications as processes of the simulator |
//! | [`calibrate`] | their calibration on the standard columns of Table V |
//! | `standard` | what the text says of the standard scheduler, and the tolerances of that |
//! | [`blind`] | which values the open parameters have, by the standard scheduler alone |
//! | [`gaps`] | what other values of theirs would give, claim by claim |
//! | [`parts`] | what is kept of an interrupted reproduction |
//! | [`predictions`] | every workload under every scheduler |
//! | [`claims`] | the statements of the text, and how our values are derived |
//! | [`mod@source`] | the paper as data, and the evidence in a report |

pub mod blind;
pub mod calibrate;
mod charts;
pub mod claims;
mod gap_charts;
pub mod gaps;
pub mod models;
pub mod open;
pub mod parts;
pub mod predictions;
pub mod replicas;
pub mod source;
mod standard;
pub mod tables;

pub use calibrate::Calibration;
pub use open::{Open, OpenParameter};
pub use parts::{Part, PredictionError, Progress};
pub use predictions::{Precision, Predictions, predict};
pub use source::source;
pub use tables::{App, Workload};
