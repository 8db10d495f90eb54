//! The figures of a load, from measurement, the simulator, or the null model.

use super::quiet::{ObservedRun, quiet};
use warmcore_costs::Situation;
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The figures of a load.
#[derive(Clone, Debug)]
pub struct LoadFigures {
    /// Mean delay: from arrival to the end of service.
    pub delay: Estimate<Nanos>,
    /// Half of the packets have a smaller delay.
    pub p50: Estimate<Nanos>,
    /// One packet in a hundred has a larger delay.
    pub p99: Estimate<Nanos>,
    /// Mean time in the protocol stack and its handler.
    pub stack: Estimate<Nanos>,
    /// The share of packets in each situation, by its index.
    pub situations: [f64; Situation::COUNT],
}

/// The figures of one run.
#[derive(Clone, Debug)]
pub struct RunFigures {
    /// Its figures.
    pub figures: LoadFigures,
    /// What a packet that follows another costs its worker in addition to its time in the stack; not finite
    /// if there was none.
    pub overhead: Estimate<Nanos>,
    /// Packets finished per second, including disturbed ones.
    pub throughput: PerSecond,
}

/// The figures of several runs of one load.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The mean over the quiet runs, with the interval given by their spread; over all runs if fewer than
    /// [`LEAST`] were quiet.
    pub figures: LoadFigures,
    /// As for one run.
    pub overhead: Estimate<Nanos>,
    /// As for one run.
    pub throughput: PerSecond,
    /// The largest share, in any run that counts, of packets that arrived while a worker was kept from
    /// running.
    pub disturbed: f64,
    /// Whether the processors in the runs that count were at the same distance as when costs were measured.
    pub near: bool,
}

/// The number of quiet runs that suffices to compare them.
pub const LEAST: usize = 3;

impl Repeated {
    /// Combines `runs`; `None` if there are none.
    #[must_use]
    pub fn from_runs(runs: &[ObservedRun<RunFigures>]) -> Option<Self> {
        let counting = quiet(runs, LEAST);
        let first = counting.first()?;
        let mean = |of: fn(&RunFigures) -> Nanos| {
            // A run in which almost all packets were disturbed may have timed none.
            let values = counting.iter().map(|ran| of(&ran.outcome).0).filter(|value| value.is_finite());
            let values: Vec<f64> = values.collect();
            let Interval { mean, half_width, .. } = Interval::from_observations(&values);
            Estimate::new(Nanos(mean), Nanos(half_width))
        };
        let mut situations = first.outcome.figures.situations;
        for (index, share) in situations.iter_mut().enumerate() {
            let all = counting.iter().map(|ran| ran.outcome.figures.situations[index]);
            *share = all.sum::<f64>() / counting.len() as f64;
        }
        Some(Self {
            figures: LoadFigures {
                delay: mean(|run| run.figures.delay.mean),
                p50: mean(|run| run.figures.p50.mean),
                p99: mean(|run| run.figures.p99.mean),
                stack: mean(|run| run.figures.stack.mean),
                situations,
            },
            overhead: mean(|run| run.overhead.mean),
            throughput: PerSecond(
                counting.iter().map(|ran| ran.outcome.throughput.0).sum::<f64>() / counting.len() as f64,
            ),
            disturbed: counting.iter().map(|ran| ran.disturbed).fold(0.0, f64::max),
            near: counting.iter().all(|ran| ran.near),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::point::tests::figures;

    #[test]
    fn a_run_that_timed_no_packet_does_not_hide_the_others() {
        let run = |stack: f64| ObservedRun {
            outcome: RunFigures {
                figures: figures(1_000.0, stack),
                overhead: Estimate::new(Nanos(stack), Nanos::ZERO),
                throughput: PerSecond(1e6),
            },
            disturbed: 0.0,
            near: true,
        };
        let repeated = Repeated::from_runs(&[run(90.0), run(f64::NAN), run(110.0)]).unwrap();
        assert_eq!((repeated.figures.stack.mean, repeated.overhead.mean), (Nanos(100.0), Nanos(100.0)));
        assert_eq!((repeated.figures.delay.mean, repeated.throughput), (Nanos(1_000.0), PerSecond(1e6)));
    }
}
