//! What the scheduler does, from its tracepoints: who runs where, who blocks, who wakes whom up, who migrates.
//!
//! | module | purpose |
//! |---|---|
//! | [`event`] | a line of the trace |
//! | `instance` | a tracing instance of our own, and its removal |
//! | `joiner` | joins the lines of an event |
//! | `names` | whose instance it is |
//! | [`recorder`] | reads the lines as they come |
//!
//! Tracefs lets everyone have an *instance* with its own buffers and switches, so nobody else's tracing is disturbed. Ours
//! is called `warmcore-PID-START`. It is removed at the end; one whose process was killed is removed by the next recording.
//! Where tracefs is not mounted, it is mounted for this process alone, where no other sees it.

pub mod event;
mod instance;
mod joiner;
mod names;
pub mod recorder;

pub use event::{SchedEvent, SchedRecord, StopState};
pub use instance::TraceError;
pub use recorder::{Recorded, SchedTrace};
