//! Compares predictions with measurements: the same scenario is simulated and run, at several loads.
//!
//! The cost of a packet in the stack comes from a calibration. The runtime's own cost is [fitted](costs) at
//! one load and then fixed: once with workers that share a dispatcher, and once with workers that each decide
//! alone. All loads and schedulings are then [predicted](predict) before they are [run](live). Nothing is
//! fitted to the runs that the predictions are compared with. Each prediction is accompanied by that of a
//! null model, which knows nothing of caches.
//!
//! | module | step |
//! |---|---|
//! | [`packets`] | checks that the costs were measured with packets like those of the runs |
//! | [`nearness`], [`quiet`] | select undisturbed runs in which the processors were at the usual distance |
//! | [`live`] | measures |
//! | [`costs`] | fits the costs of the runtime |
//! | [`predict`] | predicts with the simulator and with the null model |
//! | [`point`], [`differences`], [`judge`] | judge which predictions are good, which are off, and which are undecided |
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
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_measure::Timer;
use warmcore_runtime::RunError;
use warmcore_runtime::from_scenario::{Setup, SetupError};
use warmcore_scenario::{OpenTraffic, PacketScenario, Scheduling};
use warmcore_sim::packet::PointError;
use warmcore_units::{Estimate, PerSecond};

/// What to compare.
#[derive(Clone, Debug)]
pub struct Request {
    /// The host and its traffic. Its rate is not used.
    pub scenario: PacketScenario,
    /// The schedulings. All others are compared with the first.
    pub schedulings: Vec<Scheduling>,
    /// The loads, which are the same for all schedulings.
    pub loads: Loads,
}

/// The loads of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub enum Loads {
    /// Fractions of the smallest predicted capacity.
    Fractions(Vec<f64>),
    /// Packets per second.
    Rates(Vec<PerSecond>),
}

/// The results of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The costs of the runtime and where they were fitted, for each kind of dispatcher in use.
    pub costs: Vec<RuntimeCosts>,
    /// One entry per scheduling.
    pub compared: Vec<Compared>,
}

/// One scheduling, predicted and run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The scheduling.
    pub scheduling: Scheduling,
    /// The predicted capacity.
    pub capacity: Estimate<PerSecond>,
    /// One entry per load.
    pub points: Vec<ComparedPoint>,
}

/// Why a comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The scenario cannot be simulated.
    #[error(transparent)]
    Prediction(#[from] PointError),
    /// The scenario cannot be run on this machine.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The distance between processors could not be measured.
    #[error(transparent)]
    Measurement(#[from] warmcore_measure::RunError),
    /// The profile lacks costs that are needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The workers were interrupted too much for anything to be measured.
    #[error(
        "{0} could not be measured: the workers hardly ran in any of {ROUNDS} rounds; expected longer runs, or \
         a machine that has less else to do"
    )]
    Disturbed(&'static str),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// How far a comparison is.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// What is being done.
    pub stage: String,
    /// The fraction of the whole that is done, from 0 to 1.
    pub done: f64,
}

/// Predicts and runs everything in the request on this machine. Calls `observer` before every stage and every
/// round of runs.
///
/// # Errors
/// If something cannot be predicted or run, or `stop` is set.
pub fn compare(
    request: &Request,
    profile: &Profile,
    stop: &AtomicBool,
    observer: impl FnMut(Progress),
) -> Result<Comparison, CompareError> {
    let anything = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..request.scenario.clone() };
    let cpus = Setup::new(&anything, profile)?.options.cpus;
    let nearness = Nearness::new(&cpus, profile.provenance.handover, stop)?;
    let mut machine = ThisMachine { profile, nearness, timer: Timer::calibrate() };
    let traffic = request.scenario.traffic.open().map_err(PointError::from)?;
    compare_on(&mut machine, request, &traffic, profile, observer)
}

/// The same on any `testbed`. `traffic` is the opened traffic of the request.
///
/// # Errors
/// As [`compare`].
pub fn compare_on(
    testbed: &mut dyn Testbed,
    request: &Request,
    traffic: &OpenTraffic,
    profile: &Profile,
    mut observer: impl FnMut(Progress),
) -> Result<Comparison, CompareError> {
    let under =
        |scheduling: &Scheduling| PacketScenario { scheduling: *scheduling, ..request.scenario.clone() };
    let mut costs: Vec<RuntimeCosts> = Vec::new();
    for scheduling in &request.schedulings {
        let alone = costs::decides_alone(&under(scheduling), profile)?;
        if costs.iter().all(|fitted| fitted.alone != alone) {
            let stage = format!("measuring the runtime's own costs under {scheduling}");
            observer(Progress { stage, done: 0.0 });
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
        let mut begin = |what: String, part: f64| {
            let stage = format!("load {} of {}, {rate}: {what}", index + 1, rates.len());
            observer(Progress { stage, done: (index as f64 + part) / rates.len() as f64 });
        };
        begin("predicting".to_owned(), 0.0);
        let at =
            |compared: &Compared| PacketScenario { rate_per_s: Some(rate), ..under(&compared.scheduling) };
        let scenarios: Vec<PacketScenario> = compared.iter().map(at).collect();
        let predicted = scenarios.iter().map(|scenario| predictor.predict(scenario));
        let predicted = predicted.collect::<Result<Vec<_>, _>>()?;
        let measured = run_in_rounds(testbed, &scenarios, |round| {
            begin(format!("round {} of {ROUNDS}", round + 1), round as f64 / ROUNDS as f64);
        })?;
        for ((compared, predicted), measured) in compared.iter_mut().zip(predicted).zip(measured) {
            let load = rate.0 / compared.capacity.mean.0;
            compared.points.push(ComparedPoint { load, rate, predicted, measured });
        }
    }
    Ok(Comparison { costs, compared })
}

/// Runs `scenarios` in rounds, so that a temporary slowdown of the machine affects all of them alike. Calls
/// `begin` before each round with its number, from 0.
fn run_in_rounds(
    testbed: &mut dyn Testbed,
    scenarios: &[PacketScenario],
    mut begin: impl FnMut(usize),
) -> Result<Vec<Option<Repeated>>, CompareError> {
    let mut runs = vec![Vec::new(); scenarios.len()];
    for round in 0..ROUNDS {
        begin(round);
        for (runs, scenario) in runs.iter_mut().zip(scenarios) {
            runs.extend(testbed.run(scenario)?.non_empty());
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
