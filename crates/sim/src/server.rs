//! A server on the kernel's sockets: one processor runs the softirq, the same or another one the worker.
//!
//! Each processor has a *source*, which takes it from whatever runs there to send a request that is due, as a network card's
//! interrupt does, and a *worker* of the server. Who is woken by a request, and where a flow's state was last used, follows
//! from the policy; what that takes, from [`ServerCosts`](warmcore_costs::ServerCosts).
//!
//! | module | holds |
//! |---|---|
//! | `terms` | what each step takes, from the measured costs |
//! | `curve` | a time that depends on how long nothing ran before |
//! | `source`, `worker` | the two that share a processor |
//! | `system` | the processors, and what happens next |
//! | [`mod@run`] | replications, and their figures |
//!
//! # The model
//! - A source whose request is due begins its call late: by a time that depends on how long its processor had nothing to do, or,
//!   if its worker runs, when the kernel lets go of it. Requests that are due meanwhile follow right after.
//! - The call puts the request into a queue at its end. If somebody sleeps there, it wakes them, and takes longer.
//! - A worker that is woken begins when the source has gone away, or on another processor after the wake-up. A worker that is done
//!   takes what is queued, and sleeps if nothing is.
//! - A worker that a source interrupts goes on afterwards.
//!
//! # What it leaves out
//! Two processors that use a socket in the same moment do not slow each other down.

mod curve;
pub mod run;
mod source;
mod system;
mod terms;
mod worker;

pub use run::{Figures, Outcome, Server, capacity, simulate};
pub use terms::{MissingCosts, Terms};
