//! The machine as an immutable value: its logical cpus, what they share, their caches, and how much of it
//! this process may use.
//!
//! ```text
//! machine ─ node ─ package ─ last-level cache ─ core ─ cpu
//! ```
//!
//! This crate does not query the operating system: `linux` reads a [`Machine`], and [`synthetic`] builds
//! machines that we do not have.

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
