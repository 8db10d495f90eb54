//! What is simulated for the claims: every workload under every scheduler of the text, and the sensitivity to the open
//! parameters.

use super::calibrate::Calibration;
use super::open::{Open, OpenParameter, whole};
use super::tables::Workload;
use crate::Value;
use core::fmt;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::runqueue::UnixScheduler;
use warmcore_sim::runqueue::{Outcome, Tally, compare, simulate};
use warmcore_units::{Estimate, Fault};

/// A scheduler of §5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Policy {
    /// The standard scheduler.
    Standard,
    /// Light affinity.
    Light,
    /// Heavy affinity.
    Heavy,
    /// Processes fixed to processors.
    Attached,
    /// The standard scheduler with quanta of 10 ms.
    Quantum10,
    /// The standard scheduler with quanta of 100 ms.
    Quantum100,
    /// Complex affinity.
    Complex,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Standard,
        Self::Light,
        Self::Heavy,
        Self::Attached,
        Self::Quantum10,
        Self::Quantum100,
        Self::Complex,
    ];

    /// The scheduler.
    #[must_use]
    pub fn scheduler(self, open: &Open) -> UnixScheduler {
        let standard = open.scheduler();
        match self {
            Self::Standard => standard,
            Self::Light => standard.with(Affinity::LIGHT),
            Self::Heavy => standard.with(Affinity::HEAVY),
            Self::Attached => UnixScheduler { attach: open.attachment(), ..standard },
            Self::Quantum10 => UnixScheduler { quantum_ms: 10.0, ..standard },
            Self::Quantum100 => UnixScheduler { quantum_ms: 100.0, ..standard },
            Self::Complex => standard.with(Affinity::complex(whole(open.complex_level))),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "standard",
            Self::Light => "light affinity",
            Self::Heavy => "heavy affinity",
            Self::Attached => "attached",
            Self::Quantum10 => "quanta of 10 ms",
            Self::Quantum100 => "quanta of 100 ms",
            Self::Complex => "complex affinity",
        })
    }
}

/// A quantity of Table V.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Mean completion time of the applications.
    Time,
    /// Cache misses of all applications.
    Misses,
}

impl Quantity {
    /// Its value in a run.
    #[must_use]
    pub fn of(self, run: &Tally) -> f64 {
        match self {
            Self::Time => run.mean_completion_s(),
            Self::Misses => run.misses(),
        }
    }
}

/// How precisely it is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Precision {
    /// Runs of each point.
    pub runs: u32,
    /// Runs of each step of a calibration.
    pub calibration: u32,
    /// Runs of each point of the sensitivity chart; 0 without that chart.
    pub sensitivity: u32,
}

impl Precision {
    /// The usual one.
    pub const FULL: Self = Self { runs: 20, calibration: 8, sensitivity: 6 };
    /// For a first look.
    pub const QUICK: Self = Self { runs: 6, calibration: 6, sensitivity: 2 };
}

/// Results at one value of an open parameter, calibrated anew.
#[derive(Clone, Debug)]
pub struct SensitivityPoint {
    /// The parameter.
    pub parameter: OpenParameter,
    /// Its value.
    pub value: f64,
    /// Changes under light affinity in percent, by workload, of time and of misses.
    pub light: BTreeMap<Workload, [Estimate<f64>; 2]>,
}

/// All that was simulated.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The calibrated workloads.
    pub calibration: Calibration,
    /// Every workload under every scheduler.
    pub outcomes: BTreeMap<(Workload, Policy), Outcome>,
    /// Results at other values of the open parameters.
    pub sensitivity: Vec<SensitivityPoint>,
    /// How precisely.
    pub precision: Precision,
}

