//! The curves each figure draws.

use crate::salehi_1994::{CurveSetting, FigureName};
use warmcore_scenario::Organisation::{self, Global, PerProcessor};
use warmcore_scenario::Parallelism::{self, Hybrid, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Lru, Mru, WiredStreams};

/// A curve of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// The setting that it shows.
    pub setting: CurveSetting,
    /// The option of the figure's selector that shows it; 0 without a selector.
    pub option: usize,
    /// Colour, which stands for the first thing compared.
    pub colour: usize,
    /// Dash pattern, which stands for the second thing compared.
    pub pattern: usize,
}

/// Numbers of processors in figure 15. The model of Salehi 1994 leaves out lock contention, which the paper
/// expects to matter beyond 16 (§4.4).
pub const SCALING: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];

/// Numbers of processors of the other hosts (§6).
pub const HOSTS: [u32; 5] = [2, 4, 8, 16, 32];

/// Mean batch sizes of figure 13.
pub const BATCHES: [u32; 3] = [2, 4, 8];

/// The processor policies under which figures 7(b) to 10(b) are drawn. Salehi 1994 does not say which one it
/// used.
pub const POOL_POLICIES: [ProcessorPolicy; 2] = [Mru, Lru];

impl FigureName {
    /// The curves, in the order of the legend. Figures 11(a, b) are computed from theirs; Table 2 and figure
    /// 4 need no simulation.
    #[must_use]
    pub fn curves(self) -> Vec<Curve> {
        match self {
            Self::Table2 | Self::F4 => Vec::new(),
            Self::F7a | Self::F8a => policies(Locking),
            Self::F9a | Self::F10a => policies(Ips),
            Self::F7b | Self::F8b => pools(Locking),
            Self::F9b | Self::F10b => pools(Ips),
            Self::F11a => affinity(Locking),
            Self::F11b => affinity(Ips),
            Self::F12 => alternatives(),
            Self::F13a => batched(false),
            Self::F13b => batched(true),
            Self::F14 => hybrid(),
            Self::F15 => scaling(),
            Self::Hosts => hosts(),
        }
    }
}

fn curve(name: impl Into<String>, setting: CurveSetting, colour: usize, pattern: usize) -> Curve {
    Curve { name: name.into(), setting, option: 0, colour, pattern }
}

fn policies(approach: Parallelism) -> Vec<Curve> {
    let policies = ProcessorPolicy::SALEHI_1994.into_iter().enumerate();
    policies.map(|(i, policy)| curve(policy.to_string(), CurveSetting::new(approach, policy), i, 0)).collect()
}

/// The organisations of threads and free memory that figures 7(b) to 10(b) compare.
pub(crate) const POOLS: [(&str, Organisation, Organisation); 4] = [
    ("threads and memory per processor", PerProcessor, PerProcessor),
    ("threads per processor, memory global", PerProcessor, Global),
    ("threads global, memory per processor", Global, PerProcessor),
    ("threads and memory global", Global, Global),
];

fn pools(approach: Parallelism) -> Vec<Curve> {
    let policies = POOL_POLICIES.into_iter().enumerate();
    let of_policy = |(option, policy)| {
        POOLS.into_iter().enumerate().map(move |(i, (name, threads, memory))| Curve {
            option,
            ..curve(name, CurveSetting::new(approach, policy).pools(threads, memory), i, 0)
        })
    };
    policies.flat_map(of_policy).collect()
}

fn affinity(approach: Parallelism) -> Vec<Curve> {
    vec![
        curve("MRU", CurveSetting::new(approach, Mru), 0, 0),
        curve("Wired-Streams", CurveSetting::new(approach, WiredStreams), 2, 0),
        curve("LRU, global pools", CurveSetting::new(approach, Lru).pools(Global, Global), 1, 0),
    ]
}

fn alternatives() -> Vec<Curve> {
    let pairs = [(Locking, Mru), (Locking, WiredStreams), (Ips, Mru), (Ips, WiredStreams)];
    let named = |(approach, policy): (Parallelism, ProcessorPolicy)| {
        let (colour, pattern) = (policy as usize, usize::from(approach == Ips));
        curve(format!("{approach}, {policy}"), CurveSetting::new(approach, policy), colour, pattern)
    };
    pairs.into_iter().map(named).collect()
}

fn batched(geometric: bool) -> Vec<Curve> {
    let of_approach = |(pattern, approach): (usize, Parallelism)| {
        BATCHES.into_iter().enumerate().map(move |(colour, mean)| {
            let setting = CurveSetting::new(approach, Mru).batches(mean, geometric);
            curve(format!("{approach}, b = {mean}"), setting, colour, pattern)
        })
    };
    [Locking, Ips].into_iter().enumerate().flat_map(of_approach).collect()
}

/// The alternatives that figure 14 compares for packets of multiple-open streams.
pub(crate) const fn ways() -> [(&'static str, CurveSetting); 4] {
    [
        ("Locking", CurveSetting::new(Locking, Mru)),
        ("IPS, single-open", CurveSetting::new(Ips, Mru)),
        ("Hybrid, first come first served", CurveSetting::new(Hybrid, Mru)),
        ("Hybrid, same stream first", CurveSetting::new(Hybrid, Mru).same_stream_first()),
    ]
}

fn hybrid() -> Vec<Curve> {
    let of_way = |(colour, (name, setting)): (usize, (&'static str, CurveSetting))| {
        [1, 4].into_iter().enumerate().map(move |(pattern, mean)| {
            curve(format!("{name}, b = {mean}"), setting.batches(mean, true), colour, pattern)
        })
    };
    ways().into_iter().enumerate().flat_map(of_way).collect()
}

/// A single stream on `processors` processors, as in figure 15: the text names Wired-Streams for the Hybrid,
/// and no policy for the others.
pub(crate) const fn single_stream(approach: Parallelism, processors: u32) -> CurveSetting {
    let policy = if matches!(approach, Hybrid) { WiredStreams } else { Mru };
    CurveSetting::new(approach, policy).host(processors, 1)
}

fn scaling() -> Vec<Curve> {
    let ways = [("Locking", Locking), ("IPS, single-open", Ips), ("Hybrid", Hybrid)];
    let of_way = |(colour, (name, approach)): (usize, (&str, Parallelism))| {
        SCALING.map(|processors| curve(name, single_stream(approach, processors), colour, 0))
    };
    ways.into_iter().enumerate().flat_map(of_way).collect()
}

fn hosts() -> Vec<Curve> {
    let of_curve = |of: Curve| HOSTS.map(|n| Curve { setting: of.setting.host(n, n), ..of.clone() });
    alternatives().into_iter().flat_map(of_curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_can_stand() {
        for curve in FigureName::ALL.into_iter().flat_map(FigureName::curves) {
            assert_eq!(curve.setting.scheduling.check(), Ok(()), "{}", curve.name);
        }
    }
}
