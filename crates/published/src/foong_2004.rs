//! Foong, Fung & Newell 2004: "Improved Linux SMP Scaling: User-directed Processor Affinity". Figures 2, 3
//! and 5, and what the text says of them.
//!
//! The source measures bulk transfers on a machine with eight network cards. Whoever transfers anew hands in
//! [`Point`]s; nothing here measures.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`] | the source as data, and its evidence in a report |
//! | [`points`] | what was measured: sizes, directions, models, block by block |
//! | [`claims`] | what the text says, how ours is derived |
//! | [`charts`] | the charts and tables of its figures |
//!
//! The figures survive as captions only, so what is compared are the statements of the text.

pub mod charts;
pub mod claims;
pub mod points;
pub mod source;

pub use points::{Affinity, Direction, Point, Runs};
pub use source::{Measurements, source};
