//! Predicts a load, with the simulator and with a null model.
//!
//! The *null model* knows everything that the prediction knows except the effects of caches: the same
//! simulator, policy, traffic and runtime costs, but every packet takes the mean time in the stack of the
//! reference runs. Whatever the prediction does better comes from the model of caches.

use super::CompareError;
use super::costs::{RuntimeCosts, decides_alone};
use super::figures::LoadFigures;
use warmcore_costs::{Profile, Situation};
use warmcore_scenario::{Mode, OpenTraffic, PacketScenario, Parallelism};
use warmcore_sim::packet::{Outcome, Point, highest_rate};
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Number of simulations that a quantile is averaged over.
const SEEDS: u64 = 5;

/// The predictions for one load; `None` if packets would arrive faster than they can be processed.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// By the model.
    pub model: Option<LoadFigures>,
    /// By the null model.
    pub null: Option<LoadFigures>,
    /// The share of its time in the stack during which a packet is not alone there. Other workers use the
    /// stack's lines and locks meanwhile, which neither model includes.
    pub together: f64,
}

/// Predicts with a profile and the costs of the runtime.
#[derive(Debug)]
pub struct Predictor<'a> {
    profile: Profile,
    costs: &'a [RuntimeCosts],
    traffic: &'a OpenTraffic,
}

impl<'a> Predictor<'a> {
    /// Predicts with `profile`, as far as it applies to `scenario`.
    #[must_use]
    pub fn new(
        scenario: &PacketScenario,
        traffic: &'a OpenTraffic,
        profile: &Profile,
        costs: &'a [RuntimeCosts],
    ) -> Self {
        Self { profile: between_packets(scenario, profile), costs, traffic }
    }

    /// The highest rate that `scenario` could be run at.
    ///
    /// # Errors
    /// If it cannot be simulated.
    pub fn capacity(&self, scenario: &PacketScenario) -> Result<Estimate<PerSecond>, CompareError> {
        let scenario = with_handler(self.costs(scenario)?.charged_to(scenario));
        Ok(highest_rate(&scenario, self.traffic, &self.profile)?.rate)
    }

    /// Predicts `scenario` at its rate.
    ///
    /// # Errors
    /// If it cannot be simulated.
    pub fn predict(&self, scenario: &PacketScenario) -> Result<Predicted, CompareError> {
        let runtime = self.costs(scenario)?;
        let constant = self.profile.with_constant_time(runtime.stack.mean);
        let null = simulated(&runtime.charged_to(scenario), self.traffic, &constant)?;
        let charged = |costs: &RuntimeCosts| with_handler(costs.charged_to(scenario));
        let outcome = simulated(&charged(&runtime), self.traffic, &self.profile)?;
        let mut model = outcome.map(|outcome| {
            let idle = null.map_or(1.0 - outcome.utilisation.mean, |null| found_idle(&runtime, &null));
            figures(&outcome, self.stack(&runtime, &outcome, idle, scenario))
        });
        if let Some(figures) = &mut model {
            // The interval also includes the uncertainty of the runtime's costs.
            let mut delays = [Nanos::INFINITY; 2];
            for (delay, bound) in delays.iter_mut().zip(runtime.bounds()) {
                let (scenario, traffic) = (charged(&bound), self.traffic);
                if let Some(outcome) = Point::new(&scenario, traffic, &self.profile)?.simulate()?.outcome {
                    *delay = outcome.delay.mean;
                }
            }
            let [low, high] = delays;
            let own = figures.delay.half_width.unwrap_or(Nanos::INFINITY);
            figures.delay.half_width = Some(Nanos(own.0.hypot((high - low).0 / 2.0)));
        }
        let null = null.map(|outcome| figures(&outcome, runtime.stack));
        let stack = model.as_ref().map_or(runtime.stack, |figures| figures.stack);
        Ok(Predicted { model, null, together: together(scenario, stack.mean) })
    }

    /// The costs for the kind of dispatcher that `scenario` uses.
    fn costs(&self, scenario: &PacketScenario) -> Result<RuntimeCosts, CompareError> {
        let alone = decides_alone(scenario, &self.profile)?;
        let fitted = self.costs.iter().find(|costs| costs.alone == alone);
        fitted.copied().ok_or(CompareError::Disturbed("what the runtime costs"))
    }

