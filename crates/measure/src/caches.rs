//! The caches of the measuring processor, and cold states of them: produced by walks through memory, and
//! verified.

mod chase;
pub(crate) mod cold;
pub(crate) mod eviction;
pub(crate) mod flush;
pub(crate) mod hierarchy;
