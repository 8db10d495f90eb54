//! The live runtime: protocol work on real threads, under the policies that the simulator has.
//!
//! A packet's way: a [`driver`] has received a frame; a worker that looks takes it in and asks the
//! dispatcher, the very one that the simulator drives, who is to process it; that worker takes it
//! up the protocol stack on its processor and calls the user's [`Handler`] at the top. The clock
//! says what it took, and the bookkeeping of who last wrote what says in which situation, in the
//! words of the simulator.
//!
//! | module | holds |
//! |---|---|
//! | [`driver`] | where frames come from |
//! | [`options`], [`from_scenario`] | how a run is to be, and how a scenario says so |
//! | [`mod@run`] | a run from its beginning to its end |
//! | [`handler`], [`state`], [`work`] | what a user does with packets, and beside them |
//! | [`watch`] | a run while it lasts: follow it, pause it, open streams |
//! | [`stopwatch`] | the time in the stack, read as a calibration reads it |
//! | [`report`], [`tally`] | what came of it |
//! | [`metrics`] | a run for monitoring systems |

pub mod clock;
mod control;
pub mod driver;
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
mod scheduler;
mod shared;
mod stalls;
pub mod state;
pub mod stopwatch;
mod streams;
mod sync;
pub mod tally;
pub mod watch;
pub mod work;
mod worker;

pub use driver::{Driver, Memory};
pub use from_scenario::{Setup, SetupError};
pub use handler::{AfterPanic, Context, Handler};
pub use options::{Idle, Options, Overload, Shutdown};
pub use report::{Report, Steady, WARM_UP};
pub use run::{RunError, decides_alone, run};
pub use state::HandlerState;
pub use stopwatch::Stopwatch;
pub use watch::Watch;
pub use work::Work;
