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
//! | [`cores`] | the cores for workers |
//!
//! [`server`] is another runtime under the same policies, for ordinary servers: it receives from the kernel's UDP
//! sockets, and wants neither a scenario nor a profile nor a privilege. It is all there is without the feature
//! `scenario`, which is on by default.

#[cfg(feature = "scenario")]
mod calls;
#[cfg(feature = "scenario")]
pub mod clock;
#[cfg(feature = "scenario")]
mod control;
pub mod cores;
#[cfg(feature = "scenario")]
pub mod driver;
#[cfg(feature = "scenario")]
mod failure;
mod frames;
#[cfg(feature = "scenario")]
pub mod from_scenario;
#[cfg(feature = "scenario")]
pub mod handler;
#[cfg(feature = "scenario")]
mod mailbox;
pub mod metrics;
#[cfg(feature = "scenario")]
pub mod options;
#[cfg(feature = "scenario")]
mod packet;
#[cfg(feature = "scenario")]
mod protocol;
#[cfg(feature = "scenario")]
mod receive_queue;
#[cfg(feature = "scenario")]
pub mod report;
#[cfg(feature = "scenario")]
pub mod run;
#[cfg(feature = "scenario")]
mod run_error;
#[cfg(feature = "scenario")]
pub mod run_handle;
#[cfg(feature = "scenario")]
mod scheduler;
pub mod server;
#[cfg(feature = "scenario")]
mod shared;
#[cfg(feature = "scenario")]
mod stalls;
#[cfg(feature = "scenario")]
pub mod state;
#[cfg(feature = "scenario")]
pub mod stopwatch;
#[cfg(feature = "scenario")]
mod streams;
#[cfg(feature = "scenario")]
mod sync;
#[cfg(feature = "scenario")]
pub mod tally;
#[cfg(feature = "scenario")]
pub mod work;
#[cfg(feature = "scenario")]
mod worker;

#[cfg(feature = "scenario")]
pub use calls::{Call, Stuck};
#[cfg(feature = "scenario")]
pub use driver::{Driver, Memory};
#[cfg(feature = "scenario")]
pub use from_scenario::{Setup, SetupError};
#[cfg(feature = "scenario")]
pub use handler::{AfterPanic, Context, Handler};
#[cfg(feature = "scenario")]
pub use options::{Idle, OnStuck, Options, Overload, Shutdown};
#[cfg(feature = "scenario")]
pub use report::{Report, Steady, WARM_UP};
#[cfg(feature = "scenario")]
pub use run::{decides_alone, run};
#[cfg(feature = "scenario")]
pub use run_error::RunError;
#[cfg(feature = "scenario")]
pub use run_handle::RunHandle;
#[cfg(feature = "scenario")]
pub use state::HandlerState;
#[cfg(feature = "scenario")]
pub use stopwatch::Stopwatch;
#[cfg(feature = "scenario")]
pub use work::Work;

#[cfg(doctest)]
#[doc = include_str!("../docs/server.md")]
struct BuildAServer;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
