//! Torrellas, Tucker & Gupta 1995: "Evaluating the Performance of Cache-Affinity Scheduling in Shared-Memory
//! Multiprocessors". Tables II to V, figures 1 to 5, and what the text says of them.
//!
//! | module | holds |
//! |---|---|
//! | [`tables`] | the tables as printed |
//! | [`open`] | the parameters that the text leaves open |
//! | [`models`] | the applications as processes of the simulator |
//! | [`calibrate`] | their calibration on the standard columns of Table V |

pub mod calibrate;
pub mod models;
pub mod open;
pub mod tables;

pub use calibrate::Calibration;
pub use open::{Open, OpenParameter};
pub use tables::{App, Workload};
