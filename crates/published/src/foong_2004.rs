//! Foong, Fung & Newell 2004: "Improved Linux SMP Scaling: User-directed Processor Affinity". Figures 2, 3
//! and 5, and what the text says of them.
//!
//! Foong 2004 measures bulk transfers on a machine with eight network cards. Nothing in this module measures:
//! a program that repeats the transfers passes its [`Point`]s in.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`] | the paper as data, and the evidence for its claims in a report |
//! | [`points`] | what was measured: sizes, directions, models, block by block |
//! | [`claims`] | the statements of the text, and how our values are derived |
//! | [`charts`] | the charts and tables of its figures |
//!
//! Of the figures only the captions survive, so the statements of the text are compared.

pub mod charts;
pub mod claims;
pub mod points;
pub mod source;

pub use points::{Affinity, Direction, Measurements, Point, Runs};
pub use source::source;
