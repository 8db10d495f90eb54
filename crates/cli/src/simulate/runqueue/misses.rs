//! Misses of simulated caches, by level, by kind and by who is to blame.

use crate::terminal::table;
use serde::Serialize;
use warmcore_scenario::RunQueueScenario;
use warmcore_sim::runqueue::Outcome;
use warmcore_sim::runqueue::tally::{Blame, LevelMisses, MissKind};
use warmcore_units::Estimate;

/// A count of misses.
type CountOf = fn(&LevelMisses) -> u64;

/// The shares of misses that are told apart, and their names in the table.
const SHARES: [(&str, CountOf); 7] = [
    ("first", |misses| misses.kinds.get(MissKind::First)),
    ("capacity", |misses| misses.kinds.get(MissKind::Capacity)),
    ("conflict", |misses| misses.kinds.get(MissKind::Conflict)),
    ("invalidated", |misses| misses.kinds.get(MissKind::Invalidated)),
    ("displaced by itself", |misses| misses.blame.get(Blame::Itself)),
    ("by another", |misses| misses.blame.get(Blame::Another)),
    ("was elsewhere", |misses| misses.blame.get(Blame::Elsewhere)),
];

/// Below the table.
const EXPLAINED: &str = "Of each 100 misses: the first of a line in that cache, for want of capacity (a fully associative cache would miss \
                         too), of conflicts in a set, of lines that another cpu wrote to; and, divided otherwise, of lines that \
                         the process itself displaced, that another process or the kernel did, and that only other cpus' caches had had.\n";

/// The table; nothing if no caches are simulated.
pub(super) fn misses(scenario: &RunQueueScenario, own: &Outcome) -> String {
    let [a, b, c, d, e, f, g] = SHARES.map(|(name, _)| name);
    let mut shown = table(["application", "caches", "misses", a, b, c, d, e, f, g]);
    let mut any = false;
    for (place, application) in scenario.applications.iter().enumerate() {
        for (index, caches) in levels(own, place).into_iter().enumerate() {
            any = true;
            let count = |of: fn(&LevelMisses) -> u64| estimate(own, place, index, |misses| of(misses) as f64);
            let all = count(|misses| misses.kinds.all());
            let shares = SHARES.map(|(_, of)| format!("{:.1}", 100.0 * count(of).mean / all.mean.max(1.0)));
            let name = if index == 0 { application.name.clone() } else { String::new() };
            let all = format!("{:.0} ± {:.0}", all.mean, all.half());
            shown.add_row([name, caches, all].into_iter().chain(shares));
        }
    }
    if any { format!("{shown}\n{EXPLAINED}\n") } else { String::new() }
}

/// The names of the caches that the application at `place` went through.
fn levels(own: &Outcome, place: usize) -> Vec<String> {
    let first = own.runs.first().map(|run| &run.applications[place].levels);
    first.into_iter().flatten().map(|level| level.caches.clone()).collect()
}

fn estimate(own: &Outcome, place: usize, level: usize, of: impl Fn(&LevelMisses) -> f64) -> Estimate<f64> {
    own.estimate(|run| run.applications[place].levels.get(level).map_or(0.0, &of))
}

/// The caches of a level and kind, for `--json`.
#[derive(Serialize)]
pub(super) struct CachesFigures {
    caches: String,
    misses: Estimate<f64>,
    first: Estimate<f64>,
    capacity: Estimate<f64>,
    conflict: Estimate<f64>,
    invalidated: Estimate<f64>,
    displaced_by_itself: Estimate<f64>,
    displaced_by_another: Estimate<f64>,
    was_elsewhere: Estimate<f64>,
}

impl CachesFigures {
    /// Those of the application at `place`; none if no caches are simulated.
    pub(super) fn of_application(own: &Outcome, place: usize) -> Vec<Self> {
        let figures = |(level, caches)| {
            let kind = |kind| estimate(own, place, level, move |misses| misses.kinds.get(kind) as f64);
            let blame = |blame| estimate(own, place, level, move |misses| misses.blame.get(blame) as f64);
            Self {
                caches,
                misses: estimate(own, place, level, |misses| misses.kinds.all() as f64),
                first: kind(MissKind::First),
                capacity: kind(MissKind::Capacity),
                conflict: kind(MissKind::Conflict),
                invalidated: kind(MissKind::Invalidated),
                displaced_by_itself: blame(Blame::Itself),
                displaced_by_another: blame(Blame::Another),
                was_elsewhere: blame(Blame::Elsewhere),
            }
        };
        levels(own, place).into_iter().enumerate().map(figures).collect()
    }
}
