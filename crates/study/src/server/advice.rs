//! Which way to share a port costs least at which rate, by prediction.

use super::compare::{ServerBench, mechanism};
use super::doubts::poorly_known;
use super::figures::ServerFigures;
use super::predict::{PredictServerError, Predictor};
use core::time::Duration;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_costs::server::UserFile;
use warmcore_costs::socket::Network;
use warmcore_costs::{ServerCosts, SocketProfile};
use warmcore_measure::RunError;
use warmcore_measure::requests::load::{Load, LoadFigures};
use warmcore_measure::requests::service::Service;
use warmcore_scenario::ServerPolicy;
use warmcore_stats::Interval;
use warmcore_units::{CpuId, Estimate, PerSecond};

/// The loads at which policies are compared, as fractions of the smallest capacity.
const LOADS: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/// A saving smaller than this is none, whatever its interval.
const NEGLIGIBLE: f64 = 0.03;

/// The predictions for all policies, and what follows from them.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerAdvice {
    /// Bytes of its flow's state that the handler uses.
    pub state_bytes: usize,
    /// The library that handles requests.
    pub library: Option<UserFile>,
    /// The processors.
    pub processors: usize,
    /// By policy: the capacity.
    pub capacities: Vec<(ServerPolicy, Estimate<PerSecond>)>,
    /// By rate, ascending.
    pub rates: Vec<RateAdvice>,
    /// The saving at the rate [spoken of](Self::spoken), as runs show it; `None` if it was not run.
    pub verified: Option<Verified>,
}

/// A saving that was run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verified {
    /// Requests per second.
    pub rate: PerSecond,
    /// The policy predicted to cost least.
    pub policy: ServerPolicy,
    /// The one predicted to cost most.
    pub other: ServerPolicy,
    /// What the first saves of the other's processor time for a request, as a fraction; the interval is that of the rounds.
    pub saving: Estimate<f64>,
}

/// The load that a report speaks of first, as a fraction of the smallest capacity.
const SPOKEN: f64 = 0.5;
/// Rounds of a verification, each of which runs both policies.
const ROUNDS: u64 = 6;
/// How long each is run.
const LONG: Duration = Duration::from_millis(300);

impl ServerAdvice {
    /// The rate that a report speaks of first: half of the smallest capacity, or the next below at which someone keeps up.
    #[must_use]
    pub fn spoken(&self) -> Option<&RateAdvice> {
        let least = least(&self.capacities);
        let mut below =
            self.rates.iter().filter(|at| at.rate.0 <= least * SPOKEN * 1.01 && at.cheapest.is_some());
        below.next_back()
    }

    /// Runs the cheapest policy and the most expensive one at the rate spoken of, with this `service`, on `cpus`.
    ///
    /// # Errors
    /// If a server cannot be run.
    pub fn verify(
        &mut self,
        bench: &mut dyn ServerBench,
        service: &Service,
        cpus: &[CpuId],
        seed: u64,
    ) -> Result<(), RunError> {
        let Some((rate, policy, other)) = self.spoken().and_then(|at| {
            let cheapest = at.cheapest.as_ref()?;
            Some((at.rate, cheapest.policy, cheapest.most()?.0))
        }) else {
            return Ok(());
        };
        let cpus = cpus.to_vec();
        let load = |policy, round| Load {
            policy: mechanism(policy),
            cpus: cpus.clone(),
            service: service.clone(),
            rate,
            long: LONG,
            seed: seed.wrapping_add(round),
        };
        let mut savings = Vec::new();
        for round in 0..ROUNDS {
            let [own, others] = [policy, other].map(|policy| bench.run(&load(policy, round)));
            if let (Some(own), Some(others)) = (own?, others?) {
                let cpu = |figures: &LoadFigures| (figures.worker_cpu + figures.call).0;
                savings.push(1.0 - cpu(&own) / cpu(&others));
            }
        }
        let Interval { mean, half_width, .. } = Interval::from_observations(&savings);
        self.verified = (savings.len() > 1).then(|| Verified {
            rate,
            policy,
            other,
            saving: Estimate::new(mean, half_width),
        });
        Ok(())
    }
}

fn least(capacities: &[(ServerPolicy, Estimate<PerSecond>)]) -> f64 {
    capacities.iter().map(|(_, capacity)| capacity.mean.0).fold(f64::INFINITY, f64::min)
}

