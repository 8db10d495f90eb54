//! One load: rehearsed and run in rounds, and predicted.
//!
//! The rounds follow each other closely, so that whatever makes the machine slower for a while meets
//! rehearsals and runs alike. Of each, a [typical](super::quiet) one counts.

use super::CompareError;
use super::nearness::Nearness;
use super::overheads::{Rehearsals, RuntimeCosts};
use super::point::{ComparedPoint, Figures};
use super::quiet::{Ran, typical};
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::from_scenario::Setup;
use warmcore_runtime::{RunError, Steady};
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_sim::packet::{Outcome, PointResult, simulate};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Rounds of rehearsals and a run; together the runs last as long as the scenario says, and each at least
/// [`SHORTEST`].
pub(super) const ROUNDS: usize = 5;
/// What lasts less is hardly more than its beginning.
const SHORTEST: Duration = Duration::from_millis(120);

/// Runs `scenario` at `rate`, which is this `load`, and predicts it with what the runtime has cost in the
/// rehearsals in between.
///
/// # Errors
/// If it cannot be simulated or run.
pub(super) fn compare(
    scenario: &PacketScenario,
    load: f64,
    rate: PerSecond,
    profile: &Profile,
    base: &Path,
    rehearsals: &Rehearsals<'_>,
    nearness: &mut Nearness<'_>,
) -> Result<ComparedPoint, CompareError> {
    let scenario = &PacketScenario { rate_per_s: Some(rate), ..scenario.clone() };
    let (mut light, mut busy, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        light.extend(rehearsals.run(Some(rehearsals.light_rate()), nearness)?.told());
        busy.extend(rehearsals.run(Some(rate), nearness)?.told());
        runs.extend(nearness.hold(|| run(scenario, profile, base))?.told());
    }
    let disturbed = || CompareError::Disturbed("what the runtime costs");
    let light = typical(light, |steady| steady.delay().mean).ok_or_else(disturbed)?;
    let rehearsed = typical(busy, |steady| steady.delay().mean).ok_or_else(disturbed)?;
    let run = typical(runs, |figures| figures.delay.mean);
    let costs = rehearsals.costs(rate, &rehearsed.outcome, &light.outcome)?;
    Ok(ComparedPoint {
        load,
        rate,
        predicted: predict(scenario, &costs, profile, base)?,
        costs,
        disturbed: run.as_ref().map_or(1.0, |run| run.disturbed),
        rehearsal_disturbed: rehearsed.disturbed,
        near: rehearsed.near && run.as_ref().is_some_and(|run| run.near),
        measured: run.map(|run| run.outcome),
    })
}

fn run(
    scenario: &PacketScenario,
    profile: &Profile,
    base: &Path,
) -> Result<Ran<Option<Figures>>, CompareError> {
    let Ran { outcome, disturbed, near } = round(Setup::of(scenario, profile, base)?, scenario.live.seconds)?;
    Ok(Ran { outcome: outcome.as_ref().map(measured), disturbed, near })
}

/// One of the [`ROUNDS`] of what is set up, which last so many `seconds` together; nothing comes of it if
/// the workers hardly ran.
pub(super) fn round(mut setup: Setup, seconds: f64) -> Result<Ran<Option<Steady>>, RunError> {
    let span = Duration::from_secs_f64(seconds / ROUNDS as f64).max(SHORTEST);
    let report = setup.run(|_| thread::sleep(span))?;
    let steady = Some(report.steady_or_all()).filter(|steady| !steady.is_empty());
    Ok(Ran { outcome: steady, disturbed: report.steady().disturbed(), near: true })
}

/// What the simulator says of `scenario` if the runtime costs so much.
fn predict(
    scenario: &PacketScenario,
    costs: &RuntimeCosts,
    profile: &Profile,
    base: &Path,
) -> Result<Option<Figures>, CompareError> {
    let simulated = |costs: &RuntimeCosts| simulate(&costs.charged_to(scenario), profile, base);
    // The runtime's costs are part of the simulator's service time, but not of the stack's.
    let bare = PacketScenario { effects: Effects::NONE, ..scenario.clone() };
    let bare = simulate(&bare, profile, base)?;
    let Some(mut figures) = figures_of(&simulated(costs)?, &bare, scenario.live.handler_ns) else {
        return Ok(None);
    };
    // That the runtime's costs are not known exactly is in the interval too.
    let mut delays = [Nanos::INFINITY; 2];
    for (delay, bound) in delays.iter_mut().zip(costs.bounds()) {
        if let Some(outcome) = simulated(&bound)?.outcome {
            *delay = outcome.delay.mean;
        }
    }
    let [low, high] = delays;
    let own = figures.delay.half_width.unwrap_or(Nanos::INFINITY);
    figures.delay.half_width = Some(Nanos(own.0.hypot((high - low).0 / 2.0)));
    Ok(Some(figures))
}

fn figures_of(result: &PointResult, bare: &PointResult, handler_ns: f64) -> Option<Figures> {
    let outcome: &Outcome = result.outcome.as_ref()?;
    let stack = bare.outcome.as_ref()?.service;
    let stack = Estimate { mean: stack.mean + Nanos(handler_ns), ..stack };
    let all: u64 = outcome.situations.iter().sum();
    Some(Figures {
        delay: outcome.delay,
        p50: outcome.quantiles.p50,
        p99: outcome.quantiles.p99,
        stack,
        situations: outcome.situations.map(|packets| packets as f64 / all as f64),
    })
}

fn measured(steady: &Steady) -> Figures {
    let total = steady.total();
    let all = total.clean.packets() as f64;
    Figures {
        delay: steady.delay(),
        p50: steady.quantile(0.5),
        p99: steady.quantile(0.99),
        stack: steady.service(),
        situations: total.clean.situations.map(|served| served.packets as f64 / all),
    }
}
