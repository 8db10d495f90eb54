//! Predicts and runs the same loads.

use super::doubts::poorly_known;
use super::figures::{Fates, ServerFigures};
use super::point::ServerPoint;
use super::predict::{PredictServerError, Predictor};
use crate::compare::{Loads, Progress};
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::ServerCosts;
use warmcore_measure::RunError;
use warmcore_measure::requests::load::{Load, LoadFigures, LoadSite};
use warmcore_measure::requests::service::Service;
use warmcore_runtime::server::Policy;
use warmcore_scenario::ServerPolicy;
use warmcore_units::{CpuId, Estimate, PerSecond};

/// Rounds in which each load of each policy is run once.
pub const ROUNDS: usize = 5;

/// What to compare.
#[derive(Clone, Debug)]
pub struct ServerRequest {
    /// The policies.
    pub policies: Vec<ServerPolicy>,
    /// The loads, which are the same for all policies.
    pub loads: Loads,
    /// What is asked and answered: that which the costs are about.
    pub service: Service,
    /// The processors, each with a worker and a source of requests.
    pub cpus: Vec<CpuId>,
    /// How long each run is.
    pub long: Duration,
    /// Seed of everything random.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerComparison {
    /// By policy, in the order of the request.
    pub compared: Vec<ComparedPolicy>,
    /// What a reader should know about the runs.
    pub notes: Vec<String>,
}

/// One policy, predicted and run.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedPolicy {
    /// The policy.
    pub policy: ServerPolicy,
    /// The predicted capacity.
    pub capacity: Estimate<PerSecond>,
    /// One entry for each load.
    pub points: Vec<ServerPoint>,
}

/// Why a comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum CompareServersError {
    /// The load cannot be predicted.
    #[error(transparent)]
    Prediction(#[from] PredictServerError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What runs loads.
pub trait ServerBench {
    /// Runs `load`; `None` if no request was answered.
    ///
    /// # Errors
    /// If the server cannot start or end.
    fn run(&mut self, load: &Load) -> Result<Option<LoadFigures>, RunError>;

    /// What a reader should know about this bench.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Servers on this machine, in a network of our own.
#[derive(Debug)]
pub struct ThisMachine<'a> {
    site: LoadSite,
    stop: &'a AtomicBool,
}

impl<'a> ThisMachine<'a> {
    /// Builds the network.
    ///
    /// # Errors
    /// If not even loopback can be used.
    pub fn new(stop: &'a AtomicBool) -> Result<Self, RunError> {
        Ok(Self { site: LoadSite::new()?, stop })
    }
}

impl ServerBench for ThisMachine<'_> {
    fn run(&mut self, load: &Load) -> Result<Option<LoadFigures>, RunError> {
        let figures = self.site.run(load, self.stop)?;
        if self.stop.load(Ordering::SeqCst) { Err(RunError::Interrupted) } else { Ok(figures) }
    }

    fn notes(&self) -> Vec<String> {
        let instead = self.site.instead();
        instead.map(|reason| format!("requests crossed loopback, because {reason}")).into_iter().collect()
    }
}

/// The mechanism of a policy.
#[must_use]
pub const fn mechanism(policy: ServerPolicy) -> Policy {
    match policy {
        ServerPolicy::ByFlow => Policy::ByFlow,
        ServerPolicy::KernelHash => Policy::KernelHash,
        ServerPolicy::Stealing => Policy::Stealing,
        ServerPolicy::Adaptive => Policy::Adaptive,
        ServerPolicy::ByCpu => Policy::ByCpu,
        ServerPolicy::Exclusive => Policy::Exclusive,
        ServerPolicy::SharedLifo => Policy::SharedLifo,
        ServerPolicy::SharedFifo => Policy::SharedFifo,
    }
}

/// Predicts what `request` asks with `costs`, and runs it on `bench`. Calls `observer` before every round.
///
/// # Errors
/// If something cannot be predicted or run, or the user stops.
pub fn compare(
    bench: &mut dyn ServerBench,
    request: &ServerRequest,
    costs: &ServerCosts,
    mut observer: impl FnMut(Progress),
) -> Result<ServerComparison, CompareServersError> {
    let predictor = Predictor::new(costs, request.cpus.len(), request.seed)?;
    let capacities = request.policies.iter().map(|policy| predictor.capacity(*policy));
    let capacities = capacities.collect::<Result<Vec<_>, _>>()?;
    let least = capacities.iter().map(|capacity| capacity.mean.0).fold(f64::INFINITY, f64::min);
    let rates = match &request.loads {
        Loads::Fractions(fractions) => fractions.iter().map(|load| PerSecond(least * load)).collect(),
        Loads::Rates(rates) => rates.clone(),
    };
    let empty = |(&policy, capacity)| ComparedPolicy { policy, capacity, points: Vec::new() };
    let mut compared: Vec<ComparedPolicy> = request.policies.iter().zip(capacities).map(empty).collect();
    let mut notes = bench.notes();
    notes.extend(poorly_known(costs));
    for (index, &rate) in rates.iter().enumerate() {
        let mut runs: Vec<Vec<LoadFigures>> = vec![Vec::new(); compared.len()];
        for round in 0..ROUNDS {
            let stage =
                format!("load {} of {}, {rate}: round {} of {ROUNDS}", index + 1, rates.len(), round + 1);
            let done = (index as f64 + round as f64 / ROUNDS as f64) / rates.len() as f64;
            observer(Progress { stage, done });
            for turn in 0..compared.len() {
                let at = (turn + round) % compared.len();
                let seed = request.seed.wrapping_add((index * ROUNDS + round) as u64);
                runs[at].extend(bench.run(&request.load(compared[at].policy, rate, seed))?);
            }
        }
        for (compared, runs) in compared.iter_mut().zip(runs) {
            let fates = Fates::of(&runs);
            notes.extend(without_priority(&fates).filter(|note| !notes.contains(note)));
            if fates.lost as f64 > LOST * fates.requests as f64 {
                notes.push(format!(
                    "under {} at {rate} {} of {} requests were lost; delays are those of the others",
                    compared.policy, fates.lost, fates.requests
                ));
            }
            compared.points.push(ServerPoint {
                load: rate.0 / compared.capacity.mean.0,
                rate,
                predicted: predictor.predict(compared.policy, rate)?,
                measured: ServerFigures::from_runs(&runs),
                lost: fates.lost as f64 / fates.requests.max(1) as f64,
                disturbed: fates.disturbed,
                fell_behind: fates.fell_behind,
            });
        }
    }
    Ok(ServerComparison { compared, notes })
}

/// The share of lost requests above which a reader is told.
const LOST: f64 = 0.005;

fn without_priority(fates: &Fates) -> Option<String> {
    let reason = fates.without_priority.as_ref()?;
    Some(format!(
        "sources had no real-time priority ({reason}), so workers gave way to them instead (SCHED_IDLE)"
    ))
}

impl ServerRequest {
    fn load(&self, policy: ServerPolicy, rate: PerSecond, seed: u64) -> Load {
        Load {
            policy: mechanism(policy),
            cpus: self.cpus.clone(),
            service: self.service.clone(),
            rate,
            long: self.long,
            seed,
        }
    }
}
