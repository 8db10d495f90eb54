//! A study's figures for other programs: `results.parquet`, a row for each combination at each
//! rate, and `summary.json`.

use crate::Findings;
use crate::decide::Advice;
use crate::present::verdict::headline;
use serde::Serialize;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};
use warmcore_scenario::Combination;
use warmcore_sim::packet::columns::columns as outcome_columns;
use warmcore_units::{Estimate, PerSecond};

/// Every point of every curve. A saturated point has nulls where there is no steady state.
///
/// # Errors
/// Never, as long as every column has a name of its own.
pub fn columns(findings: &Findings) -> Result<Columns, ColumnsError> {
    let rows: Vec<_> = findings
        .hosts
        .iter()
        .flat_map(|host| host.curves.iter().map(move |curve| (host, curve)))
        .flat_map(|(host, curve)| {
            host.rates.iter().zip(&curve.points).map(move |(rate, point)| (host, curve, rate, point))
        })
        .collect();
    let text = |name: &str, of: fn(Combination) -> String| {
        Column::texts(name, rows.iter().map(|row| Some(of(row.1.combination))))
    };
    let points: Vec<_> = rows.iter().map(|row| (row.1.capacity, *row.3)).collect();
    let mut columns = vec![
        Column::integers("processors", rows.iter().map(|row| Some(i64::from(row.0.processors)))),
        text("approach", |of| of.approach.short().to_owned()),
        text("policy", |of| of.policy.to_string()),
        text("threads", |of| of.threads.to_string()),
        text("memory", |of| of.memory.to_string()),
        Column::floats("arrival_rate", "/s", rows.iter().map(|row| Some(row.2.0))),
    ];
    columns.extend(outcome_columns(&points));
    Columns::new(columns)
}

/// What a script wants to know of a study.
#[derive(Serialize, Debug)]
pub struct Summary<'a> {
    /// Version of this document.
    schema: u32,
    machine: &'a str,
    headline: String,
    /// The costs' own uncertainty, as a fraction.
    cost_uncertainty: f64,
    advice: Vec<HostSummary>,
}

#[derive(Serialize, Debug)]
struct HostSummary {
    processors: u32,
    regions: Vec<RegionSummary>,
    best_capacity: Combination,
    capacity_per_s: Estimate<PerSecond>,
    capacity_over_default: Estimate<f64>,
    capacity_over_worst: Estimate<f64>,
}

#[derive(Serialize, Debug)]
struct RegionSummary {
    from_per_s: f64,
    to_per_s: f64,
    best: Combination,
    as_good: Vec<Combination>,
    default_saturates: bool,
    delay_saved_over_default: Option<[Estimate<f64>; 2]>,
    delay_saved_over_worst: Option<[Estimate<f64>; 2]>,
}

impl<'a> Summary<'a> {
    /// The summary of `findings`.
    #[must_use]
    pub fn of(findings: &'a Findings) -> Self {
        Self {
            schema: 1,
            machine: &findings.profile.name,
            headline: findings.advice.first().map(headline).unwrap_or_default(),
            cost_uncertainty: findings.cost_uncertainty,
            advice: findings.advice.iter().map(HostSummary::of).collect(),
        }
    }
}

impl HostSummary {
    fn of(advice: &Advice) -> Self {
        let ends = |gain: crate::decide::Gain| [gain.least.gain, gain.most.gain];
        let regions = advice.regions.iter().map(|region| RegionSummary {
            from_per_s: region.from.0,
            to_per_s: region.to.0,
            best: region.best,
            as_good: region.as_good.clone(),
            default_saturates: region.default_saturates,
            delay_saved_over_default: region.over_default.map(ends),
            delay_saved_over_worst: region.over_worst.map(ends),
        });
        Self {
            processors: advice.processors,
            regions: regions.collect(),
            best_capacity: advice.capacity.best,
            capacity_per_s: advice.capacity.capacity,
            capacity_over_default: advice.capacity.over_default,
            capacity_over_worst: advice.capacity.over_worst,
        }
    }
}
