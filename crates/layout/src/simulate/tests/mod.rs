//! Traces whose answer is known by hand.

mod caches;
mod pipeline;
mod steady;
