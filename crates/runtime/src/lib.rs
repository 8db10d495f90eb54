//! The live runtime: protocol processing on real threads, under the same policies as the simulator.
//!
//! The path of a packet: a [`driver`] receives a frame. A worker that polls takes it and asks the
//! dispatcher, the same code that the simulator drives, which worker shall process it. That worker
//! passes it up the protocol stack on its processor and calls the user's [`Handler`] at the top. The
//! clock measures what it took, and the record of who last wrote which data says in which cache
//! situation, as in the simulator.
//!
//! | module | holds |
//! |---|---|
//! | [`driver`] | where frames come from |
//! | [`options`], [`from_scenario`] | the options of a run, and how they follow from a scenario |
//! | [`mod@run`] | a run from start to end |
//! | [`handler`], [`state`], [`work`] | the user's handler, its per-stream memory, and work between packets |
//! | [`run_handle`] | follow a run while it lasts, pause it, open streams |
//! | [`stopwatch`] | time in the stack, measured as a calibration measures it |
//! | [`report`], [`tally`] | the results |
//! | [`metrics`] | metrics for monitoring systems |
//!
//! [`server`] is another runtime under the same policies, for ordinary servers: it receives from the kernel's UDP
//! sockets, and wants neither a scenario nor a profile nor a privilege.

mod calls;
pub mod clock;
mod control;
pub mod driver;
mod failure;
mod frames;
pub mod from_scenario;
pub mod handler;
mod mailbox;
pub mod metrics;
pub mod options;
mod packet;
mod protocol;
mod receive_queue;
pub mod report;
pub mod run;
mod run_error;
pub mod run_handle;
mod scheduler;
pub mod server;
mod shared;
mod stalls;
pub mod state;
pub mod stopwatch;
mod streams;
mod sync;
pub mod tally;
pub mod work;
mod worker;

pub use calls::{Call, Stuck};
pub use driver::{Driver, Memory};
pub use from_scenario::{Setup, SetupError};
pub use handler::{AfterPanic, Context, Handler};
pub use options::{Idle, OnStuck, Options, Overload, Shutdown};
pub use report::{Report, Steady, WARM_UP};
pub use run::{decides_alone, run};
pub use run_error::RunError;
pub use run_handle::RunHandle;
pub use state::HandlerState;
pub use stopwatch::Stopwatch;
pub use work::Work;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/extending/server.md")]
struct BuildAServer;
