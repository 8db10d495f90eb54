//! Any quantile of the delay, with its interval, or how many packets it would take.
//!
//! A quantile is known from [`MIN_BEYOND`] packets beyond it in each of the groups of a run that its interval comes
//! from; or, with ten runs and more, in all of them together. Estimate and interval are those of
//! [`warmcore_stats::quantiles`], as those of the median and of the p99 of every point are.

use super::RunLimits;
use crate::packet::replications::ENOUGH;
use serde::{Deserialize, Serialize};
use warmcore_record::Column;
use warmcore_stats::Quantiles;
use warmcore_stats::quantiles::{GROUPS, MIN_BEYOND, across};
use warmcore_units::Fault;

/// The delays of one run.
pub(super) type Delays = Quantiles;

/// The least share of a run that its quantiles are known from: a twentieth is warm-up at least, and a 32nd may not
/// fill a section.
const USED: f64 = 0.9;
/// With fewer delays beyond it, a quantile is not given at all.
const LEAST_BEYOND: f64 = 10.0;

/// A quantile of the delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuantileFigure {
    /// The fraction of packets with a smaller delay.
    pub probability: f64,
    /// The delay, in nanoseconds; `None` if hardly a packet lies beyond it.
    pub delay_ns: Option<f64>,
    /// Half-width of its 95% interval; `None` if that is not known.
    pub half_width_ns: Option<f64>,
    /// The packets that each run would need for the interval; `None` if more packets would not help, or the interval
    /// is known.
    pub packets_needed: Option<u64>,
}

impl QuantileFigure {
    pub(super) fn without_interval(self) -> Self {
        Self { half_width_ns: None, packets_needed: None, ..self }
    }

    /// The columns of a table with a row for each of `figures`.
    #[must_use]
    pub fn columns(figures: &[Self]) -> Vec<Column> {
        let times =
            |name: &str, of: fn(&Self) -> Option<f64>| Column::floats(name, "ns", figures.iter().map(of));
        let needed = figures.iter().map(|figure| i64::try_from(figure.packets_needed?).ok());
        vec![
            Column::floats("probability", "", figures.iter().map(|figure| Some(figure.probability))),
            times("delay", |figure| figure.delay_ns),
            times("delay_half_width", |figure| figure.half_width_ns),
            Column::integers("packets_needed", needed),
        ]
    }
}

/// Checks that the quantile `p` can be known from the runs that there may be.
pub(super) fn check(p: f64, limits: &RunLimits) -> Result<(), Fault> {
    if !(p > 0.0 && p < 1.0) {
        return Err(Fault::new("quantiles", p, "between 0 and 1, such as 0.99"));
    }
    // Runs of periodic arrivals are short and many; a trace is as long as it is.
    if limits.are_short || limits.is_trace {
        return Ok(());
    }
    let (needed, most) = (needed(p, limits, limits.replications), limits.max_packets);
    if needed <= most {
        return Ok(());
    }
    let expected = format!(
        "a quantile that runs of at most {most} packets can tell: this one needs {needed} packets in each \
         (`run.max_packets` or `run.packets`), or fewer in each of {ENOUGH} replications and more"
    );
    Err(Fault::new("quantiles", p, expected))
}

/// Packets that each of `runs` runs needs for an interval of the quantile `p`.
fn needed(p: f64, limits: &RunLimits, runs: usize) -> u64 {
    let parts = if runs >= ENOUGH { 1.0 / ENOUGH as f64 } else { GROUPS as f64 };
    let packets = parts * MIN_BEYOND / p.min(1.0 - p) / USED;
    // Whole thousands, up.
    ((packets / 1_000.0).ceil() * 1_000.0) as u64 + limits.warmup_packets
}

/// The quantile `p` over `runs`, each with its warm-up.
pub(super) fn figure(p: f64, runs: &[(Delays, u64)], limits: &RunLimits) -> QuantileFigure {
    let steady: Vec<_> = runs.iter().map(|(delays, warmup)| delays.steady(*warmup)).collect();
    let beyond = |count: u64| p.min(1.0 - p) * count as f64;
    let (mean, half) = if runs.len() >= ENOUGH {
        let interval = across(&steady, p);
        let known = steady.iter().all(|run| beyond(run.count()) >= MIN_BEYOND / ENOUGH as f64);
        (interval.mean, if known { interval.half_width } else { f64::INFINITY })
    } else {
        let own: Vec<_> = runs.iter().map(|(delays, warmup)| delays.quantile(p, *warmup)).collect();
        let n = own.len() as f64;
        let squares: f64 = own.iter().map(|interval| interval.half_width.powi(2)).sum();
        (own.iter().map(|interval| interval.mean).sum::<f64>() / n, squares.sqrt() / n)
    };
    let is_seen = steady.iter().map(|run| beyond(run.count())).sum::<f64>() >= LEAST_BEYOND;
    let half_width = half.is_finite().then_some(half);
    QuantileFigure {
        probability: p,
        delay_ns: (is_seen && mean.is_finite()).then_some(mean),
        half_width_ns: half_width.filter(|_| is_seen),
        packets_needed: half_width
            .is_none()
            .then(|| needed(p, limits, runs.len()))
            .filter(|_| !limits.is_trace),
    }
}
