//! Torrellas, Tucker & Gupta 1995: "Evaluating the Performance of Cache-Affinity Scheduling in Shared-Memory
//! Multiprocessors". Tables II to V, figures 1 to 5, and what the text says of them.
//!
//! | module | holds |
//! |---|---|
//! | [`tables`] | the tables as printed |
//! | [`open`] | the parameters that the text leaves open |
//! | [`models`] | the applications as processes of the simulator |
//! | [`calibrate`] | their calibration on the standard columns of Table V |
//! | [`predictions`] | every workload under every scheduler |
//! | [`claims`] | the statements of the text, and how our values are derived |
//! | [`mod@source`] | the paper as data, and the evidence in a report |

pub mod calibrate;
mod charts;
pub mod claims;
pub mod models;
pub mod open;
pub mod predictions;
pub mod source;
pub mod tables;

pub use calibrate::Calibration;
pub use open::{Open, OpenParameter};
pub use predictions::{Precision, PredictionError, Predictions, predict};
pub use source::source;
pub use tables::{App, Workload};