/// Why there are no predictions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PredictionError {
    /// A scenario is impossible.
    #[error("{0}")]
    Impossible(#[from] Fault),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Workloads of the sensitivity chart.
const SENSITIVE: [Workload; 4] =
    [Workload::MatrixMatrix, Workload::MatrixCholesky, Workload::PmakeMatrix, Workload::Oracle];

/// Calibrates and simulates everything. `tell` learns how many of how many steps are done.
///
/// # Errors
/// If `stop` was set, or a scenario is impossible.
pub fn predict(
    open: Open,
    seed: u64,
    precision: Precision,
    tell: impl Fn(usize, usize) + Sync,
    stop: &AtomicBool,
) -> Result<Predictions, PredictionError> {
    let varied: &[OpenParameter] = if precision.sensitivity > 0 { &OpenParameter::ALL } else { &[] };
    let steps = 2 + 2 * varied.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let step = || tell(done.fetch_add(1, Ordering::Relaxed) + 1, steps);
    let calibration = Calibration::new(open, seed, precision.calibration)?;
    step();
    let outcomes = simulated(&calibration, &all_points(), precision.runs)?;
    step();
    let values: Vec<(OpenParameter, f64)> =
        varied.iter().flat_map(|&parameter| parameter.range.map(|value| (parameter, value))).collect();
    let sensitivity: Result<Vec<SensitivityPoint>, PredictionError> = values
        .into_par_iter()
        .map(|(parameter, value)| {
            if stop.load(Ordering::Relaxed) {
                return Err(PredictionError::Interrupted);
            }
            let light = sensitivity(parameter.set(value), seed, precision)?;
            step();
            Ok(SensitivityPoint { parameter, value, light })
        })
        .collect();
    Ok(Predictions { calibration, outcomes, sensitivity: sensitivity?, precision })
}

fn all_points() -> Vec<(Workload, Policy)> {
    let workloads = Workload::TABLE_V.into_iter().chain(Workload::FIGURE_5.into_iter().skip(1));
    workloads.flat_map(|workload| Policy::ALL.map(|policy| (workload, policy))).collect()
}

fn simulated(
    calibration: &Calibration,
    points: &[(Workload, Policy)],
    runs: u32,
) -> Result<BTreeMap<(Workload, Policy), Outcome>, Fault> {
    let one = |&(workload, policy): &(Workload, Policy)| {
        let scheduler = policy.scheduler(&calibration.open);
        Ok(((workload, policy), simulate(&calibration.scenario(workload, scheduler, runs))?))
    };
    points.par_iter().map(one).collect()
}

fn sensitivity(
    open: Open,
    seed: u64,
    precision: Precision,
) -> Result<BTreeMap<Workload, [Estimate<f64>; 2]>, Fault> {
    let calibration = Calibration::new(open, seed, precision.sensitivity)?;
    let points: Vec<(Workload, Policy)> = SENSITIVE
        .into_iter()
        .flat_map(|workload| [Policy::Standard, Policy::Light].map(|policy| (workload, policy)))
        .collect();
    let outcomes = simulated(&calibration, &points, precision.sensitivity)?;
    let changes = SENSITIVE.map(|workload| {
        let changes = [Quantity::Time, Quantity::Misses].map(|quantity| {
            changed(&outcomes, workload, Policy::Light, Policy::Standard, quantity)
                .unwrap_or(Estimate::new(f64::NAN, f64::INFINITY))
        });
        (workload, changes)
    });
    Ok(changes.into_iter().collect())
}

/// The change of a quantity from `base` to `policy` in percent.
fn changed(
    outcomes: &BTreeMap<(Workload, Policy), Outcome>,
    workload: Workload,
    policy: Policy,
    base: Policy,
    quantity: Quantity,
) -> Option<Estimate<f64>> {
    let [one, base] = [policy, base].map(|policy| outcomes.get(&(workload, policy)));
    let relative = compare(base?, one?, |run| quantity.of(run))?.relative;
    Some(Estimate::new(100.0 * relative.mean, 100.0 * relative.half_width))
}

impl Predictions {
    /// The change of a quantity from `base` to `policy` in percent.
    #[must_use]
    pub fn change(
        &self,
        workload: Workload,
        policy: Policy,
        base: Policy,
        quantity: Quantity,
    ) -> Option<Estimate<f64>> {
        changed(&self.outcomes, workload, policy, base, quantity)
    }

    /// A quantity of the runs of one workload under one scheduler.
    #[must_use]
    pub fn estimate(
        &self,
        workload: Workload,
        policy: Policy,
        of: impl Fn(&Tally) -> f64,
    ) -> Option<Estimate<f64>> {
        Some(self.outcomes.get(&(workload, policy))?.estimate(of))
    }

    /// How far a quantity's change is from the published one, in points.
    pub(super) fn miss(
        &self,
        workload: Workload,
        policy: Policy,
        quantity: Quantity,
        published: f64,
    ) -> Option<Value> {
        let Value { mean, low, high } = self.change(workload, policy, Policy::Standard, quantity)?.into();
        Some(Value { mean: mean - published, low: low - published, high: high - published })
    }
}
