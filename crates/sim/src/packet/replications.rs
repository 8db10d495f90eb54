//! Independent runs of one point, taken together.

use crate::packet::outcome::{DelayQuantiles, Ended, Fairness, Outcome};
use crate::packet::run::Observed;
use warmcore_stats::quantiles::across;
use warmcore_stats::{Interval, Replications};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// From so many replications on, their spread is the uncertainty; fewer would know it too badly,
/// and each one's own half-width is used.
pub(super) const ENOUGH: usize = 10;

/// What `runs`, each with equal weight, amount to; `None` without any. Together they are precise
/// if the half-width of the mean delay is at most `relative` times it.
pub(super) fn combined(runs: Vec<Observed>, relative: f64) -> Option<Outcome> {
    let (outcomes, delays): (Vec<Outcome>, Vec<_>) =
        runs.into_iter().map(|run| (run.outcome, run.delays)).unzip();
    let &first = outcomes.first()?;
    if outcomes.len() == 1 {
        return Some(first);
    }
    let own = |p: fn(&Outcome) -> Estimate<f64>| estimate(&outcomes.iter().map(p).collect::<Vec<_>>());
    let time = |of: Estimate<f64>| Estimate { mean: Nanos(of.mean), half_width: of.half_width.map(Nanos) };
    let delay = time(own(|run| plain(run.delay)));
    let mean = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64;
    let mut situations = [0; _];
    for outcome in &outcomes {
        situations.iter_mut().zip(outcome.situations).for_each(|(sum, count)| *sum += count);
    }
    Some(Outcome {
        delay,
        service: time(own(|run| plain(run.service))),
        quantiles: if outcomes.len() >= ENOUGH {
            DelayQuantiles::of(|p| across(&delays, p))
        } else {
            DelayQuantiles {
                p50: time(own(|run| plain(run.quantiles.p50))),
                p99: time(own(|run| plain(run.quantiles.p99))),
                p999: time(own(|run| plain(run.quantiles.p999))),
            }
        },
        fairness: Fairness {
            jain: mean(|run| run.fairness.jain),
            least: Nanos(mean(|run| run.fairness.least.0)),
            greatest: Nanos(mean(|run| run.fairness.greatest.0)),
        },
        utilisation: own(|run| run.utilisation),
        throughput: PerSecond(mean(|run| run.throughput.0)),
        situations,
        warmup: outcomes.iter().map(|run| run.warmup).sum(),
        packets: outcomes.iter().map(|run| run.packets).sum(),
        ended: ended(&outcomes, delay.relative_half_width().is_some_and(|half| half <= relative)),
    })
}

fn plain(of: Estimate<Nanos>) -> Estimate<f64> {
    Estimate { mean: of.mean.0, half_width: of.half_width.map(|half| half.0) }
}

/// The mean of the runs' own estimates.
fn estimate(runs: &[Estimate<f64>]) -> Estimate<f64> {
    let means: Replications = runs.iter().map(|run| run.mean).collect();
    let Interval { mean, half_width, .. } = means.interval();
    if runs.len() >= ENOUGH {
        return Estimate::new(mean, half_width);
    }
    let squares: f64 = runs.iter().map(|run| run.half_width.unwrap_or(f64::INFINITY).powi(2)).sum();
    Estimate::new(mean, squares.sqrt() / runs.len() as f64)
}

fn ended(outcomes: &[Outcome], precise: bool) -> Ended {
    if precise {
        Ended::Precise
    } else if outcomes.iter().any(|run| run.ended == Ended::Unknown) {
        Ended::Unknown
    } else if outcomes.iter().all(|run| run.ended == Ended::NoMoreArrivals) {
        Ended::NoMoreArrivals
    } else {
        Ended::Exhausted
    }
}
