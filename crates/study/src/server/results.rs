//! The figures of a comparison for other programs.

use super::advice::{RateAdvice, ServerAdvice};
use super::best::{Best, best};
use super::compare::ServerComparison;
use super::figures::ServerFigures;
use super::point::{JudgedQuantity, ServerPoint, Term};
use super::present::advised;
use serde::Serialize;
use warmcore_record::columns::{Column, Columns, ColumnsError};
use warmcore_scenario::ServerPolicy;
use warmcore_units::{Estimate, Nanos};

/// A time in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Micros {
    mean_us: f64,
    half_width_us: Option<f64>,
}

/// The figures of a load.
#[derive(Clone, Debug, Serialize)]
pub struct FiguresSummary {
    delay: Micros,
    p50: Micros,
    p99: Micros,
    worker_cpu: Micros,
    call: Micros,
    /// The share of requests that the worker on the softirq's processor handles.
    here: f64,
}

/// One point.
#[derive(Clone, Debug, Serialize)]
pub struct PointSummary {
    policy: String,
    load: f64,
    rate_per_s: f64,
    predicted: Option<FiguresSummary>,
    measured: Option<FiguresSummary>,
    /// Predicted over measured, less one.
    delay_error: Option<f64>,
    cpu_error: Option<f64>,
    /// `good`, `off` or `undecided`; null if the point cannot be judged.
    judgement: Option<String>,
    not_judged: Option<&'static str>,
    /// The part that is furthest off, if the point is off.
    term: Option<String>,
    lost: f64,
    /// The share of requests that stalls of the machine delayed, which are left out of the delays.
    disturbed: f64,
}

/// The best policy at one rate.
#[derive(Clone, Debug, Serialize)]
struct BestSummary {
    rate_per_s: f64,
    quantity: String,
    predicted: String,
    measured: String,
    spread: f64,
    regret: f64,
    matters: bool,
    is_right: bool,
}

/// All of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct ServerSummary {
    /// By policy, then by load.
    pub points: Vec<PointSummary>,
    best: Vec<BestSummary>,
    notes: Vec<String>,
}

/// Which way to share a port costs least, as a study prints it.
#[derive(Clone, Debug, Serialize)]
pub struct ServerAdviceSummary {
    state_bytes: usize,
    /// The library that handles requests.
    library: Option<String>,
    processors: usize,
    headline: String,
    /// What the cheapest policy saves of the most expensive one's processor time at the rate that the headline speaks of, when
    /// both were run; null if they were not.
    saving_when_run: Option<Estimate<f64>>,
    rates: Vec<RateSummary>,
}

#[derive(Clone, Debug, Serialize)]
struct RateSummary {
    rate_per_s: f64,
    cheapest: Option<ServerPolicy>,
    /// What the cheapest saves of each other policy's processor time, as a fraction.
    savings: Vec<(ServerPolicy, Estimate<f64>)>,
    /// Processor time for a request, in µs, and mean delay.
    policies: Vec<PolicySummary>,
}

#[derive(Clone, Debug, Serialize)]
struct PolicySummary {
    policy: ServerPolicy,
    cpu: Micros,
    delay: Micros,
}

impl ServerAdviceSummary {
    /// The figures of `advice`.
    #[must_use]
    pub fn new(advice: &ServerAdvice) -> Self {
        let policy = |(policy, figures): &(ServerPolicy, ServerFigures)| PolicySummary {
            policy: *policy,
            cpu: Micros::new(figures.cpu()),
            delay: Micros::new(figures.delay),
        };
        let rate = |at: &RateAdvice| RateSummary {
            rate_per_s: at.rate.0,
            cheapest: at.cheapest.as_ref().map(|cheapest| cheapest.policy),
            savings: at.cheapest.as_ref().map_or_else(Vec::new, |cheapest| cheapest.savings.clone()),
            policies: at.figures.iter().map(policy).collect(),
        };
        Self {
            state_bytes: advice.state_bytes,
            library: advice.library.as_ref().map(|library| library.name.clone()),
            processors: advice.processors,
            headline: advised::headline(advice),
            saving_when_run: advice.verified.map(|verified| verified.saving),
            rates: advice.rates.iter().map(rate).collect(),
        }
    }
}

impl Micros {
    fn new(time: Estimate<Nanos>) -> Self {
        let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
        Self { mean_us: time.mean.micros(), half_width_us: half }
    }
}

