//! What the runtime itself costs, measured with packets that only pass the time: everything is as in
//! the run to be predicted, policy, workers, other work and traffic, but for the protocol stack.
//!
//! * Far below what can be done, a packet's delay, less what it passes, is what it takes until an idle
//!   processor has *turned* to it.
//! * At higher loads, packets follow each other on their processors. What *deciding* costs them, which
//!   is taking them in, asking the policy, and waiting for the others who ask, is what the simulator
//!   must charge them for packets to be delayed as they were in the rehearsal. It depends on the
//!   load: those who ask are more at higher ones, and more is done for several packets at once. So it is
//!   rehearsed at the very rate of the run, and next to it: the machine is faster at one time than at another.

use super::CompareError;
use super::nearness::Nearness;
use super::quiet::Ran;
use super::trial::{ROUNDS, round};
use std::path::Path;
use warmcore_costs::Profile;
use warmcore_runtime::Steady;
use warmcore_runtime::clock::Clock;
use warmcore_runtime::from_scenario::Setup;
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_sim::packet::simulate;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The load at which turning is measured, as a fraction of what can be done without a stack: hardly any
/// packet waits for another there.
const LIGHT: f64 = 0.1;
/// Steps of the search for what deciding costs: to a five-hundredth of all that it can.
const STEPS: usize = 9;
/// How exactly is simulated meanwhile.
const PRECISION: f64 = 0.01;

/// What the runtime costs.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeCosts {
    /// For each packet that follows another on its processor.
    pub deciding: Estimate<Nanos>,
    /// For each packet that finds its processor at other work.
    pub turning: Estimate<Nanos>,
}

impl RuntimeCosts {
    /// `scenario` with these costs, and that of its handler, for the simulator.
    #[must_use]
    pub fn charged_to(&self, scenario: &PacketScenario) -> PacketScenario {
        let effects = Effects {
            decision_ns: self.deciding.mean.0 + scenario.live.handler_ns,
            start_ns: (self.turning.mean - self.deciding.mean).0,
            ..scenario.effects
        };
        PacketScenario { effects, ..scenario.clone() }
    }

    /// The same with deciding at the lower and the upper end of its interval.
    #[must_use]
    pub fn bounds(&self) -> [Self; 2] {
        let Estimate { mean, half_width } = self.deciding;
        let half = half_width.unwrap_or(Nanos::ZERO);
        [(mean - half).0.max(0.0), (mean + half).0]
            .map(|deciding| Self { deciding: Estimate::new(Nanos(deciding), Nanos::ZERO), ..*self })
    }
}

/// Runs of one way to schedule with packets that only pass the time.
#[derive(Debug)]
pub struct Rehearsals<'a> {
    scenario: &'a PacketScenario,
    profile: &'a Profile,
    base: &'a Path,
    /// How long packets pass the time for: as long as a packet of the scenario typically takes.
    passed: Nanos,
    /// The profile of such packets.
    constant: Profile,
    /// How long a packet takes a worker, all told, where they follow each other without end.
    cycle: Estimate<Nanos>,
}

impl<'a> Rehearsals<'a> {
    /// For `scenario`, whose packets take what `profile` says.
    ///
    /// # Errors
    /// If it cannot be run, or the workers hardly ran in any rehearsal.
    pub fn of(
        scenario: &'a PacketScenario,
        profile: &'a Profile,
        base: &'a Path,
        nearness: &mut Nearness<'_>,
    ) -> Result<Self, CompareError> {
        let passed = typical(scenario, profile, base)?;
        let constant = profile.with_constant_time(passed);
        let unknown = Estimate::new(Nanos::INFINITY, Nanos::INFINITY);
        let mut all = Self { scenario, profile, base, passed, constant, cycle: unknown };
        let workers = f64::from(scenario.processors);
        let mut cycles = Vec::new();
        for _ in 0..ROUNDS {
            cycles.extend(all.run(None, nearness)?.outcome.map(|steady| cycle(&steady, workers)));
        }
        all.cycle = median(cycles).ok_or(CompareError::Disturbed("what can be done"))?;
        Ok(all)
    }

    /// What the runtime costs a packet that follows another where there are always more.
    #[must_use]
    pub fn saturated(&self) -> RuntimeCosts {
        let deciding = Estimate { mean: Nanos((self.cycle.mean - self.passed).0.max(0.0)), ..self.cycle };
        RuntimeCosts { deciding, turning: deciding }
    }

    /// A rate at which hardly any packet waits.
    #[must_use]
    pub fn light_rate(&self) -> PerSecond {
        PerSecond(f64::from(self.scenario.processors) / self.cycle.mean.secs() * LIGHT)
    }

