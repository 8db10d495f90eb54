//! A parallel dispatch queue: events carry a key; those with the same key are handled one after the
//! other, in order, and all others in parallel. Handlers need no locks for what their key stands for.
//!
//! ```
//! use warmcore_dispatch::{Dispatcher, Turn};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! let balances: Vec<AtomicU64> = (0..10).map(|_| AtomicU64::new(0)).collect();
//! let deposit = |turn: &Turn<'_, usize, u64>, amount: u64| {
//!     let balance = &balances[*turn.key().unwrap()];
//!     // Nobody else touches this account now.
//!     balance.store(balance.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
//! };
//! Dispatcher::<usize, u64>::builder().workers(2).scope(deposit, |bank| {
//!     for amount in 0..1_000 {
//!         bank.dispatch(amount as usize % 10, amount).unwrap();
//!     }
//! })?;
//! assert_eq!(balances[3].load(Ordering::Relaxed), (0..100).map(|n| 10 * n + 3).sum());
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
//! How events come to queues and queues to workers is a [`Rule`]. Memory is bounded, and there is a rule
//! for [`Overload`]; a handler that [panics](OnPanic) harms nobody else; [`Metrics`] are cheap enough to be
//! always on. An idle key costs nothing: where there is a table of keys at all, it holds those of which something
//! waits.
//!
//! Events may be dispatched in [batches](Batch), and by [futures](Dispatching); they may be handled in
//! [runs](Runs), be [shown](LookAhead) to the handler before their turn, have [results](Request), or be
//! [closures](Job).
//!
//! # How it works
//!
//! | module | what it is |
//! |---|---|
//! | [`ring`] | a bounded ring, into which many put and from which those who hold a lock take in any order |
//! | [`queue`] | a ring, and which of its events may run now; the associative search is in `queue::search` |
//! | [`put`] | how events come in, and what becomes of them where there is no room |
//! | [`keyed`] | keys that have something waiting, for limits and the freshest events |
//! | [`joint`] | events that stand in several queues, and run when they are at the front of all |
//! | [`ready`] | which queues may have something: a bit for each |
//! | [`seats`] | where workers sleep, and how they are woken |
//! | [`worker`] | a worker's life |
//! | [`room`] | where those wait for whom there is no room, or who wait for the end |
//!
//! # What must hold
//!
//! * Events with a key in common are handled in the order in which they were dispatched, and never two
//!   at once.
//! * Every event that was taken in is handled exactly once, or counted as dropped.
//! * As long as something can run, somebody runs it, or is on the way.
//! * `unsafe` is confined to [`ring`] and [`queue`].

#![allow(rustdoc::private_intra_doc_links)]

mod aside;
mod batch;
mod builder;
mod completion;
mod counters;
mod dispatcher;
mod entry;
mod error;
mod future;
mod handle;
mod handler;
mod job;
mod joint;
mod keyed;
mod label;
#[cfg(all(test, loom))]
mod model;
mod options;
mod poisoned;
mod put;
mod queue;
#[cfg(all(test, not(loom)))]
mod random;
mod ready;
mod report;
mod ring;
mod room;
mod seats;
mod shared;
mod sync;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
mod worker;

pub use batch::Batch;
pub use builder::Builder;
pub use completion::{Completing, Completion, NotHandled, Request};
pub use counters::{Metrics, Times};
pub use dispatcher::Dispatcher;
pub use error::{BuildError, DispatchError};
pub use future::Dispatching;
pub use handle::{Drained, Handle};
pub use handler::{Handler, LookAhead, Runs, Turn};
pub use job::Job;
pub use options::{Idle, OnPanic, Overload, Rule};
pub use report::PanicReport;
pub use ring::prefetch;

/// Takes a lock. What it guards is whole at all times: whoever panics does so elsewhere.
#[inline]
fn lock<T>(mutex: &sync::Mutex<T>) -> sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The same, if nobody else has it.
#[inline]
fn try_lock<T>(mutex: &sync::Mutex<T>) -> Option<sync::MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(std::sync::TryLockError::WouldBlock) => None,
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
