//! Caches, simulated: a stream of references in, misses by level out.
mod check;
pub mod counts;
mod description;
mod hierarchy;
pub mod machines;
pub mod observe;
mod reference;
mod sets;

pub use counts::{CacheCounts, CacheId, Cause, Counts};
pub use description::{
    CacheDescription, Description, Prefetch, Replacement, Straddling, WriteBuffer, Writes,
};
pub use hierarchy::{Hierarchy, Served};
pub use observe::{Nothing, Observer};
pub use reference::{Kind, Owner, Reference};
