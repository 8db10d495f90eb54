//! What a packet costs, depending on what it finds in cache.
//!
//! A [`Profile`] holds what was measured (or published) on one machine: receive times by
//! [`Situation`], the cache [`Level`]s, and the footprint constants of the work that runs in
//! between. An [`ExecutionModel`] made from it turns a placement into a service time:
//!
//! ```text
//! placement history ──► Residency ──► Situation ─┐
//! idle time x, per cache level ──► Displacement F(x) ──► ExecutionModel ──► service time
//! ```
//!
//! The model is that of Salehi, Kurose & Towsley 1994, §4, for any number of cache levels and
//! any associativity. [`Residency`] is the bookkeeping that both the simulator and a live run
//! keep, so that either can be explained in the other's words.

pub mod displacement;
pub mod execution;
pub mod fit;
pub mod profile;
pub mod residency;
pub mod situation;

pub use displacement::{Displacement, Intervening};
pub use execution::ExecutionModel;
pub use profile::{FrameLines, Level, Measured, Packets, Profile};
pub use residency::Residency;
pub use situation::{Approach, Experiment, Situation, ThreadStack};
