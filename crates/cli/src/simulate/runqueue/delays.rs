//! Scheduling delays on the terminal, simulated and, of a recording, as they were.

use crate::terminal::table;
use crate::visible::visible;
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::{ApplicationTally, Outcome};
use warmcore_units::Estimate;

/// The average and the longest scheduling delay of each application.
pub(super) fn delays(scenario: &RunQueueScenario, own: &Outcome) -> String {
    let is_recorded = scenario.applications.iter().any(|one| one.recorded.is_some());
    let mut shown = match is_recorded {
        true => {
            table(["application", "recorded: delay, average", "longest", "simulated: average", "longest"])
        }
        false => table(["application", "delay, average", "longest"]),
    };
    for (place, application) in scenario.applications.iter().enumerate() {
        let mut row = vec![visible(&application.name)];
        if is_recorded {
            let recorded = application.recorded.filter(|recorded| recorded.count > 0);
            let figure =
                |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.3} ms"));
            row.extend([
                figure(recorded.map(|recorded| recorded.mean_ms)),
                figure(recorded.map(|recorded| recorded.longest_ms)),
            ]);
        }
        row.extend([milliseconds(&average(own, place)), milliseconds(&longest(own, place))]);
        shown.add_row(row);
    }
    format!("{shown}\nA delay is how long a process that was woken up or is new waited for a cpu.\n")
}

/// The mean scheduling delay of an application, in milliseconds; NaN if it had none.
pub(super) fn average(own: &Outcome, place: usize) -> Estimate<f64> {
    own.estimate(|run| run.applications[place].responses.mean_ms())
}

/// Its longest, in milliseconds; NaN if it had none.
pub(super) fn longest(own: &Outcome, place: usize) -> Estimate<f64> {
    let longest = |one: &ApplicationTally| match one.responses.count() {
        0 => f64::NAN,
        _ => one.responses.longest_ms(),
    };
    own.estimate(|run| longest(&run.applications[place]))
}

fn milliseconds(estimate: &Estimate<f64>) -> String {
    match estimate.half() {
        _ if estimate.mean.is_nan() => "–".to_owned(),
        half if half.is_finite() => format!("{:.3} ± {half:.3} ms", estimate.mean),
        _ => format!("{:.3} ms (no interval)", estimate.mean),
    }
}
