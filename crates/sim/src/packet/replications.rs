//! Combines independent runs of one point.

use crate::packet::figures::ExtensionFigures;
use crate::packet::outcome::{DelayQuantiles, Ended, Fairness, Outcome};
use crate::packet::run::Replication;
use warmcore_stats::quantiles::across;
use warmcore_stats::{Interval, Replications};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// From this many replications on, their spread gives the interval. Fewer would estimate it badly; then each
/// run's own half-width is used.
pub(super) const ENOUGH: usize = 10;

/// The combined outcome of `runs`, equally weighted; `None` without runs. It is precise if the half-width of
/// the mean delay is at most `relative` times the mean.
pub(super) fn combined(runs: Vec<Replication>, relative: f64) -> Option<Outcome> {
    let (outcomes, delays): (Vec<Outcome>, Vec<_>) =
        runs.into_iter().map(|run| (run.outcome, run.delays)).unzip();
    let &first = outcomes.first()?;
    if outcomes.len() == 1 {
        return Some(first);
    }
    let own = |p: fn(&Outcome) -> Estimate<f64>| estimate(&outcomes.iter().map(p).collect::<Vec<_>>());
    let time = |of: Estimate<f64>| of.map(Nanos);
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
            DelayQuantiles::from_fn(|p| across(&delays, p))
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
        extensions: ExtensionFigures::combined(
            &outcomes.iter().map(|run| run.extensions).collect::<Vec<_>>(),
            estimate,
        ),
        ended: ended(&outcomes, delay.relative_half_width().is_some_and(|half| half <= relative)),
    })
}

fn plain(of: Estimate<Nanos>) -> Estimate<f64> {
    of.map(|time| time.0)
}

/// The mean of the runs' estimates.
pub(super) fn estimate(runs: &[Estimate<f64>]) -> Estimate<f64> {
    let means: Replications = runs.iter().map(|run| run.mean).collect();
    let Interval { mean, half_width, .. } = means.interval();
    if runs.len() >= ENOUGH {
        return Estimate::new(mean, half_width);
    }
    let squares: f64 = runs.iter().map(|run| run.half().powi(2)).sum();
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

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Situation;

    /// A run of a mean delay of 100 ns ± 10 ns.
    fn run(ended: Ended) -> Replication {
        let delay = Estimate::new(Nanos(100.0), Nanos(10.0));
        let outcome = Outcome {
            delay,
            service: delay,
            quantiles: DelayQuantiles { p50: delay, p99: delay, p999: delay },
            fairness: Fairness { jain: 1.0, least: Nanos(100.0), greatest: Nanos(100.0) },
            utilisation: Estimate::new(0.5, 0.01),
            throughput: PerSecond(1.0),
            situations: [0; Situation::COUNT],
            warmup: 0,
            packets: 1,
            ended,
            extensions: ExtensionFigures::default(),
        };
        Replication { outcome, delays: warmcore_stats::histogram::Histogram::default(), grows: false }
    }

    #[test]
    fn the_combined_end_reflects_every_run() {
        let together = |runs: [Ended; 2], relative| {
            let outcome = combined(runs.map(run).into(), relative).unwrap();
            assert!((outcome.delay.half_width.unwrap().0 - 10.0 / 2_f64.sqrt()).abs() < 1e-9);
            outcome.ended
        };
        assert_eq!(together([Ended::Exhausted, Ended::Unknown], 0.05), Ended::Unknown);
        assert_eq!(together([Ended::Exhausted, Ended::NoMoreArrivals], 0.05), Ended::Exhausted);
        assert_eq!(together([Ended::NoMoreArrivals; 2], 0.05), Ended::NoMoreArrivals);
        // Together they are precise enough; neither is alone.
        assert_eq!(together([Ended::Exhausted, Ended::Unknown], 0.08), Ended::Precise);
    }
}
