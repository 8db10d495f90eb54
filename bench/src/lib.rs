//! Code that the benchmarks share. Nothing else imports this package.
//!
//! | module | holds |
//! |---|---|
//! | [`provenance`] | the machine, and the versions of the software measured: [`Provenance`] |
//! | [`program`] | a peer that runs in its own process: [`Program`] |
//! | [`results`] | where results are written |

pub mod program;
pub mod provenance;
pub mod results;

pub use program::{Program, ProgramError};
pub use provenance::Provenance;
