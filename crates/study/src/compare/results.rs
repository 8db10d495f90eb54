//! The figures of a comparison for other programs.

use super::costs::RuntimeCosts;
use super::differences::{Difference, differences};
use super::figures::LoadFigures;
use super::point::{ComparedPoint, JudgedQuantity, PredictionModel};
use super::{Compared, Comparison};
use serde::Serialize;
use warmcore_costs::Situation;
use warmcore_record::columns::{Column, Columns, ColumnsError};
use warmcore_units::{Estimate, Nanos};

/// A time in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Micros {
    mean_us: f64,
    half_width_us: Option<f64>,
}

/// A fraction of the measured value.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fraction {
    mean: f64,
    half_width: Option<f64>,
}

/// A predicted figure and the measured one.
#[derive(Clone, Debug, Serialize)]
pub struct QuantitySummary {
    predicted: Option<Micros>,
    null: Option<Micros>,
    measured: Option<Micros>,
    error: Option<Fraction>,
    null_error: Option<Fraction>,
    /// `good`, `off` or `undecided`; `None` if the point cannot be judged.
    judgement: Option<String>,
    null_judgement: Option<String>,
}

/// One point, as it is printed in JSON.
#[derive(Clone, Debug, Serialize)]
pub struct PointSummary {
    approach: String,
    policy: String,
    threads: String,
    memory: String,
    load: f64,
    rate_per_s: f64,
    /// Whether the host is predicted to be saturated.
    saturated: bool,
    delay: QuantitySummary,
    stack: QuantitySummary,
    p99: QuantitySummary,
    predicted_p50_us: Option<f64>,
    measured_p50_us: Option<f64>,
    judgement: Option<String>,
    null_judgement: Option<String>,
    /// Why there is no judgement.
    not_judged: Option<&'static str>,
    term: Option<String>,
    predicted_situations: Vec<(String, f64)>,
    measured_situations: Vec<(String, f64)>,
    /// The share of packets that met a time in which a worker was kept from running; null if nothing was measured.
    disturbed_share: Option<f64>,
    /// The predicted share of time in the stack during which others use it too.
    together: f64,
    /// Whether the machine was quiet enough for the point to be judged.
    quiet: bool,
    processors_near: bool,
}

/// The costs of the runtime.
#[derive(Clone, Debug, Serialize)]
pub struct CostsSummary {
    scheduling: String,
    rate_per_s: f64,
    deciding: Micros,
    starting: Micros,
    stack: Micros,
    /// Whether these are the costs of workers that decide alone; otherwise they share a dispatcher.
    alone: bool,
}

/// How much another scheduling changes.
#[derive(Clone, Debug, Serialize)]
pub struct DifferenceSummary {
    scheduling: String,
    rate_per_s: f64,
    predicted: Fraction,
    null: Option<Fraction>,
    measured: Fraction,
    judgement: String,
    null_judgement: Option<String>,
    order_is_right: Option<bool>,
}

/// All of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// One for each kind of dispatcher.
    costs: Vec<CostsSummary>,
    /// By scheduling, then by load.
    pub points: Vec<PointSummary>,
    differences: Vec<DifferenceSummary>,
}

impl Micros {
    fn new(time: Estimate<Nanos>) -> Self {
        let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
        Self { mean_us: time.mean.micros(), half_width_us: half }
    }
}

impl Fraction {
    fn new(fraction: Estimate<f64>) -> Self {
        Self { mean: fraction.mean, half_width: fraction.half_width.filter(|half| half.is_finite()) }
    }
}

impl QuantitySummary {
    fn new(point: &ComparedPoint, quantity: JudgedQuantity) -> Self {
        let micros =
            |figures: Option<&LoadFigures>| figures.map(|figures| Micros::new(quantity.value_in(figures)));
        let judged = |source| point.judged(quantity, source).map(|judgement| judgement.to_string());
        Self {
            predicted: micros(point.by(PredictionModel::Caches)),
            null: micros(point.by(PredictionModel::Null)),
            measured: micros(point.figures()),
            error: point.error(quantity, PredictionModel::Caches).map(Fraction::new),
            null_error: point.error(quantity, PredictionModel::Null).map(Fraction::new),
            judgement: judged(PredictionModel::Caches),
            null_judgement: judged(PredictionModel::Null),
        }
    }
}

impl PointSummary {
    fn new(compared: &Compared, point: &ComparedPoint) -> Self {
        let scheduling = compared.scheduling;
        let median = |figures: Option<&LoadFigures>| figures.map(|figures| figures.p50.mean.micros());
        let verdict = |source| point.judgement(source).map(|judgement| judgement.to_string());
        Self {
            approach: scheduling.approach.to_string(),
            policy: scheduling.policy.to_string(),
            threads: scheduling.threads.to_string(),
            memory: scheduling.memory.to_string(),
            load: point.load,
            rate_per_s: point.rate.0,
            saturated: point.by(PredictionModel::Caches).is_none(),
            delay: QuantitySummary::new(point, JudgedQuantity::Delay),
            stack: QuantitySummary::new(point, JudgedQuantity::Stack),
            p99: QuantitySummary::new(point, JudgedQuantity::P99),
            predicted_p50_us: median(point.by(PredictionModel::Caches)),
            measured_p50_us: median(point.figures()),
            judgement: verdict(PredictionModel::Caches),
            null_judgement: verdict(PredictionModel::Null),
            not_judged: point.unjudged(),
            term: point.term().map(|term| term.to_string()),
            predicted_situations: shares(point.by(PredictionModel::Caches)),
            measured_situations: shares(point.figures()),
            disturbed_share: point.measured.as_ref().map(|measured| measured.disturbed),
            together: point.predicted.together,
            quiet: point.is_quiet(),
            processors_near: point.is_near(),
        }
    }
}

