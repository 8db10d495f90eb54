//! What the runs of a run queue say.

use super::{Figures, Said, count, estimates, table};
use crate::failure::Failure;
use warmcore_record::Column;
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::{ApplicationTally, Outcome, Tally};
use warmcore_units::Estimate;

/// A quantity of an application in one run.
type Quantity = fn(&ApplicationTally) -> f64;

/// What is shown of each application: name, unit, value.
const SHOWN: [(&str, &str, Quantity); 10] = [
    ("finished", "s", |of| of.finished_s.unwrap_or(f64::NAN)),
    ("cpu_time", "s", |of| of.cpu_s),
    ("compute_time", "s", |of| of.compute_s),
    ("misses", "", |of| of.misses),
    ("dispatches", "", |of| of.dispatches.count() as f64),
    ("mean_dispatch", "ms", |of| of.dispatches.mean_ms()),
    ("migrations", "", |of| of.migrations as f64),
    ("mean_scheduling_delay", "ms", |of| of.responses.mean_ms()),
    ("longest_wait", "s", |of| of.longest_wait_s),
    ("returns", "", |of| of.returns as f64),
];

/// Reads a figure from a run.
type Shown = fn(&Tally) -> f64;

impl Said {
    /// What the runs of `scenario` came to; the table has a row for each application.
    pub(crate) fn of_run_queue(scenario: &RunQueueScenario, outcome: &Outcome) -> Result<Self, Failure> {
        let mut figures = Figures::default();
        let shown: [(_, _, Shown); 7] = [
            ("duration", "s", |run| run.seconds),
            ("utilisation", "", |run| 1.0 - run.idle),
            ("completion", "s", Tally::mean_completion_s),
            ("progress", "", Tally::progress),
            ("misses", "", Tally::misses),
            ("dispatch_rate", "/s", |run| run.dispatches() as f64 / run.seconds),
            ("migration_rate", "/s", |run| run.migrations() as f64 / run.seconds),
        ];
        for (name, unit, of) in shown {
            figures.estimate(name, unit, Some(outcome.estimate(of)));
        }
        figures.plain("runs", scenario.runs);
        figures.plain("processes", scenario.processes());
        let names = scenario.applications.iter().map(|one| Some(one.name.clone()));
        let mut columns = vec![
            Column::texts("application", names),
            Column::integers(
                "processes",
                scenario.applications.iter().map(|one| count(one.processes.into())),
            ),
        ];
        for (name, unit, of) in SHOWN {
            let row = |place: usize| outcome.estimate(|run| of(&run.applications[place]));
            let rows: Vec<Estimate<f64>> = (0..scenario.applications.len()).map(row).collect();
            columns.extend(estimates(name, unit, &rows));
        }
        Ok(Self { figures, table: table(columns)? })
    }
}
