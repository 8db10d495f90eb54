//! A recording beside its simulation: how far that is off, and what that means for what it says of other schedulers.

use super::words::plain;
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::Outcome;
use warmcore_units::Estimate;

/// By how many percent a simulation may be off before what it says of alternatives is doubtful.
const DOUBTFUL_PERCENT: f64 = 15.0;

/// A figure that was recorded and is simulated.
struct Pair {
    name: &'static str,
    unit: &'static str,
    recorded: f64,
    simulated: Estimate<f64>,
}

impl Pair {
    /// By how many percent the simulation is off; none if nothing was recorded.
    fn error_percent(&self) -> Option<f64> {
        (self.recorded > 0.0).then(|| 100.0 * (self.simulated.mean / self.recorded - 1.0))
    }
}

fn pairs(scenario: &RunQueueScenario, own: &Outcome) -> Vec<Pair> {
    let Some(recorded) = scenario.recorded else { return Vec::new() };
    let per_s = |count: u64| count as f64 / recorded.seconds;
    let pair = |name, unit, recorded, simulated| Pair { name, unit, recorded, simulated };
    vec![
        pair(
            "dispatches",
            " a second",
            per_s(recorded.dispatches),
            own.estimate(|run| run.dispatches() as f64 / run.seconds),
        ),
        pair(
            "migrations",
            " a second",
            per_s(recorded.migrations),
            own.estimate(|run| run.migrations() as f64 / run.seconds),
        ),
        pair(
            "utilisation",
            " in %",
            100.0 * recorded.utilisation,
            own.estimate(|run| 100.0 * (1.0 - run.idle)),
        ),
    ]
}

/// What was recorded beside what is simulated, a line each; nothing if the scenario is no recording.
pub(super) fn compared(scenario: &RunQueueScenario, own: &Outcome) -> String {
    let line = |pair: &Pair| {
        let Pair { name, unit, recorded, simulated } = pair;
        let error = pair.error_percent().map(|error| format!(" ({error:+.1}%)")).unwrap_or_default();
        format!("{name}{unit} {recorded:.1} recorded, {} simulated{error}\n", plain(simulated))
    };
    pairs(scenario, own).iter().map(line).collect()
}

/// A warning if the simulation of a recording is far off.
pub(super) fn doubt(scenario: &RunQueueScenario, own: &Outcome) -> String {
    let pairs = pairs(scenario, own);
    let off = pairs.iter().filter_map(|pair| Some((pair.name, pair.error_percent()?)));
    let off: Vec<String> = off
        .filter(|(_, error)| error.abs() > DOUBTFUL_PERCENT)
        .map(|(name, error)| format!("{:.0} % in {name}", error.abs()))
        .collect();
    match &off[..] {
        [] => String::new(),
        _ => format!(
            "Doubtful: this simulation of the recording is off by {}. So far can be what it says of other schedulers.\n",
            off.join(", ")
        ),
    }
}
