//! The runtime's own costs: fitted at one load under one policy, then fixed.
//!
//! There are two such fits if workers that decide alone are compared with workers that share a dispatcher.
//! The lock and the lines of a shared dispatcher move between workers with every packet: the same packets
//! were measured to cost the runtime 250 ns with one dispatcher for two workers, and 150 ns with one
//! dispatcher each, in both cases the same from a tenth to half of the capacity.
//!
//! Two times are taken from the reference runs:
//!
//! * *Deciding* is what a packet that follows another on its processor costs that processor in addition to its time
//!   in the stack: taking packets in, asking the policy, waiting for others that ask, and the bookkeeping.
//! * *Starting*: a packet that finds its processor busy with other work waits until it is started. This is the cost
//!   that the simulator must charge such packets so that all are delayed as they were.
//!
//! Both use the time in the stack that was measured in these runs, not the predicted one, so that an error of
//! the profile cannot be hidden in the fit. Every other load, and every policy with the same kind of
//! dispatcher, is predicted with these costs unchanged.

use super::CompareError;
use super::figures::Repeated;
use super::live::{Testbed, repeat};
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::{Effects, OpenTraffic, PacketScenario, Scheduling};
use warmcore_sim::packet::Point;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The load of the reference runs, as a fraction of the throughput when packets come without end. Several
/// packets are then handled at a time, which is cheaper; of the throughput with single packets it is about a
/// quarter.
const REFERENCE_LOAD: f64 = 0.1;
/// Steps of the search for the cost of starting, which reaches a five-hundredth of its range.
const STEPS: usize = 9;
/// Precision of the simulations during the search.
const PRECISION: f64 = 0.01;

/// The costs of the runtime, and where they were measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RuntimeCosts {
    /// Cost of each packet.
    pub deciding: Estimate<Nanos>,
    /// Cost of each packet that finds its processor busy with other work, including deciding.
    pub starting: Estimate<Nanos>,
    /// The time in the stack there, handler included; the null model uses it everywhere.
    pub stack: Estimate<Nanos>,
    /// The scheduling they were measured under.
    pub scheduling: Scheduling,
    /// The rate they were measured at.
    pub rate: PerSecond,
    /// Whether each worker decides alone under that scheduling; otherwise they share a dispatcher.
    pub alone: bool,
}

/// Whether each worker decides alone under the scheduling of `scenario`.
///
/// # Errors
/// If `profile` lacks the costs that its policy uses.
pub fn decides_alone(scenario: &PacketScenario, profile: &Profile) -> Result<bool, CompareError> {
    let PacketScenario { scheduling, processors, .. } = scenario;
    let model = ExecutionModel::new(profile, scheduling.approach.costs(), *processors)?;
    Ok(warmcore_runtime::decides_alone(scheduling, *processors, &model))
}

impl RuntimeCosts {
    /// Runs `scenario` on `testbed` with packets without end to find a light load, then at that load, and
    /// measures the costs there.
    ///
    /// # Errors
    /// If it cannot be run or simulated, or the workers hardly ran.
    pub fn fit(
        testbed: &mut dyn Testbed,
        scenario: &PacketScenario,
        traffic: &OpenTraffic,
        profile: &Profile,
    ) -> Result<Self, CompareError> {
        let disturbed = || CompareError::Disturbed("what the runtime costs");
        let at = |rate: Option<PerSecond>| PacketScenario { rate_per_s: rate, ..scenario.clone() };
        let without_end = repeat(testbed, &at(None))?.ok_or_else(disturbed)?;
        let rate = PerSecond(without_end.throughput.0 * REFERENCE_LOAD);
        if rate.0 <= 0.0 {
            return Err(disturbed());
        }
        let scenario = at(Some(rate));
        let reference = repeat(testbed, &scenario)?.ok_or_else(disturbed)?;
        if !reference.overhead.mean.0.is_finite() {
            return Err(disturbed());
        }
        Self::from_reference(&reference, &scenario, traffic, profile)
    }

    fn from_reference(
        reference: &Repeated,
        scenario: &PacketScenario,
        traffic: &OpenTraffic,
        profile: &Profile,
    ) -> Result<Self, CompareError> {
        let (delay, stack) = (reference.figures.delay, reference.figures.stack);
        let half = |estimate: Estimate<Nanos>| estimate.half_width.unwrap_or(Nanos::INFINITY).0;
        let deciding = Estimate { mean: reference.overhead.mean.max(Nanos::ZERO), ..reference.overhead };
        let constant = profile.with_constant_time(stack.mean);
        let starting = implied_starting_cost(delay.mean, deciding.mean, scenario, traffic, &constant)?;
        let starting = Estimate::new(starting, Nanos(half(delay).hypot(half(stack))));
        let rate = scenario.rate_per_s.unwrap_or(PerSecond(f64::NAN));
        let alone = decides_alone(scenario, profile)?;
        Ok(Self { deciding, starting, stack, scheduling: scenario.scheduling, rate, alone })
    }

    /// `scenario` with these costs, for the simulator.
    #[must_use]
    pub fn charged_to(&self, scenario: &PacketScenario) -> PacketScenario {
        let effects = Effects {
            decision_ns: self.deciding.mean.0,
            start_ns: (self.starting.mean - self.deciding.mean).0,
            ..scenario.effects
        };
        PacketScenario { effects, ..scenario.clone() }
    }

    /// The same with all costs at the lower ends of their intervals, and at the upper ends.
    #[must_use]
    pub fn bounds(&self) -> [Self; 2] {
        [-1.0, 1.0].map(|sign| {
            let end = |estimate: Estimate<Nanos>| {
                let half = estimate.half_width.filter(|half| half.0.is_finite()).unwrap_or(Nanos::ZERO);
                Estimate { mean: (estimate.mean + half * sign).max(Nanos::ZERO), ..estimate }
            };
            Self { deciding: end(self.deciding), starting: end(self.starting), ..*self }
        })
    }
}

/// The cost of starting, if packets of a `constant` time have the mean `delay`.
fn implied_starting_cost(
    delay: Nanos,
    deciding: Nanos,
    scenario: &PacketScenario,
    traffic: &OpenTraffic,
    constant: &Profile,
) -> Result<Nanos, CompareError> {
    let delayed = |starting: Nanos| {
        let effects =
            Effects { decision_ns: deciding.0, start_ns: (starting - deciding).0, ..scenario.effects };
        let mut scenario = PacketScenario { effects, ..scenario.clone() };
        scenario.run.precision = PRECISION;
        let outcome = Point::new(&scenario, traffic, constant)?.simulate()?.outcome;
        Ok::<_, CompareError>(outcome.map_or(Nanos::INFINITY, |outcome| outcome.delay.mean))
    };
    let (mut low, mut high) = (Nanos::ZERO, delay);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if delayed(middle)?.0 < delay.0 { low = middle } else { high = middle }
    }
    Ok((low + high) / 2.0)
}
