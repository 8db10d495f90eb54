//! Simulates a plan.

use crate::salehi_1994::{
    CurveSetting, KeepError, ReproduceError, ReproductionOptions, SimulationPlan, Simulations,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::{PointResult, simulate};
use warmcore_sim::sweep::{SweepError, sweep};

/// Simulates what `options` ask for, in parallel.
///
/// A point whose result is `known` from an earlier run is not simulated again. Each new result is passed to
/// `finished`, so that it can be saved. `progress` is called with the number of finished points and their
/// total. No point is begun once `stop` is set.
///
/// # Errors
/// If the profile cannot be used, `finished` fails, or `stop` is set.
pub fn reproduce(
    options: ReproductionOptions,
    known: impl Fn(&PacketScenario) -> Option<PointResult> + Sync,
    finished: impl Fn(&PacketScenario, &PointResult) -> Result<(), KeepError> + Sync,
    progress: impl Fn(usize, usize) + Sync,
    stop: &AtomicBool,
) -> Result<Simulations, ReproduceError> {
    let plan = SimulationPlan::new(&options)?;
    let (done, all) = (AtomicUsize::new(0), plan.points.len());
    let tell = || progress(1 + done.fetch_add(1, Ordering::Relaxed), all);
    let results = sweep(
        &plan.points,
        |(_, scenario): &(CurveSetting, PacketScenario)| known(scenario).inspect(|_| tell()),
        |(_, scenario)| Ok(simulate(scenario, &options.profile)?),
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
    simulations(options, &plan, results)
}

/// The evidence from the `results` of `plan`'s points, which are in the order of the points.
///
/// # Errors
/// If their number differs.
pub fn simulations(
    options: ReproductionOptions,
    plan: &SimulationPlan,
    results: Vec<PointResult>,
) -> Result<Simulations, ReproduceError> {
    if results.len() != plan.points.len() {
        let (found, expected) = (results.len(), plan.points.len());
        return Err(ReproduceError::Results { found, expected });
    }
    Ok(Simulations::new(options, plan, results))
}
