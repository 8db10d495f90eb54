//! The figures of a comparison for other programs.

use super::Compared;
use super::point::{ComparedPoint, Figures};
use serde::Serialize;
use warmcore_costs::Situation;
use warmcore_record::columns::{Column, Columns, ColumnsError};
use warmcore_units::{Estimate, Nanos};

/// One point as it is printed: an object. Times are in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct PointSummary {
    approach: String,
    policy: String,
    threads: String,
    memory: String,
    load: f64,
    rate_per_s: f64,
    saturated: bool,
    predicted_mean_us: Option<f64>,
    predicted_half_width_us: Option<f64>,
    measured_mean_us: Option<f64>,
    measured_half_width_us: Option<f64>,
    relative_error: Option<f64>,
    relative_error_half_width: Option<f64>,
    good: Option<bool>,
    term: Option<String>,
    predicted_p50_us: Option<f64>,
    measured_p50_us: Option<f64>,
    predicted_p99_us: Option<f64>,
    measured_p99_us: Option<f64>,
    predicted_stack_us: Option<f64>,
    measured_stack_us: Option<f64>,
    predicted_situations: Vec<(String, f64)>,
    measured_situations: Vec<(String, f64)>,
    deciding_us: f64,
    turning_us: f64,
    disturbed_packets: f64,
    rehearsal_disturbed_packets: f64,
    /// Whether the machine was quiet enough for the point to be judged.
    quiet: bool,
    processors_near: bool,
}

impl PointSummary {
    /// `point` of `compared`.
    #[must_use]
    pub fn of(compared: &Compared, point: &ComparedPoint) -> Self {
        let scheduling = compared.scheduling;
        let (predicted, measured) = (point.predicted.as_ref(), point.measured.as_ref());
        let mean = |figures: Option<&Figures>, of: fn(&Figures) -> Estimate<Nanos>| {
            figures.map(|figures| of(figures).mean.micros())
        };
        let half = |figures: Option<&Figures>| Some(figures?.delay.half_width?.micros());
        let error = point.error();
        let costs = point.costs;
        Self {
            approach: scheduling.approach.to_string(),
            policy: scheduling.policy.to_string(),
            threads: scheduling.threads.to_string(),
            memory: scheduling.memory.to_string(),
            load: point.load,
            rate_per_s: point.rate.0,
            saturated: predicted.is_none(),
            predicted_mean_us: mean(predicted, |figures| figures.delay),
            predicted_half_width_us: half(predicted),
            measured_mean_us: mean(measured, |figures| figures.delay),
            measured_half_width_us: half(measured),
            relative_error: error.map(|error| error.mean),
            relative_error_half_width: error.and_then(|error| error.half_width),
            good: point.is_good(),
            term: point.term().map(|term| term.to_string()),
            predicted_p50_us: mean(predicted, |figures| figures.p50),
            measured_p50_us: mean(measured, |figures| figures.p50),
            predicted_p99_us: mean(predicted, |figures| figures.p99),
            measured_p99_us: mean(measured, |figures| figures.p99),
            predicted_stack_us: mean(predicted, |figures| figures.stack),
            measured_stack_us: mean(measured, |figures| figures.stack),
            predicted_situations: shares(predicted),
            measured_situations: shares(measured),
            deciding_us: costs.deciding.mean.micros(),
            turning_us: costs.turning.mean.micros(),
            disturbed_packets: point.disturbed,
            rehearsal_disturbed_packets: point.rehearsal_disturbed,
            quiet: point.is_quiet(),
            processors_near: point.near,
        }
    }

    /// Every point of `all`.
    #[must_use]
    pub fn of_all(all: &[Compared]) -> Vec<Self> {
        all.iter()
            .flat_map(|compared| compared.points.iter().map(|point| Self::of(compared, point)))
            .collect()
    }
}

/// The situations that were met, with their shares.
fn shares(figures: Option<&Figures>) -> Vec<(String, f64)> {
    let Some(figures) = figures else { return Vec::new() };
    let met = Situation::all().zip(figures.situations).filter(|(_, share)| *share > 0.0);
    met.map(|(situation, share)| (situation.to_string(), share)).collect()
}

/// A table with a row for each of `points`.
///
/// # Errors
/// Never, as long as every column has a name of its own.
pub fn columns(points: &[PointSummary]) -> Result<Columns, ColumnsError> {
    let texts = |name: &str, of: fn(&PointSummary) -> &str| {
        Column::texts(name, points.iter().map(|point| Some(of(point).to_owned())))
    };
    let micros =
        |name: &str, of: fn(&PointSummary) -> Option<f64>| Column::floats(name, "µs", points.iter().map(of));
    let plain = |name: &str, unit: &str, of: fn(&PointSummary) -> Option<f64>| {
        Column::floats(name, unit, points.iter().map(of))
    };
    Columns::new(vec![
        texts("approach", |point| &point.approach),
        texts("policy", |point| &point.policy),
        texts("threads", |point| &point.threads),
        texts("memory", |point| &point.memory),
        plain("load", "", |point| Some(point.load)),
        plain("rate_per_s", "/s", |point| Some(point.rate_per_s)),
        micros("predicted_mean_us", |point| point.predicted_mean_us),
        micros("predicted_half_width_us", |point| point.predicted_half_width_us),
        micros("measured_mean_us", |point| point.measured_mean_us),
        micros("measured_half_width_us", |point| point.measured_half_width_us),
        plain("relative_error", "", |point| point.relative_error),
        plain("relative_error_half_width", "", |point| point.relative_error_half_width),
        micros("predicted_p50_us", |point| point.predicted_p50_us),
        micros("measured_p50_us", |point| point.measured_p50_us),
        micros("predicted_p99_us", |point| point.predicted_p99_us),
        micros("measured_p99_us", |point| point.measured_p99_us),
        micros("predicted_stack_us", |point| point.predicted_stack_us),
        micros("measured_stack_us", |point| point.measured_stack_us),
        micros("deciding_us", |point| Some(point.deciding_us)),
        micros("turning_us", |point| Some(point.turning_us)),
        plain("disturbed_packets", "", |point| Some(point.disturbed_packets)),
        plain("rehearsal_disturbed_packets", "", |point| Some(point.rehearsal_disturbed_packets)),
        Column::flags("quiet", points.iter().map(|point| Some(point.quiet))),
        Column::flags("processors_near", points.iter().map(|point| Some(point.processors_near))),
    ])
}
