//! What the scheduler does, from its tracepoints: who runs where, who blocks, who wakes whom up, who migrates.
//!
//! | module | purpose |
//! |---|---|
//! | [`mod@attributes`] | a thread's group and cpus |
//! | [`event`] | a line of the trace |
//! | [`kernel`] | the constants of this machine's scheduler |
//! | `instance` | a tracing instance of our own, and its removal |
//! | [`recorder`] | reads the lines as they come |
//!
//! Tracefs lets everyone have an *instance* with its own buffers and switches, so nobody else's tracing is disturbed. Ours
//! is called `warmcore-PID`. It is removed at the end; one whose process was killed is removed by the next recording.
//! Where tracefs is not mounted, it is mounted for this process alone, where no other sees it.

pub mod attributes;
pub mod event;
mod instance;
mod joiner;
pub mod kernel;
mod names;
pub mod recorder;

pub use attributes::{Attributes, all_threads, attributes, sessions_are_groups};
pub use event::{SchedEvent, SchedRecord, StopState, Waker};
pub use instance::TraceError;
pub use kernel::KernelScheduler;
pub use recorder::{Recorded, SchedTrace};
