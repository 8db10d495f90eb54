//! One load: rehearsed and run in rounds, and predicted.
//!
//! The rounds follow each other closely, so that whatever makes the machine slower for a while meets
//! rehearsals and runs alike. Of each, the median counts.

use super::CompareError;
use super::nearness::Nearness;
use super::overheads::{Rehearsals, RuntimeCosts, median};
use super::point::{ComparedPoint, Figures};
use std::path::Path;
use std::thread;
use std::time::Duration;
use warmcore_costs::Profile;
use warmcore_runtime::Steady;
use warmcore_runtime::from_scenario::Setup;
use warmcore_scenario::{Effects, PacketScenario};
use warmcore_sim::packet::{Outcome, PointResult, simulate};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Rounds of rehearsals and a run; together the runs last as long as the scenario says.
pub(super) const ROUNDS: usize = 3;

/// One run.
struct Run {
    /// `None` if nothing was finished in it.
    figures: Option<Figures>,
    disturbed: f64,
    near: bool,
}

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
        light.push(rehearsals.light_delay(nearness)?);
        busy.push(rehearsals.delay(rate, nearness)?);
        let (run, near) = nearness.hold(|| run(scenario, profile, base))?;
        runs.push(Run { near, ..run });
    }
    let costs = rehearsals.costs(rate, median(busy), median(light))?;
    let predicted = predict(scenario, &costs, profile, base)?;
    let near = runs.iter().all(|run| run.near);
    let Run { figures: measured, disturbed, .. } = middle(runs);
    Ok(ComparedPoint { load, rate, predicted, measured, costs, disturbed, near })
}

fn run(scenario: &PacketScenario, profile: &Profile, base: &Path) -> Result<Run, CompareError> {
    let mut setup = Setup::of(scenario, profile, base)?;
    let span = Duration::from_secs_f64(scenario.live.seconds / ROUNDS as f64);
    let report = setup.run(|_| thread::sleep(span))?;
    let steady = report.steady_or_all();
    let figures = (!steady.is_empty()).then(|| measured(&steady));
    Ok(Run { figures, disturbed: report.steady().disturbed(), near: true })
}

/// The run with the median delay; its interval covers half of what lies between all.
fn middle(mut runs: Vec<Run>) -> Run {
    let delay = |run: &Run| run.figures.as_ref().map_or(Nanos::INFINITY, |figures| figures.delay.mean);
    runs.sort_by(|a, b| delay(a).0.total_cmp(&delay(b).0));
    let delays = runs.iter().filter_map(|run| Some(run.figures.as_ref()?.delay)).collect::<Vec<_>>();
    let mut middle = runs.swap_remove(runs.len() / 2);
    if let Some(figures) = &mut middle.figures {
        figures.delay.half_width = median(delays).half_width;
    }
    middle
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

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Situation;

    fn run(delay: Option<f64>) -> Run {
        let exactly = |nanos: f64| Estimate::new(Nanos(nanos), Nanos(1.0));
        let figures = delay.map(|delay| Figures {
            delay: exactly(delay),
            p50: exactly(delay),
            p99: exactly(delay),
            stack: exactly(delay),
            situations: [0.0; Situation::COUNT],
        });
        Run { figures, disturbed: 0.0, near: true }
    }

    #[test]
    fn one_run_that_went_wrong_does_not_count_but_shows() {
        let delay = |runs: Vec<Run>| middle(runs).figures.map(|figures| figures.delay);
        let delay_of = |delays: [Option<f64>; 3]| delay(delays.map(run).into());
        let found = delay_of([Some(400.0), Some(90_000.0), Some(380.0)]).unwrap();
        assert_eq!((found.mean, found.half_width), (Nanos(400.0), Some(Nanos(44_810.0))));
        assert_eq!(delay_of([Some(400.0), None, Some(380.0)]).map(|found| found.mean), Some(Nanos(400.0)));
        assert!(delay_of([None, None, Some(380.0)]).is_none());
    }
}
