//! A parallel dispatch queue: events carry a key; those with the same key are handled one after the
//! other, in order, and all others in parallel. Handlers need no locks for what their key stands for.
//!
//! ```
//! use warmcore_dispatch::Dispatcher;
//!
//! let bank = Dispatcher::<u32, i64>::builder()
//!     .state(|_| 0)
//!     .build(|balance: &mut i64, amount: i64| *balance += amount)?;
//! for amount in 0..1_000 {
//!     bank.dispatch(amount as u32 % 10, amount).unwrap();
//! }
//! assert_eq!(bank.into_states()[&3], (0..100).map(|n| 10 * n + 3).sum());
//! # Ok::<(), warmcore_dispatch::BuildError>(())
//! ```
//!
//! It is the parallel dispatch queue of Falsafi (Fine-Grain Protocol Execution Mechanisms & Scheduling
//! Policies on SMP Clusters, 1998, ch. 2; with Wood, HPCA 1999), in software:
//!
//! | an event | runs |
//! |---|---|
//! | with a [key](Handle::dispatch) | when all before it with the same key have |
//! | of which only the [freshest](Handle::dispatch_freshest) counts | likewise, in the place of one that waits |
//! | with [several](Handle::dispatch_keys) | when all before it with any of them have |
//! | that is [unordered](Handle::dispatch_unordered) | any time |
//! | that is [sequential](Handle::dispatch_sequential) | alone: after all before it, before all after it |
//!
//! Memory is bounded, and there is a rule for [`Overload`]; a handler that [panics](OnPanic) harms nobody else; [`Stats`]
//! are always on. Events may be dispatched in [batches](Batch), and by [futures](Dispatching); they may be handled
//! with the [state](Builder::state) of their key, which is kept or [dropped](StateBuilder::on_drop), have [results](Request), or be [closures](Job). A key without a state costs nothing while it is idle.
//!
//! Keys hash to strands, which are ordered queues; workers take strands that have something to do, and claim one event at a
//! time. `docs/design.md` says which module holds what, why order holds, and why nothing waits or is forgotten.

#![allow(rustdoc::private_intra_doc_links)]

mod admit;
mod arrival;
mod batch;
mod bound;
mod builder;
mod caught;
mod completion;
mod counters;
mod discard;
mod dispatcher;
mod entry;
mod error;
mod future;
mod gate;
mod handle;
mod handler;
mod job;
mod joint;
mod keyed;
#[cfg(all(test, loom))]
mod model;
mod options;
mod poisoned;
#[cfg(all(test, not(loom)))]
mod random;
mod ready;
mod report;
mod shared;
mod sleepers;
mod slot;
mod slow;
mod state;
mod strand;
mod sync;
mod tasks;
mod trace;
mod waiters;
mod waits;
mod worker;

pub use batch::Batch;
pub use builder::Builder;
pub use completion::{Completing, Completion, NotHandled, Request};
pub use counters::{Stats, Times};
pub use dispatcher::Dispatcher;
pub use error::{BuildError, DispatchError, InUse, WaitError, WaitsForItself};
pub use future::Dispatching;
pub use handle::{Drained, Handle};
pub use handler::{Handler, Turn};
pub use job::Job;
pub use options::{Binding, Idle, OnPanic, Overload};
pub use report::PanicReport;
pub use state::{Several, StateBuilder, StateHandler, StatefulDispatcher, Then};
pub use tasks::{AsyncTurn, Task};

/// Takes a lock. What it guards is whole at all times: whoever panics does so elsewhere.
#[inline]
fn lock<T>(mutex: &sync::Mutex<T>) -> sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
