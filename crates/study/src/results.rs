//! A study's results for other programs: `results.parquet`, with one row for each combination at each rate,
//! and `summary.json`.

use crate::Findings;
use crate::costs::draw::BETWEEN_STUDIES;
use crate::decide::{Advice, Gain, Ordinary, Region};
use crate::grade::Quality;
use crate::point::ended;
use crate::present::verdict::verdict;
use crate::server::results::ServerAdviceSummary;
use crate::streams::ChoiceWithMoreStreams;
use serde::Serialize;
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::Confidence;
use warmcore_record::{Column, Columns};
use warmcore_scenario::Combination;
use warmcore_sim::packet::columns::columns as outcome_columns;
use warmcore_units::{Estimate, PerSecond};

/// Every point of every curve. Values that a saturated point does not have are null.
///
/// # Errors
/// Never, as long as every column has its own name.
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
    let processors = || rows.iter().map(|row| Some(i64::from(row.0.processors)));
    let mut columns = vec![
        Column::integers("processors", processors()),
        // A study has as many streams as processors.
        Column::integers("streams", processors()),
        text("approach", |of| of.approach.short().to_owned()),
        text("policy", |of| of.policy.to_string()),
        text("threads", |of| of.threads.to_string()),
        text("memory", |of| of.memory.to_string()),
        Column::floats("arrival_rate", "/s", rows.iter().map(|row| Some(row.2.0))),
    ];
    columns.extend(outcome_columns(&points));
    columns.push(Column::texts("ended", points.iter().map(|point| Some(ended(point.1.as_ref())))));
    Columns::new(columns)
}

/// The results of a study, for scripts.
#[derive(Serialize, Debug)]
pub struct Summary<'a> {
    /// Version of this document.
    schema: u32,
    machine: &'a str,
    headline: String,
    confidence: Option<Confidence>,
    measured_processors: u32,
    costs: CostsSummary,
    advice: Vec<HostSummary>,
    /// How the first advice changes with more streams than processors.
    many_streams: Option<StreamsSummary>,
    /// By handler, a server on the kernel's sockets; empty if its costs were not measured.
    servers: Vec<ServerAdviceSummary>,
}

#[derive(Serialize, Debug)]
struct StreamsSummary {
    streams: u32,
    /// For each region of the first advice.
    choices: Vec<ChoiceWithMoreStreams>,
}

/// How the costs were measured.
#[derive(Serialize, Debug)]
struct CostsSummary {
    count: usize,
    missed_target: usize,
    /// Costs that had to use disturbed runs.
    on_disturbed: usize,
    /// Runs in all, and how many of them were disturbed.
    runs: u64,
    set_aside: u64,
    /// Runs set aside because the processors were at another distance.
    #[serde(rename = "displaced")]
    vcpu_moved_runs: u64,
    /// Time for a cache line to get from one processor to the other. If it differs from an earlier study, a
    /// hypervisor has moved the processors, and the costs are like those of another machine.
    handover_ns: Option<f64>,
    /// The interval that holds 95% of its readings.
    handover_range_ns: Option<[f64; 2]>,
    /// How much all rates may be off together in another study: 95% half-width of their logarithm.
    between_studies: f64,
}

#[derive(Serialize, Debug)]
struct HostSummary {
    processors: u32,
    ordinary: Option<OrdinarySummary>,
    regions: Vec<RegionSummary>,
    best_capacity: Combination,
    capacity_as_good: Vec<Combination>,
    capacity_per_s: Estimate<PerSecond>,
    /// The rates between which 95% of other studies of the machine would find it.
    capacity_between_per_s: [PerSecond; 2],
    capacity_over_default: Estimate<f64>,
    capacity_over_worst: Estimate<f64>,
    capacity_confidence: Confidence,
}

/// The gain of the advice at an ordinary load.
#[derive(Serialize, Debug)]
struct OrdinarySummary {
    rate_per_s: f64,
    /// As a fraction of the common default's capacity.
    load: f64,
    best: Combination,
    delay_saved_over_default: Option<Estimate<f64>>,
}

