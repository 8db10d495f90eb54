//! What the runtime itself costs, measured with packets that only pass the time: everything is as in
//! the run to be predicted, policy, workers, other work and traffic, but for the protocol stack.
//!
//! * Far below what can be done, a packet's delay, less what it passes, is what it takes until an idle
//!   processor has *turned* to it.
//! * At higher loads, packets follow each other on their processors. What *deciding* costs them, which
//!   is taking them in, asking the policy, and waiting for the others who ask, is what the simulator
//!   must charge them for packets to be delayed as they were in the rehearsal. It depends on the
//!   load: those who ask are more at higher ones, and more is done for several packets at once.

use super::CompareError;
use super::nearness::Nearness;
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::Steady;
use warmcore_runtime::clock::Clock;
use warmcore_runtime::from_scenario::Setup;
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_sim::packet::simulate;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The loads at which deciding is measured, as fractions of what can be done without a stack. At the
/// first, hardly any packet waits for another: there turning is measured.
const LOADS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.85];
/// Steps of the search for what deciding costs: to a five-hundredth of all that it can.
const STEPS: usize = 9;
/// How exactly is simulated meanwhile.
const PRECISION: f64 = 0.01;
/// Rehearsals of each load, the median of which counts.
const REHEARSALS: usize = 3;

/// The costs of the runtime under one way to schedule.
#[derive(Clone, Debug)]
pub struct Overheads {
    /// For each packet, at rates of arrival in ascending order.
    pub deciding: Vec<(PerSecond, Estimate<Nanos>)>,
    /// For each packet that finds its processor at other work, instead.
    pub turning: Estimate<Nanos>,
}

/// The same at one rate.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeCosts {
    /// For each packet that follows another on its processor.
    pub deciding: Estimate<Nanos>,
    /// For each packet that finds its processor at other work.
    pub turning: Estimate<Nanos>,
}

impl Overheads {
    /// What the runtime costs where packets arrive at `rate`: between the rates at which it was
    /// measured, on a straight line; beyond them, as at the nearest.
    #[must_use]
    pub fn at(&self, rate: PerSecond) -> RuntimeCosts {
        let after = self.deciding.partition_point(|(measured, _)| measured.0 <= rate.0);
        let deciding = match (self.deciding.get(after.wrapping_sub(1)), self.deciding.get(after)) {
            (Some(&(from, low)), Some(&(to, high))) => {
                between(low, high, (rate.0 - from.0) / (to.0 - from.0))
            }
            (Some(&(_, end)), None) | (None, Some(&(_, end))) => end,
            (None, None) => Estimate::new(Nanos::ZERO, Nanos::INFINITY),
        };
        RuntimeCosts { deciding, turning: self.turning }
    }
}

fn between(low: Estimate<Nanos>, high: Estimate<Nanos>, part: f64) -> Estimate<Nanos> {
    let on_line = |low: Nanos, high: Nanos| low + (high - low) * part;
    let half = |estimate: Estimate<Nanos>| estimate.half_width.unwrap_or(Nanos::INFINITY);
    Estimate::new(on_line(low.mean, high.mean), on_line(half(low), half(high)))
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
}

/// Measures them for `scenario`.
///
/// # Errors
/// If it cannot be run, or too much of the run was disturbed.
pub fn measure(
    scenario: &PacketScenario,
    profile: &Profile,
    base: &Path,
    nearness: &mut Nearness,
) -> Result<Overheads, CompareError> {
    let passed = typical(scenario, profile, base)?;
    let mut rehearse = |rate: Option<PerSecond>, of: &dyn Fn(&Steady) -> Estimate<Nanos>| {
        let scenario = PacketScenario { rate_per_s: rate, ..scenario.clone() };
        let all = (0..REHEARSALS).map(|_| {
            let (steady, _) = nearness.hold(|| rehearse(&scenario, passed, profile, base))?;
            Ok(of(&steady))
        });
        Ok::<_, CompareError>(median(all.collect::<Result<_, CompareError>>()?))
    };

    let workers = f64::from(scenario.processors);
    let most = workers / rehearse(None, &|steady| cycle(steady, workers))?.mean.secs();
    let mut delays = Vec::new();
    for load in LOADS {
        let rate = PerSecond(most * load);
        delays.push((rate, rehearse(Some(rate), &Steady::delay)?));
    }

    let light = rehearse(Some(delays[0].0), &typical_delay)?;
    let turning = Estimate { mean: Nanos((light.mean - passed).0.max(0.0)), ..light };
    let constant = profile.with_constant_time(passed);
    let deciding = delays.into_iter().map(|(rate, delay)| {
        let implied = |delay: Nanos| implied_by(delay, turning.mean, passed, rate, scenario, &constant, base);
        let half = delay.half_width.unwrap_or(Nanos::ZERO);
        let [low, mean, high] =
            [implied(delay.mean - half)?, implied(delay.mean)?, implied(delay.mean + half)?];
        Ok((rate, Estimate::new(mean, (high - low) / 2.0)))
    });
    Ok(Overheads { deciding: deciding.collect::<Result<_, CompareError>>()?, turning })
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

/// The median of `estimates`, with half of their spread if that is wider than the interval.
fn median(mut estimates: Vec<Estimate<Nanos>>) -> Estimate<Nanos> {
    estimates.sort_by(|a, b| a.mean.0.total_cmp(&b.mean.0));
    let middle = estimates[estimates.len() / 2];
    let spread = (estimates[estimates.len() - 1].mean - estimates[0].mean) / 2.0;
    let half = middle.half_width.unwrap_or(Nanos::INFINITY);
    Estimate::new(middle.mean, Nanos(half.0.max(spread.0)))
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
) -> Result<Steady, CompareError> {
    let mut setup = Setup::of(scenario, profile, base)?;
    // To look at the clock until the time has passed takes two looks, the last of them half in vain.
    setup.options.instead = Some(Nanos((passed - Clock::start().cost() * 1.5).0.max(0.0)));
    // To pass the time is not to be kept from running.
    setup.options.stall += passed * 2.0;
    let span = Duration::from_secs_f64(scenario.live.seconds / REHEARSALS as f64);
    let steady = setup.run(|_| thread::sleep(span))?.steady_or_all();
    if steady.is_empty() {
        return Err(CompareError::Disturbed("what the runtime costs"));
    }
    Ok(steady)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_lie_on_lines_between_the_rates_at_which_they_were_measured() {
        let nanos = |mean: f64| Estimate::new(Nanos(mean), Nanos(1.0));
        let deciding = vec![(PerSecond(10.0), nanos(100.0)), (PerSecond(20.0), nanos(200.0))];
        let overheads = Overheads { deciding, turning: nanos(5.0) };
        let at = |rate: f64| overheads.at(PerSecond(rate)).deciding.mean.0;
        assert_eq!([1.0, 10.0, 15.0, 20.0, 99.0].map(at), [100.0, 100.0, 150.0, 200.0, 200.0]);
    }

    #[test]
    fn one_rehearsal_that_went_wrong_does_not_count_but_shows() {
        let all = [213.0, 695.0, 185.0].map(|mean| Estimate::new(Nanos(mean), Nanos(2.0)));
        let middle = median(all.to_vec());
        assert_eq!((middle.mean, middle.half_width), (Nanos(213.0), Some(Nanos(255.0))));
    }
}
