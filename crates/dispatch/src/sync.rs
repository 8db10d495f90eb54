//! The one switch between real threads, loom's and shuttle's: what is shared between threads is written
//! against these names.
//!
//! * Loom tries every interleaving of a few steps, and every value that a read may see:
//!   `RUSTFLAGS="--cfg loom" cargo test -p warmcore-dispatch --lib --release model`.
//! * Shuttle draws interleavings of a whole dispatcher at random:
//!   `RUSTFLAGS="--cfg shuttle" cargo test -p warmcore-dispatch --lib --release schedules`. To it, all
//!   atomic operations are sequentially consistent: it finds what is wrong with an algorithm, and never an
//!   order of memory that is too weak. That is for loom, Miri and the thread sanitizer.

mod asymmetric;
mod biased;
#[cfg(any(loom, shuttle))]
mod checked_lock;
#[cfg(not(any(loom, shuttle)))]
mod lock;
#[cfg(not(any(loom, shuttle)))]
mod real;
#[cfg(any(loom, miri))]
mod still;
#[cfg(not(shuttle))]
mod threads;
#[cfg(loom)]
mod under_loom;
#[cfg(shuttle)]
mod under_shuttle;

pub(crate) use asymmetric::prepare_fences;
pub(crate) use biased::{Access, Biased, Guard as BiasedGuard};
#[cfg(any(loom, shuttle))]
pub(crate) use checked_lock::{Guard, Lock};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use lock::{Guard, Lock};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use real::*;
// Loom has no scopes; its models start their workers themselves.
#[cfg(not(shuttle))]
pub(crate) use threads::*;
#[cfg(loom)]
pub(crate) use under_loom::*;
#[cfg(shuttle)]
pub(crate) use under_shuttle::*;

/// Whether a checker runs the threads. It chooses who comes first: nothing is found by looking longer.
pub(crate) const CHECKED: bool = cfg!(any(loom, shuttle));

/// How keys are hashed.
#[cfg(not(any(loom, shuttle)))]
pub(crate) type HashBuilder = hashbrown::DefaultHashBuilder;
/// How keys are hashed: what is repeated is to find each of them in the same queue.
#[cfg(any(loom, shuttle))]
pub(crate) type HashBuilder = core::hash::BuildHasherDefault<std::hash::DefaultHasher>;
