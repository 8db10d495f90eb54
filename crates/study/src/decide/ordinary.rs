//! The gain of the advice at an ordinary load, which is neither low nor high.

use super::{Region, gain, position};
use crate::predictions::{HostPredictions, ORDINARY_LOAD};
use warmcore_scenario::Combination;
use warmcore_units::{Estimate, PerSecond};

/// The gain at the load for which gains are stated first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ordinary {
    /// The simulated rate nearest to [`ORDINARY_LOAD`] of the common default's capacity; if the user gave a rate,
    /// that one.
    pub rate: PerSecond,
    /// The same as a fraction of the common default's capacity.
    pub load: f64,
    /// The combination to use there.
    pub best: Combination,
    /// The fraction of the delay that it saves; `None` if the default is too close to its capacity.
    pub over_default: Option<Estimate<f64>>,
}

impl Ordinary {
    /// The gain of `regions` at an ordinary load. `None` if there is none.
    pub(super) fn new(host: &HostPredictions, regions: &[Region]) -> Option<Self> {
        let default = position(host, Combination::COMMON_DEFAULT)?;
        let load = |rate: usize| host.rates[rate].0 / host.curves[default].capacity.rate.mean.0;
        let distance = |rate: &usize| (load(*rate) / ORDINARY_LOAD).ln().abs();
        let rate = (0..host.rates.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let begun = |region: &&Region| region.from.0 <= host.rates[rate].0;
        let best = regions.iter().rev().find(begun).or(regions.first())?.best;
        let gain = gain(host, position(host, best)?, default, rate).map(|at| at.gain);
        Some(Self { rate: host.rates[rate], load: load(rate), best, over_default: gain })
    }
}
