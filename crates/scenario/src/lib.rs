//! One description of an experiment, read by the simulator and by what runs it alike.
//!
//! A [`Combination`] names what is scheduled how; a [`Study`] is the document a user writes or
//! gets back from a study (`study.toml`); [`document`] reads it, or a machine's profile, and
//! says file, line and field when something in it cannot be used.

pub mod combination;
pub mod document;
pub mod study;

pub use combination::{Combination, Organisation, ProcessorPolicy};
pub use document::DocumentError;
pub use study::{Calibration, Prediction, ProfileSource, Study};