impl CostsSummary {
    fn new(costs: &RuntimeCosts) -> Self {
        Self {
            scheduling: costs.scheduling.to_string(),
            rate_per_s: costs.rate.0,
            deciding: Micros::new(costs.deciding),
            starting: Micros::new(costs.starting),
            stack: Micros::new(costs.stack),
            alone: costs.alone,
        }
    }
}

impl DifferenceSummary {
    fn new(difference: &Difference) -> Self {
        Self {
            scheduling: difference.scheduling.to_string(),
            rate_per_s: difference.rate.0,
            predicted: Fraction::new(difference.predicted),
            null: difference.null.map(Fraction::new),
            measured: Fraction::new(difference.measured),
            judgement: difference.judged().to_string(),
            null_judgement: difference.null_judged().map(|judgement| judgement.to_string()),
            order_is_right: difference.order_is_right(),
        }
    }
}

impl Summary {
    /// The summary of `comparison`.
    #[must_use]
    pub fn new(comparison: &Comparison) -> Self {
        let Comparison { costs, compared } = comparison;
        let points = |compared: &Compared| -> Vec<_> {
            compared.points.iter().map(|point| PointSummary::new(compared, point)).collect()
        };
        Self {
            costs: costs.iter().map(CostsSummary::new).collect(),
            points: compared.iter().flat_map(points).collect(),
            differences: differences(compared).iter().map(DifferenceSummary::new).collect(),
        }
    }
}

/// The situations that occurred, with their shares.
fn shares(figures: Option<&LoadFigures>) -> Vec<(String, f64)> {
    let Some(figures) = figures else { return Vec::new() };
    let met = Situation::all().zip(figures.situations).filter(|(_, share)| *share > 0.0);
    met.map(|(situation, share)| (situation.to_string(), share)).collect()
}

/// A table with one row per point.
///
/// # Errors
/// Never, as long as every column has its own name.
pub fn columns(points: &[PointSummary]) -> Result<Columns, ColumnsError> {
    let texts = |name: &str, of: fn(&PointSummary) -> &str| {
        Column::texts(name, points.iter().map(|point| Some(of(point).to_owned())))
    };
    let plain = |name: &str, unit: &str, of: fn(&PointSummary) -> Option<f64>| {
        Column::floats(name, unit, points.iter().map(of))
    };
    let mut columns = vec![
        texts("approach", |point| &point.approach),
        texts("policy", |point| &point.policy),
        texts("threads", |point| &point.threads),
        texts("memory", |point| &point.memory),
        plain("load", "", |point| Some(point.load)),
        plain("rate_per_s", "/s", |point| Some(point.rate_per_s)),
        plain("predicted_p50_us", "µs", |point| point.predicted_p50_us),
        plain("measured_p50_us", "µs", |point| point.measured_p50_us),
        plain("together", "", |point| Some(point.together)),
        plain("disturbed_share", "", |point| point.disturbed_share),
        Column::flags("quiet", points.iter().map(|point| Some(point.quiet))),
        Column::flags("processors_near", points.iter().map(|point| Some(point.processors_near))),
        Column::texts("judgement", points.iter().map(|point| point.judgement.clone())),
        Column::texts("null_judgement", points.iter().map(|point| point.null_judgement.clone())),
    ];
    columns.extend(quantity_columns("mean", points, |point| &point.delay));
    columns.extend(quantity_columns("stack", points, |point| &point.stack));
    columns.extend(quantity_columns("p99", points, |point| &point.p99));
    Columns::new(columns)
}

/// The columns of one quantity.
fn quantity_columns(
    name: &str,
    points: &[PointSummary],
    of: fn(&PointSummary) -> &QuantitySummary,
) -> Vec<Column> {
    let floats = |suffix: &str, unit: &str, pick: fn(&QuantitySummary) -> Option<f64>| {
        Column::floats(format!("{name}_{suffix}"), unit, points.iter().map(|point| pick(of(point))))
    };
    vec![
        floats("predicted_us", "µs", |quantity| quantity.predicted.map(|time| time.mean_us)),
        floats("predicted_half_width_us", "µs", |quantity| quantity.predicted?.half_width_us),
        floats("null_us", "µs", |quantity| quantity.null.map(|time| time.mean_us)),
        floats("measured_us", "µs", |quantity| quantity.measured.map(|time| time.mean_us)),
        floats("measured_half_width_us", "µs", |quantity| quantity.measured?.half_width_us),
        floats("error", "", |quantity| quantity.error.map(|error| error.mean)),
        floats("error_half_width", "", |quantity| quantity.error?.half_width),
        floats("null_error", "", |quantity| quantity.null_error.map(|error| error.mean)),
    ]
}