impl FiguresSummary {
    /// Those of `figures`.
    #[must_use]
    pub fn new(figures: &ServerFigures) -> Self {
        Self {
            delay: Micros::new(figures.delay),
            p50: Micros::new(figures.p50),
            p99: Micros::new(figures.p99),
            worker_cpu: Micros::new(figures.worker_cpu),
            call: Micros::new(figures.call),
            here: figures.here,
        }
    }
}

impl ServerSummary {
    /// The figures of `comparison`.
    #[must_use]
    pub fn new(comparison: &ServerComparison) -> Self {
        let points = comparison
            .compared
            .iter()
            .flat_map(|compared| compared.points.iter().map(|point| summary(compared.policy, point)));
        Self {
            points: points.collect(),
            best: best(comparison).iter().map(BestSummary::new).collect(),
            notes: comparison.notes.clone(),
        }
    }
}

fn summary(policy: impl ToString, point: &ServerPoint) -> PointSummary {
    let error = |quantity| point.error(quantity).map(|error| error.mean).filter(|error| error.is_finite());
    PointSummary {
        policy: policy.to_string(),
        load: point.load,
        rate_per_s: point.rate.0,
        predicted: point.predicted.as_ref().map(FiguresSummary::new),
        measured: point.measured.as_ref().map(FiguresSummary::new),
        delay_error: error(JudgedQuantity::Delay),
        cpu_error: error(JudgedQuantity::Cpu),
        judgement: point.judgement().map(|judgement| judgement.to_string()),
        not_judged: point.unjudged(),
        term: point.term().filter(|term| *term != Term::None).map(|term| term.to_string()),
        lost: point.lost,
        disturbed: point.disturbed,
    }
}

impl BestSummary {
    fn new(best: &Best) -> Self {
        Self {
            rate_per_s: best.rate.0,
            quantity: best.quantity.to_string(),
            predicted: best.predicted.to_string(),
            measured: best.measured.to_string(),
            spread: best.spread,
            regret: best.regret,
            matters: best.matters(),
            is_right: best.is_right(),
        }
    }
}

/// The points as columns of a table.
///
/// # Errors
/// If columns have different lengths, which points cannot make.
pub fn columns(points: &[PointSummary]) -> Result<Columns, ColumnsError> {
    let plain = |name: &str, unit: &str, of: fn(&PointSummary) -> Option<f64>| {
        Column::floats(name, unit, points.iter().map(of))
    };
    let mut columns = vec![
        Column::texts("policy", points.iter().map(|point| Some(point.policy.clone()))),
        plain("load", "", |point| Some(point.load)),
        plain("rate_per_s", "/s", |point| Some(point.rate_per_s)),
        plain("delay_error", "", |point| point.delay_error),
        plain("cpu_error", "", |point| point.cpu_error),
        plain("lost", "", |point| Some(point.lost)),
        plain("disturbed", "", |point| Some(point.disturbed)),
        Column::texts("judgement", points.iter().map(|point| point.judgement.clone())),
        Column::texts("term", points.iter().map(|point| point.term.clone())),
    ];
    columns.extend(figure_columns("predicted", points, |point| point.predicted.as_ref()));
    columns.extend(figure_columns("measured", points, |point| point.measured.as_ref()));
    Columns::new(columns)
}

/// The columns of predicted or measured figures.
fn figure_columns(
    name: &str,
    points: &[PointSummary],
    of: fn(&PointSummary) -> Option<&FiguresSummary>,
) -> Vec<Column> {
    let times = |quantity: &str, pick: fn(&FiguresSummary) -> Micros| {
        let values = |part: fn(Micros) -> Option<f64>| {
            points.iter().map(move |point| part(pick(of(point)?))).collect::<Vec<_>>()
        };
        [
            Column::floats(format!("{name}_{quantity}_us"), "µs", values(|time| Some(time.mean_us))),
            Column::floats(
                format!("{name}_{quantity}_half_width_us"),
                "µs",
                values(|time| time.half_width_us),
            ),
        ]
    };
    let here = Column::floats(format!("{name}_here"), "", points.iter().map(|point| Some(of(point)?.here)));
    [
        times("delay", |figures| figures.delay),
        times("p50", |figures| figures.p50),
        times("p99", |figures| figures.p99),
        times("worker_cpu", |figures| figures.worker_cpu),
        times("call", |figures| figures.call),
    ]
    .into_iter()
    .flatten()
    .chain([here])
    .collect()
}