    /// The stack's part of the mean service time. `idle` is the share of packets that found their processor
    /// busy with other work.
    fn stack(
        &self,
        costs: &RuntimeCosts,
        outcome: &Outcome,
        idle: f64,
        scenario: &PacketScenario,
    ) -> Estimate<Nanos> {
        let RuntimeCosts { deciding, starting, .. } = *costs;
        let runtime = deciding.mean + (starting.mean - deciding.mean) * idle;
        let own = outcome.service.half_width.unwrap_or(Nanos::INFINITY);
        let calibrated = self.uncertainty(outcome, scenario);
        Estimate::new(outcome.service.mean - runtime, Nanos(own.0.hypot(calibrated.0)))
    }

    /// The uncertainty of the profile's times in the situations that packets met. At worst all of them have
    /// errors in the same direction.
    fn uncertainty(&self, outcome: &Outcome, scenario: &PacketScenario) -> Nanos {
        let times = self.profile.times.get(scenario.scheduling.approach.costs());
        let half = |situation: Situation| times.get(situation)?.hot.half_width;
        let all: u64 = outcome.situations.iter().sum();
        let of = |(situation, packets): (Situation, u64)| {
            half(situation).unwrap_or(Nanos::ZERO) * (packets as f64 / all.max(1) as f64)
        };
        Situation::all().zip(outcome.situations).filter(|(_, packets)| *packets > 0).map(of).sum()
    }
}

/// The share of packets that found their processor busy with other work, if all took equally long in the
/// stack.
fn found_idle(costs: &RuntimeCosts, constant: &Outcome) -> f64 {
    let RuntimeCosts { deciding, starting, stack, .. } = *costs;
    let extra = starting.mean - deciding.mean;
    if extra.0.abs() < 1e-3 {
        return 0.0;
    }
    ((constant.service.mean - stack.mean - deciding.mean) / extra).clamp(0.0, 1.0)
}

/// The share of a time in the stack during which others are in the same stack, if packets take `stack` there.
/// Only under Locking is this possible.
fn together(scenario: &PacketScenario, stack: Nanos) -> f64 {
    let PacketScenario { scheduling, processors, rate_per_s, .. } = scenario;
    if scheduling.approach != Parallelism::Locking {
        return 0.0;
    }
    let others = 1.0 - 1.0 / f64::from(*processors);
    (rate_per_s.map_or(0.0, |rate| rate.0) * stack.secs() * others).min(1.0)
}

fn figures(outcome: &Outcome, stack: Estimate<Nanos>) -> LoadFigures {
    let all: u64 = outcome.situations.iter().sum();
    LoadFigures {
        delay: outcome.delay,
        p50: outcome.quantiles.p50,
        p99: outcome.quantiles.p99,
        stack,
        situations: outcome.situations.map(|packets| packets as f64 / all as f64),
    }
}

/// Simulates `scenario` with the times of `profile`. Quantiles are means over [`SEEDS`] simulations, with the
/// interval given by their spread, as for repeated runs.
fn simulated(
    scenario: &PacketScenario,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> Result<Option<Outcome>, CompareError> {
    let with_seed = |seed: u64| PacketScenario { seed: scenario.seed.wrapping_add(seed), ..scenario.clone() };
    let outcomes =
        (0..SEEDS).map(|seed| Ok(Point::new(&with_seed(seed), traffic, profile)?.simulate()?.outcome));
    let outcomes = outcomes.collect::<Result<Option<Vec<Outcome>>, CompareError>>()?;
    let Some([first, ..]) = outcomes.as_deref() else { return Ok(None) };
    let over_seeds = |of: fn(&Outcome) -> Nanos| {
        let values: Vec<f64> = outcomes.iter().flatten().map(|outcome| of(outcome).0).collect();
        let Interval { mean, half_width, .. } = Interval::from_observations(&values);
        Estimate::new(Nanos(mean), Nanos(half_width))
    };
    let mut outcome = *first;
    outcome.quantiles.p50 = over_seeds(|outcome| outcome.quantiles.p50.mean);
    outcome.quantiles.p99 = over_seeds(|outcome| outcome.quantiles.p99.mean);
    Ok(Some(outcome))
}

/// Adds the handler's computation to a profile's times.
fn with_handler(mut charged: PacketScenario) -> PacketScenario {
    charged.effects.decision_ns += charged.live.handler_ns;
    charged
}

/// `profile` as far as it applies to `scenario`: processors that do nothing between packets do not displace
/// the contents of their caches.
fn between_packets(scenario: &PacketScenario, profile: &Profile) -> Profile {
    let mut profile = profile.clone();
    if scenario.live.mode == Mode::Fixed || scenario.live.work_kib == 0 {
        profile.intervening.references_per_us = f64::MIN_POSITIVE;
    }
    profile
}
