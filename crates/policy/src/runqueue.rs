//! The run queue of a time-sharing kernel with cache affinity: Torrellas, Tucker & Gupta, "Evaluating the Performance
//! of Cache-Affinity Scheduling in Shared-Memory Multiprocessors", 1995, sections 4 and 5.
//!
//! All runnable tasks are in one queue. A processor that has nothing to run picks the task with the lowest
//!
//! ```text
//! base + cpu / 2 - boost
//! ```
//!
//! `cpu` counts the timer interrupts that hit the task while it ran, and decays to a fraction of itself once in a while.
//! The boost is valid for that search only: `a_p` if the task last ran on this processor, and `a_t` besides if it
//! is the very task that ran there last ([`AffinityForm::Simple`]) or ran there less than `a_t` ticks ago
//! ([`AffinityForm::Complex`]). A task that yielded since it failed to get a lock is left out of the next search of its
//! processor, or affinity would pick it again at once.
//!
//! | module | holds |
//! |---|---|
//! | [`parameters`] | `a_p`, `a_t`, decay, quantum and the other constants |
//! | [`task`] | the state of a task as plain integers, and what a tick, a decay and a search make of it |
//! | [`mod@choose`] | the decision as the text states it: a search through all candidates |
//! | [`queue`] | the same decision from an index, for large queues |
//! | [`words`] | the constants as one line of text |
//! | [`log`] | a log of events and decisions, and its replay |
//!
//! A driver says what happens and applies what is decided: a simulator, or a scheduler in a kernel. The log holds both to
//! the same decisions: replayed through [`queue::RunQueue`], every pick must come out as it was logged.

pub mod choose;
pub mod log;
pub mod parameters;
pub mod queue;
pub mod task;
pub mod words;

pub use choose::{Candidate, Search, choose};
pub use log::{Divergence, Event, Record, replay};
pub use parameters::{Affinity, AffinityForm, Decay, InvalidParameter, Parameters};
pub use queue::{RunQueue, StopCause};
pub use task::{Task, Ticks};
pub use words::ParseParametersError;
