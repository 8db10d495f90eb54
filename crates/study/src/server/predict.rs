//! Predicts a server's figures with the simulator, and how far they move with costs that are as likely as those measured.

use super::figures::ServerFigures;
use crate::predictions::NORMAL_95;
use rand_distr::{Distribution, StandardNormal};
use warmcore_costs::ServerCosts;
use warmcore_scenario::ServerPolicy;
use warmcore_sim::packet::Ended;
use warmcore_sim::server::{ServerError, ServerHost, ServerOutcome, ServerPrecision, ServerSetup};
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::random::{Key, Purpose};

/// Where flows lie on workers is drawn anew in each of these simulations, as each server that starts draws it.
const PLACEMENTS: u64 = 6;
/// The costs that are drawn within the intervals of those measured.
const DRAWS: u64 = 12;
/// How precise each simulation is to be. Drawn costs move its figures by more.
const PRECISION: ServerPrecision = ServerPrecision { relative: 0.02, max_requests: 200_000 };

/// A delay so many times that of the costs as measured is that of a server which does not keep up.
const OVERLOADED: f64 = 50.0;
/// The share of the drawn costs with which a server must keep up, or nothing is known of its delays.
const STABLE: f64 = 0.8;

/// Why a load cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum PredictServerError {
    /// Costs are missing, or a rate is no rate.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Predicts with the costs of one handler.
#[derive(Debug)]
pub struct Predictor<'a> {
    costs: &'a ServerCosts,
    drawn: Vec<ServerCosts>,
    processors: usize,
    seed: u64,
}

/// A prediction, and what it is with each of the drawn costs.
#[derive(Clone, PartialEq, Debug)]
pub struct PredictedServer {
    /// The figures. Their intervals are those of the costs and of the simulation.
    pub figures: ServerFigures,
    /// Processor time for a request with each of the drawn costs; `None` where it does not keep up.
    drawn_cpu: Vec<Option<f64>>,
}

impl<'a> Predictor<'a> {
    /// Predicts for this number of `processors`.
    ///
    /// # Errors
    /// If costs are missing.
    pub fn new(costs: &'a ServerCosts, processors: usize, seed: u64) -> Result<Self, PredictServerError> {
        let predictor = Self { costs, drawn: Vec::new(), processors, seed };
        for policy in ServerPolicy::compared(costs.transport) {
            predictor.host(costs, policy, 0)?;
        }
        let draw = |index| {
            let mut random = Key { seed, point: index, replication: 0 }.stream(Purpose::Costs);
            costs.varied(&mut || StandardNormal.sample(&mut random))
        };
        Ok(Self { drawn: (0..DRAWS).map(draw).collect(), ..predictor })
    }

    /// The highest rate that the server keeps up with.
    ///
    /// # Errors
    /// If costs are missing.
    pub fn capacity(&self, policy: ServerPolicy) -> Result<Estimate<PerSecond>, PredictServerError> {
        let hosts = (0..PLACEMENTS).map(|placement| self.host(self.costs, policy, placement));
        let rates = hosts.map(|host| Ok(host?.capacity().mean.0));
        let rates = rates.collect::<Result<Vec<f64>, PredictServerError>>()?;
        let Interval { mean, half_width, .. } = Interval::from_observations(&rates);
        Ok(Estimate::new(PerSecond(mean), PerSecond(half_width)))
    }

    /// The figures at `rate`; `None` if the server does not keep up.
    ///
    /// # Errors
    /// If costs are missing.
    pub fn predict(
        &self,
        policy: ServerPolicy,
        rate: PerSecond,
    ) -> Result<Option<ServerFigures>, PredictServerError> {
        Ok(self.with_draws(policy, rate)?.map(|predicted| predicted.figures))
    }

