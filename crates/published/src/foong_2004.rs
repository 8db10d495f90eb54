//! Foong, Fung & Newell 2004: "Improved Linux SMP Scaling: User-directed Processor Affinity". Figures 2, 3
//! and 5, and what the text says of them.
//!
//! The source measures bulk transfers on a machine with eight network cards. Whoever transfers anew hands in
//! [`Point`]s; nothing here measures.
//!
//! ```text
//! points ──► claims: ours, verdict, reason ──► present: the report
//!                                         └──► summary: for other programs
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`points`] | what was measured: sizes, directions, models, block by block |
//! | [`claims`] | what the text says, how ours is derived, the verdict |
//! | [`present`] | the report |
//! | [`summary`] | points and claims for other programs |
//!
//! The figures survive as captions only, so what is compared are the statements of the text. A verdict is
//! computed from intervals ([`claims`]), and a difference that the base shows against itself is none.

pub mod claims;
pub mod points;
pub mod present;
pub mod summary;

pub use claims::{Claim, Concluded, Verdict, conclude};
pub use points::{Affinity, Direction, Point, Runs};
pub use summary::Summary;

/// The source, as a report cites it.
pub const SOURCE: &str = "Annie Foong, Jason Fung and Don Newell, \"Improved Linux SMP Scaling: \
                          User-directed Processor Affinity\", Intel, 2004";
