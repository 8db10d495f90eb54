//! What the runtime itself costs: fitted at one load under one policy, and frozen.
//!
//! There are two of these fits where workers that decide alone are compared with workers that share a dispatcher.
//! Its lock and its lines go from one to the other with every packet: the same packets were measured to cost the
//! runtime 250 ns with a dispatcher for two workers and 150 ns with one for each, both the same from a tenth to half
//! of what can be done.
//!
//! Of the reference runs, two times are taken:
//!
//! * What a packet that follows another on its processor costs that processor besides its time in the stack is
//!   *deciding*: taking packets in, asking the policy, waiting for others who ask, and the books.
//! * A packet that finds its processor at other work waits until it has *started*. What that takes is what
//!   the simulator must charge such packets for all to be delayed as they were.
//!
//! The stack's time in both is the one that was timed there, not the predicted one: an error of the profile
//! cannot hide in what is fitted. Every other load, and every policy with a dispatcher of that kind,
//! is predicted with these costs as they are.

use super::CompareError;
use super::figures::Repeated;
use super::live::{Testbed, repeat};
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_scenario::{Effects, OpenTraffic, PacketScenario, Scheduling};
use warmcore_sim::packet::Point;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The load of the reference runs, as a fraction of what can be done when packets come without end. Several
/// are then handled at a time, which is cheaper: of what can be done with packets one by one, it is some
/// quarter.
const LIGHT: f64 = 0.1;
/// Steps of the search for what starting costs: to a five-hundredth of all that it can.
const STEPS: usize = 9;
/// How exactly is simulated meanwhile.
const PRECISION: f64 = 0.01;

/// What the runtime costs, and where that was found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RuntimeCosts {
    /// For each packet.
    pub deciding: Estimate<Nanos>,
    /// For each packet that finds its processor at other work, deciding included.
    pub starting: Estimate<Nanos>,
    /// What the stack took there, with the handler: what the null model takes it to be everywhere.
    pub stack: Estimate<Nanos>,
    /// Under which policy.
    pub scheduling: Scheduling,
    /// At which rate.
    pub rate: PerSecond,
    /// Whether each worker decides alone under it; else they share a dispatcher.
    pub alone: bool,
}

/// Whether each worker decides alone under the scheduling of `scenario`.
///
/// # Errors
/// If `profile` has not the costs that its policy weighs.
pub fn decides_alone(scenario: &PacketScenario, profile: &Profile) -> Result<bool, CompareError> {
    let PacketScenario { scheduling, processors, .. } = scenario;
    let model = ExecutionModel::new(profile, scheduling.approach.costs(), *processors)?;
    Ok(warmcore_runtime::decides_alone(scheduling, *processors, &model))
}

impl RuntimeCosts {
    /// Runs `scenario` on `testbed` with packets without end, to find a light load, then at that load, and takes
    /// the costs from there.
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
        let rate = PerSecond(without_end.throughput.0 * LIGHT);
        if rate.0 <= 0.0 {
            return Err(disturbed());
        }
        let scenario = at(Some(rate));
        let reference = repeat(testbed, &scenario)?.ok_or_else(disturbed)?;
        if !reference.beside.mean.0.is_finite() {
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
        let deciding = Estimate { mean: reference.beside.mean.max(Nanos::ZERO), ..reference.beside };
        let constant = profile.with_constant_time(stack.mean);
        let starting = implied(delay.mean, deciding.mean, scenario, traffic, &constant)?;
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

    /// The same with all costs at the lower and the upper ends of their intervals.
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

/// What starting takes if packets of a `constant` time are delayed for `delay`.
fn implied(
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
