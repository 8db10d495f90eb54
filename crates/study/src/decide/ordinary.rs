//! What the advice gains at a load that is neither low nor high.

use super::{Region, gain, position};
use crate::predict::HostPredictions;
use warmcore_scenario::Combination;
use warmcore_units::{Estimate, PerSecond};

/// A load at which no machine idles and none is pressed, as a fraction of what the common default carries.
pub const ORDINARY: f64 = 0.5;

/// What the advice gains at the load that gains are stated for first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ordinary {
    /// The simulated rate nearest to [`ORDINARY`] of what the common default carries: that which a user named,
    /// if he named one.
    pub rate: PerSecond,
    /// The same as a fraction of what the common default carries.
    pub load: f64,
    /// What to use there.
    pub best: Combination,
    /// By how much that shortens the delay, as a fraction; `None` where the default does not keep up easily.
    pub over_default: Option<Estimate<f64>>,
}

impl Ordinary {
    /// What `regions` gain at an ordinary load. `None` if there is none.
    pub(super) fn new(host: &HostPredictions, regions: &[Region]) -> Option<Self> {
        let default = position(host, Combination::COMMON_DEFAULT)?;
        let load = |rate: usize| host.rates[rate].0 / host.curves[default].capacity.rate.mean.0;
        let distance = |rate: &usize| (load(*rate) / ORDINARY).ln().abs();
        let rate = (0..host.rates.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let begun = |region: &&Region| region.from.0 <= host.rates[rate].0;
        let best = regions.iter().rev().find(begun).or(regions.first())?.best;
        let gain = gain(host, position(host, best)?, default, rate).map(|at| at.gain);
        Some(Self { rate: host.rates[rate], load: load(rate), best, over_default: gain })
    }
}