    /// The same, with what it is with each of the drawn costs.
    ///
    /// # Errors
    /// If costs are missing.
    pub fn with_draws(
        &self,
        policy: ServerPolicy,
        rate: PerSecond,
    ) -> Result<Option<PredictedServer>, PredictServerError> {
        let placed = (0..PLACEMENTS).map(|placement| self.one(self.costs, policy, rate, placement));
        let placed = placed.collect::<Result<Vec<_>, _>>()?;
        // As long as it keeps up with most placements, those say what it takes.
        let placed: Vec<ServerOutcome> = placed.into_iter().flatten().collect();
        if placed.len() * 2 <= PLACEMENTS as usize {
            return Ok(None);
        }
        let drawn =
            (DRAWS..).zip(&self.drawn).map(|(placement, costs)| self.one(costs, policy, rate, placement));
        let drawn = drawn.collect::<Result<Vec<_>, _>>()?;
        let usual = placed.iter().map(|outcome| outcome.delay.mean.0).fold(0.0, f64::max);
        // Queues that hold for so long grow as often as not: nobody would say that this server keeps up.
        let keeps_up = |outcome: &ServerOutcome| {
            outcome.ended != Ended::Unknown && outcome.delay.mean.0 <= usual * OVERLOADED
        };
        let drawn: Vec<Option<ServerOutcome>> =
            drawn.into_iter().map(|outcome| outcome.filter(keeps_up)).collect();
        let is_stable = drawn.iter().flatten().count() as f64 >= STABLE * drawn.len() as f64;
        let time = |of: fn(&ServerOutcome) -> Estimate<Nanos>| {
            let values: Vec<f64> = placed.iter().map(|outcome| of(outcome).mean.0).collect();
            let Interval { mean, half_width, .. } = Interval::from_observations(&values);
            let moved = drawn.iter().flatten().map(|outcome| of(outcome).mean.0 - mean);
            let squares: Vec<f64> = moved.map(|moved| moved.powi(2)).collect();
            let spread = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
            Estimate::new(Nanos(mean), Nanos(half_width.hypot(NORMAL_95 * spread)))
        };
        let wait = |of: fn(&ServerOutcome) -> Estimate<Nanos>| {
            let time = time(of);
            if is_stable { time } else { Estimate::new(time.mean, Nanos::INFINITY) }
        };
        let away = placed.iter().map(|outcome| outcome.elsewhere.mean).sum::<f64>() / placed.len() as f64;
        let figures = ServerFigures {
            delay: wait(|outcome| outcome.delay),
            p50: wait(|outcome| outcome.p50),
            p99: wait(|outcome| outcome.p99),
            worker_cpu: time(|outcome| outcome.worker_cpu),
            call: time(|outcome| outcome.call),
            here: 1.0 - away,
        };
        let cpu = |outcome: &ServerOutcome| (outcome.worker_cpu.mean + outcome.call.mean).0;
        let drawn_cpu = drawn.iter().map(|outcome| outcome.as_ref().map(cpu)).collect();
        Ok(Some(PredictedServer { figures, drawn_cpu }))
    }

    fn host(
        &self,
        costs: &ServerCosts,
        policy: ServerPolicy,
        placement: u64,
    ) -> Result<ServerHost, PredictServerError> {
        let processors = self.processors as u32;
        let flows = costs.flows as u32 * processors;
        let seed = self.seed.wrapping_add(placement);
        Ok(ServerHost::new(costs, ServerSetup { policy, processors, flows, seed })?)
    }

    fn one(
        &self,
        costs: &ServerCosts,
        policy: ServerPolicy,
        rate: PerSecond,
        placement: u64,
    ) -> Result<Option<ServerOutcome>, PredictServerError> {
        let point = self.host(costs, policy, placement)?.simulate(rate, PRECISION);
        Ok(point.map_err(ServerError::from)?.outcome)
    }
}

impl PredictedServer {
    /// What this saves of the processor time of `other`, as a fraction, with the interval that the drawn costs give.
    #[must_use]
    pub fn saving_over(&self, other: &Self) -> Estimate<f64> {
        let cpu = |of: &Self| of.figures.cpu().mean.0;
        let saving = 1.0 - cpu(self) / cpu(other);
        let pairs = self.drawn_cpu.iter().zip(&other.drawn_cpu);
        let moved = pairs.filter_map(|(own, other)| Some(1.0 - (*own)? / (*other)? - saving));
        let squares: Vec<f64> = moved.map(|moved| moved.powi(2)).collect();
        let half = NORMAL_95 * (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        Estimate { mean: saving, half_width: half.is_finite().then_some(half) }
    }
}