#[derive(Serialize, Debug)]
struct RegionSummary {
    from_per_s: f64,
    to_per_s: f64,
    /// The number of simulated rates in it.
    simulated: usize,
    /// The rates between which 95% of other studies would find `from_per_s`; null for the first region, and
    /// if it is not determined.
    from_between_per_s: Option<[PerSecond; 2]>,
    best: Combination,
    as_good: Vec<Combination>,
    /// For each combination, the fraction of draws in which it is among the best.
    among_best: Vec<(Combination, f64)>,
    default_saturates: bool,
    /// The smallest and the largest gain at any simulated rate. The largest occurs where the default is
    /// almost saturated; other studies simulate other rates and find other values.
    delay_saved_over_default: Option<[Estimate<f64>; 2]>,
    delay_saved_over_worst: Option<[Estimate<f64>; 2]>,
    /// The largest fraction of its delay that another combination might save.
    at_most_lost: f64,
    confidence: Confidence,
}

/// The version of `summary.json`. Version 2 added intervals of borders and capacities, how often a choice is
/// among the best, and its confidence, and removed `cost_uncertainty`. Version 3 counts each run once, and
/// adds the gain at an ordinary load, the choices with more streams, and the range of hand-overs.
const SCHEMA: u32 = 3;

impl<'a> Summary<'a> {
    /// The summary of `findings`.
    #[must_use]
    pub fn new(findings: &'a Findings) -> Self {
        let Quality { costs, missed, on_disturbed, runs, set_aside, vcpu_moved_runs, .. } =
            Quality::from_profile(&findings.profile);
        let provenance = &findings.profile.provenance;
        let verdict = verdict(findings);
        Self {
            schema: SCHEMA,
            machine: &findings.profile.name,
            headline: verdict.headline,
            confidence: verdict.confidence,
            measured_processors: findings.measured_processors,
            costs: CostsSummary {
                count: costs,
                missed_target: missed,
                on_disturbed,
                runs,
                set_aside,
                vcpu_moved_runs,
                handover_ns: provenance.handover.map(|time| time.0),
                handover_range_ns: provenance.handover_range.map(|ends| ends.map(|time| time.0)),
                between_studies: BETWEEN_STUDIES,
            },
            advice: findings.advice.iter().map(|advice| HostSummary::new(findings, advice)).collect(),
            servers: findings.servers.advice.iter().map(ServerAdviceSummary::new).collect(),
            many_streams: findings
                .many_streams
                .as_ref()
                .map(|many| StreamsSummary { streams: many.streams, choices: many.choices.clone() }),
        }
    }
}

impl HostSummary {
    fn new(findings: &Findings, advice: &Advice) -> Self {
        let capacity = &advice.capacity;
        let ordinary = |Ordinary { rate, load, best, over_default }| OrdinarySummary {
            rate_per_s: rate.0,
            load,
            best,
            delay_saved_over_default: over_default,
        };
        Self {
            processors: advice.processors,
            ordinary: advice.ordinary.map(ordinary),
            regions: advice
                .regions
                .iter()
                .map(|region| RegionSummary::new(region, findings.grade_region(advice, region)))
                .collect(),
            best_capacity: capacity.best,
            capacity_as_good: capacity.as_good.clone(),
            capacity_per_s: capacity.capacity,
            capacity_between_per_s: capacity.between,
            capacity_over_default: capacity.over_default,
            capacity_over_worst: capacity.over_worst,
            capacity_confidence: findings.grade_capacity(advice),
        }
    }
}

impl RegionSummary {
    fn new(region: &Region, confidence: Confidence) -> Self {
        let ends = |gain: Gain| [gain.least.gain, gain.most.gain];
        Self {
            from_per_s: region.from.0,
            to_per_s: region.to.0,
            simulated: region.simulated,
            from_between_per_s: region.border.and_then(|border| border.within),
            best: region.best,
            as_good: region.as_good.clone(),
            among_best: region.among_best.clone(),
            default_saturates: region.default_saturates,
            delay_saved_over_default: region.over_default.map(ends),
            delay_saved_over_worst: region.over_worst.map(ends),
            at_most_lost: region.at_most_lost,
            confidence,
        }
    }
}
