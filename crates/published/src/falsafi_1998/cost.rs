//! The cost model of Wood and Hill (1995), as §4.3 uses it.

/// The cost of a processor, as a part of that of a uniprocessor node (§4.3).
pub const PROCESSOR: f64 = 0.3;

/// The cost of a node with so many processors, those of the protocol included, over that of a uniprocessor node.
#[must_use]
pub fn costup(processors: u32) -> f64 {
    1.0 + PROCESSOR * f64::from(processors.saturating_sub(1))
}

/// Cost over performance, both against a uniprocessor node. Below 1 a node is cost-effective.
#[must_use]
pub fn cost_performance(processors: u32, speedup: f64) -> f64 {
    costup(processors) / speedup
}
