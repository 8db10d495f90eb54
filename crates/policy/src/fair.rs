//! Linux's fair scheduler since 6.6: a queue for each processor, in which the *earliest eligible virtual deadline* runs first
//! (EEVDF; Stoica & Abdel-Wahab 1995; `kernel/sched/fair.c` of Linux 6.18, whose functions are named where a rule is theirs).
//!
//! Each task has a weight, by its nice value, and a virtual runtime that grows with its running time divided by the weight.
//! Its *lag* is how far its virtual runtime is behind the weighted average of its queue. Who has a lag of at least zero is
//! *eligible*: it got no more than its share. Of those, the one runs whose request, a slice, has the earliest virtual
//! deadline. Who runs keeps the processor until its slice is over or it is no longer eligible (`RUN_TO_PARITY`).
//!
//! Tasks may be in groups (sessions or control groups). A group is in the queue of each processor where it has tasks, as if
//! it were a task, with a weight that is its share of the group's load.
//!
//! | module | holds |
//! |---|---|
//! | [`parameters`] | slice, tick and the other constants |
//! | [`weight`] | nice values as weights |
//! | `average` | averages that fade, of load and utilisation |
//! | `tree` | virtual time, lag, deadlines and eligibility, for tasks and groups |
//! | [`task`] | tasks and processors, as the scheduler and its drivers know them |
//! | [`scheduler`] | the queues of a machine: tasks that begin, wake up, stop, and end |
//! | `run` | who runs on a processor |
//! | `group` | groups of tasks: their queues, and what they weigh on each processor |
//! | `place` | where a task goes that wakes up, is new, or begins another program |
//! | `balance` | tasks that a processor takes over from another |
//!
//! A driver says what happens and when, in nanoseconds of its own clock, and applies what is decided.

mod average;
mod balance;
mod group;
pub mod parameters;
mod place;
mod run;
pub mod scheduler;
pub mod task;
mod tree;
pub mod weight;

pub use parameters::{InvalidParameter, Parameters};
pub use scheduler::Fair;
pub use task::{Spec, Waker, Woken};
