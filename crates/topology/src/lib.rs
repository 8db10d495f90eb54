//! The machine as an immutable value: which logical cpus there are, what they share, what their
//! caches look like, and how much of it this process may use.
//!
//! ```text
//! machine ─ node ─ package ─ last-level cache ─ core ─ cpu
//! ```
//!
//! Nothing here asks the operating system: a [`Machine`] is read by `linux`, or made by
//! [`synthetic`] for machines we lack.

mod cache;
mod cpu_set;
mod level;
mod machine;
mod near;
pub mod synthetic;
mod validate;

pub use cache::{Cache, CacheKind, Geometry};
pub use cpu_set::{CpuSet, ParseCpuSetError};
pub use level::UnifiedLevel;
pub use machine::{Cpu, Limits, Machine};
pub use near::Within;
