//! Predicts a server's figures with the simulator, and how far they move with costs that are as likely as those measured.

use super::figures::ServerFigures;
use crate::predictions::NORMAL_95;
use rand_distr::{Distribution, StandardNormal};
use warmcore_costs::ServerCosts;
use warmcore_scenario::ServerPolicy;
use warmcore_sim::server::{Figures, MissingCosts, Outcome, Server, Terms, capacity, simulate};
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::random::{Key, Purpose};

/// The costs that are drawn within the intervals of those measured.
const DRAWS: u64 = 12;

/// Why a load cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum PredictServerError {
    /// Costs are missing.
    #[error(transparent)]
    Missing(#[from] MissingCosts),
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
        for policy in ServerPolicy::ALL {
            Terms::new(costs, policy.waiting(), processors)?;
        }
        let draw = |index| {
            let mut random = Key { seed, point: index, replication: 0 }.stream(Purpose::Costs);
            costs.varied(&mut || StandardNormal.sample(&mut random))
        };
        Ok(Self { costs, drawn: (0..DRAWS).map(draw).collect(), processors, seed })
    }

    /// The highest rate that the server keeps up with.
    ///
    /// # Errors
    /// If costs are missing.
    pub fn capacity(&self, policy: ServerPolicy) -> Result<Estimate<PerSecond>, PredictServerError> {
        let terms = Terms::new(self.costs, policy.waiting(), self.processors)?;
        Ok(capacity(&self.server(&terms, policy), self.seed))
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
        let Some(best) = self.one(self.costs, policy, rate)? else { return Ok(None) };
        let drawn = self.drawn.iter().map(|costs| self.one(costs, policy, rate));
        let drawn = drawn.collect::<Result<Vec<_>, _>>()?;
        let time = |of: fn(&Figures) -> Estimate<Nanos>| {
            let value = of(&best);
            let moved = drawn.iter().flatten().map(|figures| of(figures).mean.0 - value.mean.0);
            let squares: Vec<f64> = moved.map(|moved| moved.powi(2)).collect();
            let spread = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
            let own = value.half_width.map_or(f64::INFINITY, |half| half.0);
            Estimate::new(value.mean, Nanos(own.hypot(NORMAL_95 * spread)))
        };
        let figures = ServerFigures {
            delay: time(|figures| figures.delay),
            p50: time(|figures| figures.p50),
            p99: time(|figures| figures.p99),
            worker_cpu: time(|figures| figures.worker_cpu),
            call: time(|figures| figures.call),
            here: best.here,
        };
        let cpu = |figures: &Figures| (figures.worker_cpu.mean + figures.call.mean).0;
        let drawn_cpu = drawn.iter().map(|figures| figures.as_ref().map(cpu)).collect();
        Ok(Some(PredictedServer { figures, drawn_cpu }))
    }

    fn server<'t>(&self, terms: &'t Terms, policy: ServerPolicy) -> Server<'t> {
        Server { terms, policy, processors: self.processors, flows: self.costs.flows }
    }

    fn one(
        &self,
        costs: &ServerCosts,
        policy: ServerPolicy,
        rate: PerSecond,
    ) -> Result<Option<Figures>, PredictServerError> {
        let terms = Terms::new(costs, policy.waiting(), self.processors)?;
        Ok(match simulate(&self.server(&terms, policy), rate, self.seed, 0) {
            Outcome::Steady(figures) => Some(figures),
            Outcome::Saturated => None,
        })
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
