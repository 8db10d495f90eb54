//! What the runtime itself costs, measured with packets that only pass the time: everything is as in
//! the run to be predicted, policy, workers, other work and traffic, but for the protocol stack.
//!
//! * At half of what it can do: the time from the end of a packet to the end of the next that the
//!   worker goes on with, less what the packet passes, is what *deciding* costs: taking packets in,
//!   asking the policy, waiting for the others who ask. (At saturation it is less, as much is then
//!   done for several packets at once.)
//! * Far below it: the delay, less what the packet passes and what deciding costs, is what it takes
//!   until an idle processor has *turned* to a packet.

use super::CompareError;
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::Steady;
use warmcore_runtime::from_scenario::Setup;
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_sim::packet::simulate;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The load at which deciding is measured, as a fraction of what can be done without a stack.
const BUSY: f64 = 0.5;
/// The load at which turning to a packet is measured: hardly any packet waits for another.
const LIGHT: f64 = 0.1;

/// The costs of the runtime under one way to schedule.
#[derive(Clone, Copy, Debug)]
pub struct Overheads {
    /// For each packet.
    pub deciding: Estimate<Nanos>,
    /// For each packet that finds its processor at other work, besides.
    pub turning: Estimate<Nanos>,
}

impl Overheads {
    /// `scenario` with these costs, and that of its handler, for the simulator.
    #[must_use]
    pub fn charged_to(&self, scenario: &PacketScenario) -> PacketScenario {
        let effects = Effects {
            decision_ns: self.deciding.mean.0 + scenario.live.handler_ns,
            start_ns: self.turning.mean.0,
            ..scenario.effects
        };
        PacketScenario { effects, ..scenario.clone() }
    }
}

/// Measures them for `scenario`.
///
/// # Errors
/// If it cannot be run, or too much of the run was disturbed.
pub fn measure(scenario: &PacketScenario, profile: &Profile, base: &Path) -> Result<Overheads, CompareError> {
    let passed = typical(scenario, profile, base)?;
    let saturated = PacketScenario { rate_per_s: None, ..scenario.clone() };
    let saturated = rehearse(&saturated, passed, profile, base)?;
    let workers = f64::from(scenario.processors);
    let most = workers / cycle(&saturated, workers).mean.secs();
    let at = |load: f64| {
        let scenario = PacketScenario { rate_per_s: Some(PerSecond(most * load)), ..scenario.clone() };
        rehearse(&scenario, passed, profile, base)
    };

    let cycle = cycle(&at(BUSY)?, workers * BUSY);
    let deciding = Nanos((cycle.mean - passed).0.max(0.0));
    let uncertain = cycle.half_width.unwrap_or(Nanos::INFINITY);

    let light = at(LIGHT)?;
    let delay = Some(light.typical_delay()).filter(known).unwrap_or_else(|| light.delay());
    let turning = Nanos((delay.mean - passed - deciding).0.max(0.0));
    let unsure = delay.half_width.unwrap_or(Nanos::INFINITY) + uncertain;
    Ok(Overheads { deciding: Estimate::new(deciding, uncertain), turning: Estimate::new(turning, unsure) })
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
    setup.options.instead = Some(passed);
    // To pass the time is not to be kept from running.
    setup.options.stall += passed * 2.0;
    let span = Duration::from_secs_f64(scenario.live.seconds);
    let steady = setup.run(|_| thread::sleep(span))?.steady_or_all();
    if steady.is_empty() {
        return Err(CompareError::Disturbed("what the runtime costs"));
    }
    Ok(steady)
}
