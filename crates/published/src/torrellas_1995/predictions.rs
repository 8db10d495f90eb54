//! What is simulated for the claims: every workload under every scheduler of the text, and the sensitivity to the open
//! parameters.

use super::blind::{self, Choice};
use super::calibrate::FitPrecision;
use super::gaps::{self, Gaps};
use super::open::{Open, whole};
use super::parts::{Part, PredictionError, Progress, Steps};
use super::replicas::Replicas;
use super::tables::Workload;
use crate::Value;
use core::fmt;
use rayon::prelude::*;
use std::collections::BTreeMap;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::runqueue::UnixScheduler;
use warmcore_sim::runqueue::{Outcome, Tally, compare};
use warmcore_units::Estimate;

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
        let favouring =
            |affinity| UnixScheduler { decay_spares_old: open.spares_old, ..standard.with(affinity) };
        match self {
            Self::Standard => standard,
            Self::Light => favouring(Affinity::LIGHT),
            Self::Heavy => favouring(Affinity::HEAVY),
            Self::Attached => UnixScheduler { attach: open.attachment(), ..standard },
            Self::Quantum10 => UnixScheduler { quantum_ms: 10.0, ..standard },
            Self::Quantum100 => UnixScheduler { quantum_ms: 100.0, ..standard },
            Self::Complex => favouring(Affinity::complex(whole(open.complex_level))),
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
    /// Runs of each point, each of another calibration.
    pub runs: u32,
    /// How precisely each calibration is made.
    pub fit: FitPrecision,
    /// Whether the values of the open parameters are searched, or those that the search gives are taken as recorded.
    pub searches: bool,
    /// Runs, and calibrations, for each other value of an open parameter; 0 to vary none.
    pub varied: u32,
}

impl Precision {
    /// The usual one.
    pub const FULL: Self =
        Self { runs: 24, fit: FitPrecision { runs: 4, steps: 14, further: 6 }, searches: true, varied: 4 };
    /// For a first look.
    pub const QUICK: Self =
        Self { runs: 8, fit: FitPrecision { runs: 4, steps: 14, further: 6 }, searches: false, varied: 0 };
}

/// All that was simulated.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The calibrated workloads.
    pub replicas: Replicas,
    /// Every workload under every scheduler.
    pub outcomes: BTreeMap<(Workload, Policy), Outcome>,
    /// How the values of the open parameters were chosen, if they were searched.
    pub choice: Option<Choice>,
    /// Results at other values of the open parameters.
    pub gaps: Gaps,
}

/// Chooses the open parameters, calibrates and simulates everything.
///
/// # Errors
/// If the user stops it, a part cannot be kept, or a scenario is impossible.
pub fn predict(
    seed: u64,
    precision: Precision,
    progress: Progress<'_>,
) -> Result<Predictions, PredictionError> {
    let Precision { runs, fit, searches, varied } = precision;
    let points = all_points();
    let searched = if searches { blind::calibrations() } else { 0 };
    let variations = if varied > 0 { varied as usize * gaps::settings(&Open::recorded()) } else { 0 };
    let steps = Steps::new(progress, searched + runs as usize + points.len() + variations);
    let choice = searches.then(|| blind::choose(seed, fit, &steps)).transpose()?;
    let open = choice.as_ref().map_or_else(Open::recorded, |choice| choice.open);
    // Others than those with which the values were chosen.
    let replicas = Replicas::new((open, seed.wrapping_add(1 << 32)), runs, None, fit, &steps)?;
    let simulated = |point: (Workload, Policy)| {
        let key = format!("runs {point:?} seed {seed} count {runs} {fit:?}\n{open:?}");
        let get = |part| if let Part::Runs(runs) = part { Some(runs) } else { None };
        let runs = steps.part(&key, get, Part::Runs, || replicas.simulate(point, &steps))?;
        steps.step();
        Ok((point, Outcome { runs }))
    };
    let outcomes: Result<_, PredictionError> = points.into_par_iter().map(simulated).collect();
    let mut predictions = Predictions { choice, ..Predictions::new(replicas, outcomes?) };
    if varied > 0 {
        predictions.gaps = gaps::vary(&predictions, varied, fit, &steps)?;
    }
    Ok(predictions)
}

pub(super) fn all_points() -> Vec<(Workload, Policy)> {
    let workloads = Workload::TABLE_V.into_iter().chain(Workload::FIGURE_5.into_iter().skip(1));
    workloads.flat_map(|workload| Policy::ALL.map(|policy| (workload, policy))).collect()
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
    /// Those with these `outcomes` alone.
    pub(super) const fn new(replicas: Replicas, outcomes: BTreeMap<(Workload, Policy), Outcome>) -> Self {
        Self { replicas, outcomes, choice: None, gaps: Gaps::none() }
    }

    /// Runs of each point.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.outcomes.values().map(|outcome| outcome.runs.len()).max().unwrap_or(0)
    }

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
