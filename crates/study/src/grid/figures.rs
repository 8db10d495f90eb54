//! The columns of a row: each figure with its unit and its half-width.

mod cluster;

pub use cluster::ClusterRun;

use crate::point::result_columns;
use warmcore_record::Column;
use warmcore_record::dataset::Head;
use warmcore_scenario::grid::Model;
use warmcore_sim::packet::{Capacity, PointResult};
use warmcore_sim::runqueue::advice::{RunFigures, estimate};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Figures of a run by name and unit.
type Figure<R> = (&'static str, &'static str, fn(&R) -> f64);

/// Names are those of the figures of `simulate` in Python.
const RUNQUEUE: [Figure<RunFigures>; 7] = [
    ("duration", "s", |run| run.seconds),
    ("utilisation", "", |run| 1.0 - run.idle),
    ("completion", "s", |run| run.mean_completion_s),
    ("progress", "", |run| run.progress),
    ("misses", "", |run| run.misses),
    ("dispatch_rate", "/s", |run| run.dispatches_per_s),
    ("migration_rate", "/s", |run| run.migrations_per_s),
];

/// The headings of a row of `model`.
pub(super) fn heads(model: Model) -> Vec<Head> {
    let columns = match model {
        Model::Packet => packet(&nothing()),
        Model::Runqueue => runqueue(&[]),
        Model::Cluster => cluster(&ClusterRun::default()),
    };
    columns.iter().map(Head::new).collect()
}

/// A result without figures, which has all columns.
fn nothing() -> PointResult {
    let rate = PerSecond(1.0);
    let capacity = Capacity { rate: Estimate::published(rate), service: Estimate::published(Nanos(1.0)) };
    PointResult { rate, capacity, outcome: None, capture: None }
}

/// The row of a point of packets.
pub(super) fn packet(result: &PointResult) -> Vec<Column> {
    result_columns([result].into_iter())
}

/// The row of a run queue: means over its runs.
pub(super) fn runqueue(runs: &[RunFigures]) -> Vec<Column> {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let both = |(name, unit, of): Figure<RunFigures>| {
        let Estimate { mean, half_width } = estimate(runs, of);
        let half = half_width.and_then(finite);
        [
            Column::floats(name, unit, [finite(mean)]),
            Column::floats(format!("{name}_half_width"), unit, [half]),
        ]
    };
    let count = Column::integers("runs", [i64::try_from(runs.len()).ok()]);
    RUNQUEUE.into_iter().flat_map(both).chain([count]).collect()
}

/// The row of a cluster's run, which is exact.
pub(super) fn cluster(run: &ClusterRun) -> Vec<Column> {
    run.columns()
}

/// The unit that the name of a `field` says.
pub(super) fn unit_of(field: &str) -> &'static str {
    const UNITS: [(&str, &str); 9] = [
        ("_per_s", "/s"),
        ("_ns", "ns"),
        ("_ns_per_byte", "ns"),
        ("_us", "µs"),
        ("_ms", "ms"),
        ("_bytes", "B"),
        ("_kib", "KiB"),
        ("seconds", "s"),
        ("_cycles", "cycles"),
    ];
    UNITS.into_iter().find(|(end, _)| field.ends_with(end)).map_or("", |(_, unit)| unit)
}
