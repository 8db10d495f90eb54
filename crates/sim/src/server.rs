//! A server on the kernel's sockets: processors that receive requests, and workers that process them.
//!
//! Each processor has a *source*, which takes the place of a network card's interrupt, and a pinned *worker*. A source has
//! real-time priority: it preempts the worker, sends what is due, and goes away. Its call runs the softirq, so that the request is
//! queued at its end. Which queue and which worker that is, the [policy](warmcore_scenario::ServerPolicy) says.
//!
//! ```text
//! due ── late ──► source's call ──► queue ──► worker's cycle ──► reply at the source's socket
//! ```
//!
//! Every time is one of [`ServerCosts`](warmcore_costs::ServerCosts), measured with single requests and short bursts; nothing is
//! fitted to a server under load. What the simulation adds are the coincidences: requests that queue, batches, workers that
//! sleep or are paused, state that moves.
//!
//! | module | holds |
//! |---|---|
//! | `host` | what is simulated, checked and with its costs |
//! | `rates`, `curve` | costs as numbers, and as functions of idle time |
//! | `flows`, `arrivals` | whose requests, and when they are due |
//! | `machine` | the events of sources and workers |
//! | `source`, `worker`, `queues` | their states |
//! | `run`, `tally`, `outcome` | the steady state at one rate |
//! | `capacity` | the highest rate |
//!
//! # Rules of the model
//! - A source that wakes up on an idle processor begins its call later, the longer that was idle. On one that runs its worker it
//!   waits for the interrupt; and first, if the worker is in a cycle, for what is left of one request's kernel section: a
//!   uniform part of its time. What is due while it sends is sent right after.
//! - A call that wakes a worker takes longer than others. If the worker falls asleep during the call, the call becomes one.
//! - An episode of a source takes from its processor's worker: the interrupt, the calls, and the exit.
//! - A worker with a socket of its own takes up to 64 requests at once; others take one. A worker that finds no request
//!   falls asleep. One that was woken and finds none, because another was faster, does so at once.
//! - A worker that is woken from another processor is ready a wake-up time after the call; its processor is idle meanwhile.
//!   One that its own source wakes begins when that has gone away. If nothing else happens, its reply takes as long as measured.
//! - A flow's state, and a shared socket, are where they were last used. Taking them from elsewhere costs the difference of two
//!   measurements.
//!
//! # What is not in it
//! Requests are never dropped. Handlers take the same time for every request. A network card's interrupts may come together
//! where sources do not.

mod arrivals;
mod capacity;
mod curve;
mod flows;
mod host;
mod machine;
mod outcome;
mod queues;
mod rates;
mod run;
mod source;
#[cfg(test)]
mod synthetic;
mod tally;
#[cfg(test)]
mod tests;
mod worker;

pub use host::{ServerError, ServerHost, ServerSetup};
pub use outcome::{ServerOutcome, ServerPoint};
pub use rates::MissingCosts;
pub use run::ServerPrecision;
