//! Mosberger, Peterson, Bridges & O'Malley 1996: "Analysis of Techniques to Improve Protocol Processing Latency". Tables 1
//! to 9, and what the text says of them.
//!
//! Mosberger 1996 traces two protocol stacks in six builds, and simulates the caches of a DEC 3000/600. [`laboratory`]
//! repeats that with stacks of ours; round trips are measured by a program that passes them in.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@source`] | the paper as data, and the evidence for its claims in a report |
//! | [`tables`] | the tables as printed |
//! | [`laboratory`] | traces and simulations |
//! | [`points`] | what was found: traces through simulated caches, round trips |
//! | [`spread`] | a value over the orders in which a linker may place functions, and over assumptions |
//! | [`values`] | the values of a build, with the range of its orders |
//! | [`claims`] | the statements of the text, and how our values are derived |
//! | [`charts`] | the published tables with our values beside |

pub mod charts;
pub mod claims;
mod columns;
pub mod laboratory;
pub mod points;
pub mod source;
pub mod spread;
pub mod tables;
pub mod values;

#[cfg(test)]
mod example;

pub use points::{
    Assumed, Build, CacheCounts, Classified, Improvement, Measurements, Point, Protocols, Run, Saving, Stages,
};
pub use source::source;