    /// A rehearsal at `rate`, or with as many packets as the workers can do; nothing comes of it if they
    /// hardly ran.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run(
        &self,
        rate: Option<PerSecond>,
        nearness: &mut Nearness<'_>,
    ) -> Result<Ran<Option<Steady>>, CompareError> {
        let scenario = PacketScenario { rate_per_s: rate, ..self.scenario.clone() };
        nearness.hold(|| rehearse(&scenario, self.passed, self.profile, self.base))
    }

    /// What the runtime costs where packets arrive at `rate`, if this came of rehearsals at that rate and
    /// at the light one.
    ///
    /// # Errors
    /// If it cannot be simulated.
    pub fn costs(
        &self,
        rate: PerSecond,
        busy: &Steady,
        light: &Steady,
    ) -> Result<RuntimeCosts, CompareError> {
        let (delay, light) = (busy.delay(), typical_delay(light));
        let turning = Estimate { mean: Nanos((light.mean - self.passed).0.max(0.0)), ..light };
        let half = delay.half_width.unwrap_or(Nanos::ZERO);
        let implied = |delay: Nanos| {
            implied_by(delay, turning.mean, self.passed, rate, self.scenario, &self.constant, self.base)
        };
        let [low, mean, high] =
            [implied(delay.mean - half)?, implied(delay.mean)?, implied(delay.mean + half)?];
        Ok(RuntimeCosts { deciding: Estimate::new(mean, (high - low) / 2.0), turning })
    }
}

/// What deciding costs if packets are delayed for `delay` in a rehearsal.
fn implied_by(
    delay: Nanos,
    turning: Nanos,
    passed: Nanos,
    rate: PerSecond,
    scenario: &PacketScenario,
    constant: &Profile,
    base: &Path,
) -> Result<Nanos, CompareError> {
    let delayed = |deciding: Nanos| {
        let effects =
            Effects { decision_ns: deciding.0, start_ns: (turning - deciding).0, ..scenario.effects };
        let mut scenario = PacketScenario { effects, rate_per_s: Some(rate), ..scenario.clone() };
        scenario.run.precision = PRECISION;
        let outcome = simulate(&scenario, constant, base)?.outcome;
        Ok::<_, CompareError>(outcome.map_or(Nanos::INFINITY, |outcome| outcome.delay.mean))
    };
    // No more than leaves the processors time for it.
    let workers = f64::from(scenario.processors);
    let (mut low, mut high) = (Nanos::ZERO, Nanos((rate.interval() * workers - passed).0.max(0.0)));
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if delayed(middle)?.0 < delay.0 { low = middle } else { high = middle }
    }
    Ok((low + high) / 2.0)
}

/// The mean delay in a typical part of a run: where packets hardly wait, what disturbs a few of them
/// is not for all to pay.
fn typical_delay(steady: &Steady) -> Estimate<Nanos> {
    Some(steady.typical_delay()).filter(known).unwrap_or_else(|| steady.delay())
}

/// The median of `estimates`, with half of their spread if that is wider than the interval; `None` if there
/// are none.
fn median(mut estimates: Vec<Estimate<Nanos>>) -> Option<Estimate<Nanos>> {
    estimates.sort_by(|a, b| a.mean.0.total_cmp(&b.mean.0));
    let (least, greatest) = (estimates.first()?, estimates.last()?);
    let middle = estimates[estimates.len() / 2];
    let spread = (greatest.mean - least.mean) / 2.0;
    let half = middle.half_width.unwrap_or(Nanos::INFINITY);
    Some(Estimate::new(middle.mean, Nanos(half.0.max(spread.0))))
}

/// What a packet costs a worker, all told; where no two packets followed each other undisturbed, as
/// the rate of those that `busy` workers finished has it.
fn cycle(steady: &Steady, busy: f64) -> Estimate<Nanos> {
    Some(steady.cycle())
        .filter(known)
        .unwrap_or_else(|| Estimate::new(steady.throughput().mean.interval() * busy, Nanos::INFINITY))
}

fn known(time: &Estimate<Nanos>) -> bool {
    time.mean.0.is_finite()
}

/// What a packet takes in stack and handler, as predicted at half of capacity.
fn typical(scenario: &PacketScenario, profile: &Profile, base: &Path) -> Result<Nanos, CompareError> {
    let at = |rate: PerSecond| PacketScenario {
        effects: Effects::NONE,
        rate_per_s: Some(rate),
        ..scenario.clone()
    };
    let capacity = simulate(&at(PerSecond(1.0)), profile, base)?.capacity;
    let half = simulate(&at(PerSecond(capacity.rate.mean.0 / 2.0)), profile, base)?;
    let service = half.outcome.map_or(capacity.service, |outcome| outcome.service);
    Ok(service.mean + Nanos(scenario.live.handler_ns))
}

/// A run with packets that take `passed` each.
fn rehearse(
    scenario: &PacketScenario,
    passed: Nanos,
    profile: &Profile,
    base: &Path,
) -> Result<Ran<Option<Steady>>, CompareError> {
    let mut setup = Setup::of(scenario, profile, base)?;
    // To look at the clock until the time has passed takes two looks, the last of them half in vain.
    setup.options.instead = Some(Nanos((passed - Clock::start().cost() * 1.5).0.max(0.0)));
    // To pass the time is not to be kept from running.
    setup.options.stall += passed * 2.0;
    Ok(round(setup, scenario.live.seconds)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rehearsal_that_went_wrong_does_not_count_but_shows() {
        let all = [213.0, 695.0, 185.0].map(|mean| Estimate::new(Nanos(mean), Nanos(2.0)));
        let middle = median(all.to_vec()).unwrap();
        assert_eq!((middle.mean, middle.half_width), (Nanos(213.0), Some(Nanos(255.0))));
    }
}
