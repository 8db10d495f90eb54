//! Bulk transfers under the affinity models of Foong, Fung & Newell 2004: a new implementation of the
//! ttcp that they used.
//!
//! Every connection has its own sender and receiver, a thread or a process each, and its own virtual
//! wire between two network namespaces. The softirq mask of the wire's receive queues plays the role
//! that the mask of the NIC's interrupt plays in the paper: it determines on which cpu packets are
//! processed, data at one end and acknowledgements at the other.
//!
//! ```text
//! options ─► experiment: blocks of runs ─► figures: spread, change, verdict
//!                 │
//!                run: site (wires, steering) ─► end_handle ═ instruction, count ═ end ─► bulk
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `placement` | where packets and ends of a connection are placed |
//! | `options` | the options, and whether they can be used |
//! | `site` | the wires and their steering, or the other host |
//! | `running` | connections that transfer bytes |
//! | `run` | one run of one model |
//! | `experiment` | all models, in blocks, one of them twice |
//! | `figures` | figures of runs, and differences between models |
//! | `end_handle`, `instruction`, `end` | how an end is told what to do, and reports what it has done |
//! | `bulk` | sending and receiving bytes |
//! | `host` | the server on the other host |
//!
//! What must always hold: bytes count when they are received. Every figure covers a time in which all
//! connections were active, and the processor's counts cover the same cpus and time. However an
//! experiment ends, no wire, process or thread is left. An end lives no longer than the pipe that
//! controls it.
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
pub use options::{BLOCKS, CONNECTIONS, Direction, Load, TransferOptions};
pub use placement::ConnectionPlacement;
pub use run::{TransferCounts, WARM_UP, run};
pub use running::RunningTransfer;
pub use site::{Network, Site};
