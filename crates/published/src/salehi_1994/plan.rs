//! The points of all figures, each once.

use crate::salehi_1994::rates::{NEAR_CAPACITY, rates};
use crate::salehi_1994::setting::CHECKSUMMED;
use crate::salehi_1994::{CurveSetting, FigureName, ReproduceError, ReproductionOptions};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_costs::{Approach, ExecutionModel};
use warmcore_scenario::{PacketScenario, Parallelism, ProcessorPolicy};
use warmcore_sim::packet::{PointResult, simulate};
use warmcore_units::PerSecond;

/// What must be simulated for some figures.
///
/// The rates of a setting depend on its capacity, which the plan measures first. That is quick, and gives the
/// same result each time.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationPlan {
    /// The point of each setting far beyond its capacity.
    pub(crate) overloaded: BTreeMap<CurveSetting, PointResult>,
    /// The points, each with its setting.
    pub(crate) points: Vec<(CurveSetting, PacketScenario)>,
}

/// Maximum packets of a point, below and above [`NEAR_CAPACITY`].
const MAX_PACKETS: [u64; 2] = [400_000_000, 4_000_000];

/// The setting whose capacity scales the grid of rates: the one with the highest capacity in figures 7 to 12.
const BEST: CurveSetting = CurveSetting::new(Parallelism::Ips, ProcessorPolicy::WiredStreams);

impl SimulationPlan {
    /// The plan for `options`.
    ///
    /// # Errors
    /// If the profile lacks what is needed, such as migration times.
    pub fn new(options: &ReproductionOptions) -> Result<Self, ReproduceError> {
        check(options)?;
        let overload = |setting: CurveSetting| simulate(&setting.overloaded(options), &options.profile);
        let best = overload(BEST)?.capacity.rate.mean;
        let mut overloaded = BTreeMap::new();
        for setting in options.wanted().flat_map(settings) {
            overloaded.insert(setting, overload(setting)?);
        }
        let swept: BTreeSet<CurveSetting> =
            options.wanted().filter(|figure| figure.sweeps()).flat_map(settings).collect();
        let mut points = Vec::new();
        for setting in swept {
            let capacity = overloaded[&setting].capacity.rate.mean;
            if setting.checksummed == 0 {
                points.extend(points_of(setting, capacity, best, options));
            }
        }
        Ok(Self { overloaded, points })
    }

    /// The scenarios of the points, each once.
    pub fn scenarios(&self) -> impl Iterator<Item = &PacketScenario> {
        self.points.iter().map(|(_, scenario)| scenario)
    }
}

/// The settings that `figure` needs: those of its curves, and those that only its claims need.
fn settings(figure: FigureName) -> Vec<CurveSetting> {
    let curves = figure.curves().into_iter().map(|curve| curve.setting);
    curves.chain(claimed(figure)).collect()
}

/// The settings that the claims of a figure need in addition to its curves.
fn claimed(figure: FigureName) -> Vec<CurveSetting> {
    match figure {
        FigureName::F11b => CHECKSUMMED.to_vec(),
        _ => Vec::new(),
    }
}

fn points_of(
    setting: CurveSetting,
    capacity: PerSecond,
    best: PerSecond,
    options: &ReproductionOptions,
) -> impl Iterator<Item = (CurveSetting, PacketScenario)> {
    rates(capacity, best).into_iter().map(move |rate| {
        let near = rate.0 > capacity.0 * NEAR_CAPACITY;
        (setting, setting.scenario(options, rate, MAX_PACKETS[usize::from(near)]))
    })
}

/// Refuses an unusable profile before anything is simulated.
fn check(options: &ReproductionOptions) -> Result<(), ReproduceError> {
    options.profile.check()?;
    for approach in Approach::ALL {
        ExecutionModel::new(&options.profile, approach, crate::salehi_1994::setting::PROCESSORS)?;
    }
    Ok(())
}
