//! The points for other programs, one row per point.

use crate::salehi_1994::simulations::Simulated;
use crate::salehi_1994::{CurveSetting, Simulations};
use std::collections::BTreeMap;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};
use warmcore_scenario::QueueRule;
use warmcore_sim::packet::{Outcome, PointResult};
use warmcore_units::{Estimate, Nanos};
use warmcore_workload::BatchDistribution;

/// A point and the curve it belongs to.
struct Row<'a> {
    figures: String,
    setting: &'a CurveSetting,
    curve: &'a Simulated,
    /// `None` for a setting of which only the capacity is needed.
    point: Option<&'a PointResult>,
}

impl Row<'_> {
    fn outcome(&self) -> Option<&Outcome> {
        self.point?.outcome.as_ref()
    }
}

/// Every point of every curve, by setting and rate. A setting of which only the capacity is needed has one
/// row without a rate. `figures` lists the names of the figures that draw the curve.
///
/// # Errors
/// Never, as long as every column has its own name.
pub fn points(simulations: &Simulations) -> Result<Columns, ColumnsError> {
    let rows = rows(simulations);
    let mut columns = settings(&rows);
    columns.extend(outcomes(&rows));
    Columns::new(columns)
}

fn rows(simulations: &Simulations) -> Vec<Row<'_>> {
    let mut figures: BTreeMap<CurveSetting, Vec<&str>> = BTreeMap::new();
    for figure in simulations.options.wanted() {
        for curve in figure.curves() {
            let named = figures.entry(curve.setting).or_default();
            if named.last() != Some(&figure.name()) {
                named.push(figure.name());
            }
        }
    }
    let rows_of = |(setting, curve)| {
        let figures = figures.get(setting).map_or_else(String::new, |names| names.join(" "));
        let row = move |point| Row { figures: figures.clone(), setting, curve, point };
        let points: Vec<Option<&PointResult>> = match &curve.points[..] {
            [] => vec![None],
            points => points.iter().map(Some).collect(),
        };
        points.into_iter().map(row).collect::<Vec<Row>>()
    };
    simulations.settings().flat_map(|pair: (&CurveSetting, &Simulated)| rows_of(pair)).collect()
}

fn settings(rows: &[Row]) -> Vec<Column> {
    let text =
        |name: &str, of: &dyn Fn(&Row) -> String| Column::texts(name, rows.iter().map(|row| Some(of(row))));
    let integer = |name: &str, of: fn(&CurveSetting) -> u32| {
        Column::integers(name, rows.iter().map(|row| Some(i64::from(of(row.setting)))))
    };
    vec![
        text("figures", &|row| row.figures.clone()),
        text("setting", &|row| row.setting.scheduling.to_string()),
        text("approach", &|row| row.setting.scheduling.approach.to_string()),
        text("policy", &|row| row.setting.scheduling.policy.to_string()),
        text("queue", &|row| queue(row.setting.scheduling.queue).to_owned()),
        text("threads", &|row| row.setting.scheduling.threads.to_string()),
        text("memory", &|row| row.setting.scheduling.memory.to_string()),
        integer("processors", |setting| setting.processors),
        integer("streams", |setting| setting.streams),
        integer("batch_mean", |setting| setting.batch),
        text("batch_distribution", &|row| distribution(row.setting.law().distribution).to_owned()),
        integer("checksummed_bytes", |setting| setting.checksummed.into()),
    ]
}

fn outcomes(rows: &[Row]) -> Vec<Column> {
    let float = |name: &str, unit: &str, of: &dyn Fn(&Row) -> Option<f64>| {
        Column::floats(name, unit, rows.iter().map(of))
    };
    let time = |name: &str, of: fn(&Outcome) -> Estimate<Nanos>| {
        let estimate = |row: &Row| row.outcome().map(of);
        [
            float(name, "ns", &|row| Some(estimate(row)?.mean.0)),
            float(&format!("{name}_half_width"), "ns", &|row| Some(estimate(row)?.half_width?.0)),
        ]
    };
    let count = |name: &str, of: fn(&Outcome) -> u64| {
        Column::integers(name, rows.iter().map(|row| row.outcome().and_then(|o| i64::try_from(of(o)).ok())))
    };
    let mut columns = vec![
        float("arrival_rate", "/s", &|row| Some(row.point?.rate.0)),
        Column::flags("saturated", rows.iter().map(|row| Some(row.point?.outcome.is_none()))),
    ];
    columns.extend(time("mean_delay", |outcome| outcome.delay));
    columns.extend(time("mean_service", |outcome| outcome.service));
    columns.extend(time("delay_p50", |outcome| outcome.quantiles.p50));
    columns.extend(time("delay_p99", |outcome| outcome.quantiles.p99));
    columns.extend(time("delay_p999", |outcome| outcome.quantiles.p999));
    columns.extend([
        float("utilisation", "", &|row| Some(row.outcome()?.utilisation.mean)),
        float("utilisation_half_width", "", &|row| row.outcome()?.utilisation.half_width),
        float("throughput", "/s", &|row| Some(row.outcome()?.throughput.0)),
        count("warm_up_packets", |outcome| outcome.warmup),
        count("packets", |outcome| outcome.packets),
        Column::flags("precise", rows.iter().map(|row| Some(row.outcome()?.is_precise()))),
        float("capacity", "/s", &|row| Some(row.curve.capacity.mean)),
        float("capacity_half_width", "/s", &|row| row.curve.capacity.half_width),
        float("service_at_capacity", "ns", &|row| Some(row.curve.service.mean * 1e3)),
        float("service_at_capacity_half_width", "ns", &|row| Some(row.curve.service.half_width? * 1e3)),
    ]);
    columns
}

/// The rule as written in a scenario document.
const fn queue(rule: QueueRule) -> &'static str {
    match rule {
        QueueRule::Fifo => "fifo",
        QueueRule::SameStreamFirst => "same-stream-first",
    }
}

/// The distribution as written in a scenario document.
const fn distribution(of: BatchDistribution) -> &'static str {
    match of {
        BatchDistribution::Deterministic => "deterministic",
        BatchDistribution::Geometric => "geometric",
    }
}
