//! Bulk transfers under the affinity models of Foong, Fung & Newell 2004: the ttcp of the source, built
//! anew.
//!
//! Every connection has a sender and a receiver of its own, a thread or a process each, and a virtual wire
//! of its own between two network namespaces. The softirq mask of the wire's receive queues plays the part
//! that the mask of the NIC's interrupt has in the source: it says on which cpu packets are worked off, data
//! at the one end and acknowledgements at the other.
//!
//! ```text
//! options ─► experiment: blocks of runs ─► figures: spread, change, verdict
//!                 │
//!                run: site (wires, steering) ─► lead ═ order, count ═ end ─► bulk
//! ```
//!
//! | module | knows |
//! |---|---|
//! | `placement` | where packets and ends of a connection are |
//! | `options` | what is asked for, and whether it can be had |
//! | `site` | the wires and their steering, or the other host |
//! | `moving` | connections that move |
//! | `run` | one run of one model |
//! | `experiment` | all models, in blocks, one of them twice |
//! | `figures` | what runs come to, and by how much models differ |
//! | `lead`, `order`, `end` | how an end is told what to do, and says what it has done |
//! | `bulk` | to move bytes |
//! | `host` | to be the other host |
//!
//! What must always hold: bytes count when they were received; every figure is of a time in which all
//! connections moved; what the processor counted is of the same cpus and time; and nothing is left of wires, processes and threads when an experiment ends, however it
//! does. An end lives no longer than the pipe from which it is told what to do.
//!
mod bulk;
mod end;
mod end_handle;
mod error;
mod experiment;
mod figures;
mod host;
mod instruction;
mod options;
mod placement;
mod run;
mod running;
mod site;

pub use end::{Controller, serve_end};
pub use end_handle::Ends;
pub use error::TransferError;
pub use experiment::{Experiment, experiment};
pub use figures::{Compared, Results, TransferFigures, compare};
pub use host::Server;
pub use instruction::SIZES;
pub use options::{Direction, Load, Options};
pub use placement::ConnectionPlacement;
pub use run::{Outcome, WARM_UP, run};
pub use running::RunningTransfer;
pub use site::{Network, Site};
