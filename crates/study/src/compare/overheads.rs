//! What the runtime itself costs, measured with packets that only pass the time: everything is as in
//! the run to be predicted, policy, workers, other work and traffic, but for the protocol stack.
//!
//! * At saturation: a worker's time for each packet, less what the packet passes, is what
//!   *deciding* costs: taking packets in, asking the policy, waiting for the others who ask.
//! * Far below it: the delay, less what the packet passes and what deciding costs, is what it takes
//!   until an idle processor has *turned* to a packet.

use super::{CompareError, hot};
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::Steady;
use warmcore_runtime::from_scenario::Setup;
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_units::{Estimate, Nanos, PerSecond};

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
    let passed = Nanos(hot(scenario, profile)?.0 + scenario.live.handler_ns);
    let saturated = PacketScenario { rate_per_s: None, ..scenario.clone() };
    let saturated = rehearse(&saturated, passed, profile, base)?;
    let cycle = saturated.cycle();
    let deciding = Nanos((cycle.mean - passed).0.max(0.0));
    let uncertain = cycle.half_width.unwrap_or(Nanos::INFINITY);

    let most = f64::from(scenario.processors) / cycle.mean.secs();
    let light = PacketScenario { rate_per_s: Some(PerSecond(most * LIGHT)), ..scenario.clone() };
    let light = rehearse(&light, passed, profile, base)?;
    let delay = light.delay();
    let turning = Nanos((delay.mean - passed - deciding).0.max(0.0));
    let unsure = delay.half_width.unwrap_or(Nanos::INFINITY) + uncertain;
    Ok(Overheads { deciding: Estimate::new(deciding, uncertain), turning: Estimate::new(turning, unsure) })
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
    let span = Duration::from_secs_f64(scenario.live.seconds);
    let steady = setup.run(|_| thread::sleep(span))?.steady();
    if steady.is_empty() {
        return Err(CompareError::Disturbed("what the runtime costs"));
    }
    Ok(steady)
}