/// The advice for each handler whose costs are known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ServerFindings {
    /// By handler.
    pub advice: Vec<ServerAdvice>,
    /// What a reader should know about the costs.
    pub notes: Vec<String>,
}

impl ServerFindings {
    /// The advice for each handler of `profile`, on this number of processors.
    ///
    /// # Errors
    /// As [`advise`].
    pub fn new(
        profile: &SocketProfile,
        processors: usize,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Self, PredictServerError> {
        let advice = profile.servers.iter().map(|costs| advise(costs, processors, seed, stop));
        let mut notes = Vec::new();
        if profile.network == Network::Loopback {
            notes.push("Requests crossed loopback, as no network of our own could be made.".to_owned());
        }
        notes.extend(profile.servers.iter().filter_map(poorly_known));
        notes.dedup();
        Ok(Self { advice: advice.collect::<Result<_, _>>()?, notes })
    }
}

/// The policies at one rate.
#[derive(Clone, PartialEq, Debug)]
pub struct RateAdvice {
    /// The rate.
    pub rate: PerSecond,
    /// What each policy costs; those that do not keep up are left out.
    pub figures: Vec<(ServerPolicy, ServerFigures)>,
    /// The one with the least processor time for a request.
    pub cheapest: Option<Cheapest>,
}

/// The policy that costs least, and how much less than others.
#[derive(Clone, PartialEq, Debug)]
pub struct Cheapest {
    /// The policy.
    pub policy: ServerPolicy,
    /// What it saves of the processor time of each other policy, as a fraction; with the interval that the costs give.
    pub savings: Vec<(ServerPolicy, Estimate<f64>)>,
}

impl Cheapest {
    /// The saving over the policy that costs most.
    #[must_use]
    pub fn most(&self) -> Option<(ServerPolicy, Estimate<f64>)> {
        self.savings.iter().copied().max_by(|one, other| one.1.mean.total_cmp(&other.1.mean))
    }

    /// The policies that it cannot be told from: the saving is negligible, or its interval includes none.
    pub fn equals(&self) -> impl Iterator<Item = ServerPolicy> {
        let is_equal = |saving: &Estimate<f64>| {
            saving.mean < NEGLIGIBLE || saving.half_width.is_none_or(|half| half >= saving.mean)
        };
        self.savings.iter().filter(move |(_, saving)| is_equal(saving)).map(|(policy, _)| *policy)
    }
}

/// Predicts all policies at rates from a hundredth of the smallest capacity.
///
/// # Errors
/// If the costs lack something, or `stop` is set.
pub fn advise(
    costs: &ServerCosts,
    processors: usize,
    seed: u64,
    stop: &AtomicBool,
) -> Result<ServerAdvice, PredictServerError> {
    let predictor = Predictor::new(costs, processors, seed)?;
    let capacity = |policy: ServerPolicy| Ok((policy, predictor.capacity(policy)?));
    let capacities =
        ServerPolicy::BASIC.into_iter().map(capacity).collect::<Result<Vec<_>, PredictServerError>>()?;
    let least = least(&capacities);
    let rates = LOADS
        .into_par_iter()
        .map(|load| {
            if stop.load(Ordering::Relaxed) {
                return Err(PredictServerError::Interrupted);
            }
            at(&predictor, PerSecond(least * load))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let (state_bytes, library) = (costs.state_bytes, costs.library.clone());
    Ok(ServerAdvice { state_bytes, library, processors, capacities, rates, verified: None })
}

fn at(predictor: &Predictor<'_>, rate: PerSecond) -> Result<RateAdvice, PredictServerError> {
    let mut all = Vec::new();
    for policy in ServerPolicy::BASIC {
        if let Some(predicted) = predictor.with_draws(policy, rate)? {
            all.push((policy, predicted));
        }
    }
    let cpu = |figures: &ServerFigures| figures.cpu().mean.0;
    let least = all.iter().min_by(|one, other| cpu(&one.1.figures).total_cmp(&cpu(&other.1.figures)));
    let cheapest = least.map(|(policy, least)| {
        let others = all.iter().filter(|(other, _)| other != policy);
        let savings = others.map(|(other, predicted)| (*other, least.saving_over(predicted))).collect();
        Cheapest { policy: *policy, savings }
    });
    let figures = all.iter().map(|(policy, predicted)| (*policy, predicted.figures)).collect();
    Ok(RateAdvice { rate, figures, cheapest })
}
