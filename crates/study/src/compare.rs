//! A prediction held against the clock: the same scenario simulated and run, at several loads.
//!
//! What a packet costs in the stack comes from a calibration. What the runtime itself costs is
//! [fitted](costs) at one load, and frozen: once where workers share a dispatcher, and once where each decides
//! alone. All loads and ways are then [predicted](predict), before they are [run](live). Nothing is fitted to
//! the runs that the predictions are compared with. Beside each prediction stands that of a null model, which
//! knows nothing of caches.
//!
//! | module | step |
//! |---|---|
//! | [`packets`] | costs count only if they are of packets like those of the runs |
//! | [`nearness`], [`quiet`] | runs count only where the processors are as near as in the others, and undisturbed |
//! | [`live`] | where measured figures come from |
//! | [`costs`] | what the runtime costs |
//! | [`predict`] | what the simulator says, and what the null model says |
//! | [`point`], [`differences`], [`judge`] | what is good, what is off, and what cannot be told |
//! | [`results`], [`present`] | the figures for other programs, and the report |

pub mod costs;
pub mod differences;
pub mod figures;
#[cfg(test)]
mod injected;
pub mod judge;
pub mod live;
pub mod nearness;
pub mod packets;
pub mod point;
pub mod predict;
pub mod present;
pub mod quiet;
pub mod results;

use costs::RuntimeCosts;
use figures::Repeated;
use live::{ROUNDS, Testbed, ThisMachine};
use nearness::Nearness;
use point::ComparedPoint;
use predict::Predictor;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_measure::Timer;
use warmcore_runtime::RunError;
use warmcore_runtime::from_scenario::{Setup, SetupError};
use warmcore_scenario::{OpenTraffic, PacketScenario, Scheduling};
use warmcore_sim::packet::PointError;
use warmcore_units::{Estimate, PerSecond};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Request {
    /// The host and its traffic; its rate is not used.
    pub scenario: PacketScenario,
    /// The ways to schedule it. Others are compared with the first.
    pub schedulings: Vec<Scheduling>,
    /// The loads, which are those of all ways.
    pub loads: Loads,
}

/// How much traffic there is.
#[derive(Clone, PartialEq, Debug)]
pub enum Loads {
    /// Fractions of the smallest predicted capacity.
    Fractions(Vec<f64>),
    /// Packets per second.
    Rates(Vec<PerSecond>),
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What the runtime costs, and where that was fitted: for each kind of dispatcher that there is.
    pub costs: Vec<RuntimeCosts>,
    /// By way to schedule.
    pub compared: Vec<Compared>,
}

/// One way to schedule, predicted and run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which.
    pub scheduling: Scheduling,
    /// The predicted capacity.
    pub capacity: Estimate<PerSecond>,
    /// By load.
    pub points: Vec<ComparedPoint>,
}

/// A comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The scenario cannot be simulated.
    #[error(transparent)]
    Prediction(#[from] PointError),
    /// It cannot be run here.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// How far apart processors are could not be measured.
    #[error(transparent)]
    Measurement(#[from] warmcore_measure::RunError),
    /// The profile lacks what is needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// Too much was taken away from the workers for anything to be measured.
    #[error(
        "{0} could not be measured: the workers hardly ran in any of {ROUNDS} rounds; expected longer runs, or \
         a machine that has less else to do"
    )]
    Disturbed(&'static str),
    /// The user has stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Predicts and runs all that is asked on this machine, and tells `done` which part of it is done.
///
/// # Errors
/// If something cannot be predicted or run, or `stop` is set.
pub fn compare(
    request: &Request,
    profile: &Profile,
    base: &Path,
    stop: &AtomicBool,
    done: impl FnMut(f64),
) -> Result<Comparison, CompareError> {
    let anything = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..request.scenario.clone() };
    let cpus = Setup::new(&anything, profile, base)?.options.cpus;
    let nearness = Nearness::new(&cpus, profile.provenance.handover, stop)?;
    let mut machine = ThisMachine { profile, base, nearness, timer: Timer::calibrate() };
    let traffic = request.scenario.traffic.open(base).map_err(PointError::from)?;
    compare_on(&mut machine, request, &traffic, profile, done)
}

/// The same on any `testbed`; `traffic` is that of the request, opened.
///
/// # Errors
/// As [`compare`].
pub fn compare_on(
    testbed: &mut dyn Testbed,
    request: &Request,
    traffic: &OpenTraffic,
    profile: &Profile,
    mut done: impl FnMut(f64),
) -> Result<Comparison, CompareError> {
    let under =
        |scheduling: &Scheduling| PacketScenario { scheduling: *scheduling, ..request.scenario.clone() };
    let mut costs: Vec<RuntimeCosts> = Vec::new();
    for scheduling in &request.schedulings {
        let alone = costs::decides_alone(&under(scheduling), profile)?;
        if costs.iter().all(|fitted| fitted.alone != alone) {
            costs.push(RuntimeCosts::fit(testbed, &under(scheduling), traffic, profile)?);
        }
    }
    let predictor = Predictor::new(&request.scenario, traffic, profile, &costs);
    let empty = |scheduling: &Scheduling| {
        let capacity = predictor.capacity(&under(scheduling))?;
        Ok(Compared { scheduling: *scheduling, capacity, points: Vec::new() })
    };
    let mut compared = request.schedulings.iter().map(empty).collect::<Result<Vec<_>, CompareError>>()?;
    let rates = request.loads.rates(&compared);
    for (index, &rate) in rates.iter().enumerate() {
        done(index as f64 / rates.len() as f64);
        let at =
            |compared: &Compared| PacketScenario { rate_per_s: Some(rate), ..under(&compared.scheduling) };
        let scenarios: Vec<PacketScenario> = compared.iter().map(at).collect();
        let predicted = scenarios.iter().map(|scenario| predictor.predict(scenario));
        let predicted = predicted.collect::<Result<Vec<_>, _>>()?;
        let measured = in_turn(testbed, &scenarios)?;
        for ((compared, predicted), measured) in compared.iter_mut().zip(predicted).zip(measured) {
            let load = rate.0 / compared.capacity.mean.0;
            compared.points.push(ComparedPoint { load, rate, predicted, measured });
        }
    }
    Ok(Comparison { costs, compared })
}

/// Runs `scenarios` in rounds, so that what makes the machine slower for a while meets all of them alike.
fn in_turn(
    testbed: &mut dyn Testbed,
    scenarios: &[PacketScenario],
) -> Result<Vec<Option<Repeated>>, CompareError> {
    let mut runs = vec![Vec::new(); scenarios.len()];
    for _ in 0..ROUNDS {
        for (runs, scenario) in runs.iter_mut().zip(scenarios) {
            runs.extend(testbed.run(scenario)?.told());
        }
    }
    Ok(runs.iter().map(|runs| Repeated::from_runs(runs)).collect())
}

impl Loads {
    fn rates(&self, compared: &[Compared]) -> Vec<PerSecond> {
        let least = compared.iter().map(|compared| compared.capacity.mean.0).fold(f64::INFINITY, f64::min);
        match self {
            Self::Fractions(fractions) => fractions.iter().map(|load| PerSecond(least * load)).collect(),
            Self::Rates(rates) => rates.clone(),
        }
    }
}
