//! The cost of a packet, depending on what it finds in cache.
//!
//! A [`Profile`] contains what was measured (or published) on one machine: receive times by
//! [`Situation`], the cache [`CacheLevel`]s, and the footprint constants of the work that runs between
//! packets. An [`ExecutionModel`] built from it computes a service time from a placement:
//!
//! ```text
//! placement history ──► Residency ──► Situation ─┐
//! idle time x, per cache level ──► Displacement F(x) ──► ExecutionModel ──► service time
//! ```
//!
//! The model is that of Salehi, Kurose & Towsley 1994, §4, for any number of cache levels and
//! any associativity. The simulator and a live run both keep the bookkeeping of [`Residency`], so that
//! their packets can be compared by situation.

pub mod displacement;
pub mod execution;
pub mod fit;
pub mod model;
pub mod profile;
pub mod program;
pub mod residency;
pub mod server;
pub mod situation;
pub mod socket;

pub use displacement::{Displacement, Intervening};
pub use execution::ExecutionModel;
pub use model::{ConstantCost, CostModel, Found};
pub use profile::{CacheLevel, FrameLines, Measured, Packets, Profile};
pub use program::ProgramProfile;
pub use residency::Residency;
pub use server::ServerCosts;
pub use situation::{Approach, Experiment, Situation, ThreadStack};
pub use socket::SocketProfile;
