//! What benchmarks have in common. Only they import this room.
//!
//! | module | holds |
//! |---|---|
//! | [`provenance`] | the machine, and the versions of what ran on it: [`Provenance`] |
//! | [`program`] | a peer in a process of its own: [`Program`] |
//! | [`results`] | where figures are written |

pub mod program;
pub mod provenance;
pub mod results;

pub use program::{Program, ProgramError};
pub use provenance::Provenance;
