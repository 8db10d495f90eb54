//! Simulating a plan, and what it amounts to.

use crate::salehi_1994::claims::{self, Concluded};
use crate::salehi_1994::{Evidence, Options, Plan, Setting};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_costs::execution::IncompleteProfile;
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::{PointError, PointResult, simulate};
use warmcore_sim::sweep::{SweepError, sweep};
use warmcore_units::Fault;

/// Why a finished point could not be kept.
pub type KeepError = Box<dyn std::error::Error + Send + Sync>;

/// A source cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The profile lacks what is needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The profile holds what cannot be.
    #[error("the profile cannot be used: {0}")]
    Fault(#[from] Fault),
    /// A point could not be simulated.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A finished point could not be kept.
    #[error("cannot keep a finished point: {0}")]
    Keep(KeepError),
    /// The results are not those of the plan.
    #[error("{found} results were given, expected {expected}: one for each point of the plan")]
    Results {
        /// How many there are.
        found: usize,
        /// How many points the plan has.
        expected: usize,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A reproduction of the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Reproduction {
    /// What was asked for.
    pub options: Options,
    /// What was simulated.
    pub evidence: Evidence,
    /// The claims that it bears on, in the source's order.
    pub claims: Vec<Concluded>,
}

/// Simulates what `options` ask for, in parallel, and draws the conclusions.
///
/// What is `known` of a point from an earlier run is not simulated again. Each new result is shown
/// to `finished`, so that it can be kept. `progress` is told how many points are done, of how
/// many. No point is begun once `stop` is set.
///
/// # Errors
/// If the profile cannot be used, `finished` fails, or `stop` is set.
pub fn reproduce(
    options: Options,
    known: impl Fn(&PacketScenario) -> Option<PointResult> + Sync,
    finished: impl Fn(&PacketScenario, &PointResult) -> Result<(), KeepError> + Sync,
    progress: impl Fn(usize, usize) + Sync,
    stop: &AtomicBool,
) -> Result<Reproduction, ReproduceError> {
    let plan = Plan::new(&options)?;
    let (done, all) = (AtomicUsize::new(0), plan.points.len());
    let tell = || progress(1 + done.fetch_add(1, Ordering::Relaxed), all);
    let results = sweep(
        &plan.points,
        |(_, scenario): &(Setting, PacketScenario)| known(scenario).inspect(|_| tell()),
        |(_, scenario)| Ok(simulate(scenario, &options.profile, Path::new(""))?),
        |(_, scenario), result| {
            finished(scenario, result).map_err(ReproduceError::Keep)?;
            tell();
            Ok(())
        },
        stop,
    );
    let results = results.map_err(|error| match error {
        SweepError::Point(error) => error,
        SweepError::Interrupted => ReproduceError::Interrupted,
    })?;
    conclude(options, &plan, results)
}

/// Draws the conclusions from the `results` of `plan`'s points, in their order.
///
/// # Errors
/// If their number differs.
pub fn conclude(
    options: Options,
    plan: &Plan,
    results: Vec<PointResult>,
) -> Result<Reproduction, ReproduceError> {
    if results.len() != plan.points.len() {
        let (found, expected) = (results.len(), plan.points.len());
        return Err(ReproduceError::Results { found, expected });
    }
    let evidence = Evidence::new(&options, plan, results);
    let claims = claims::all()
        .into_iter()
        .filter(|claim| claim.needs.iter().all(|&figure| options.wants(figure)))
        .map(|claim| claim.conclude(&evidence))
        // Of another machine, what rests on the source's own constants says nothing.
        .filter(|concluded| evidence.is_published_machine() || concluded.derived.is_some())
        .collect();
    Ok(Reproduction { options, evidence, claims })
}
