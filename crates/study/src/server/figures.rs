//! The figures of a load, from measurement or the simulator.

use warmcore_measure::requests::load::LoadFigures;
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The figures of a server at one load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerFigures {
    /// Mean delay: from the time at which a request is due until its reply is back.
    pub delay: Estimate<Nanos>,
    /// Half of the requests have a smaller delay.
    pub p50: Estimate<Nanos>,
    /// One request in a hundred has a larger delay.
    pub p99: Estimate<Nanos>,
    /// Processor time of the workers for a request.
    pub worker_cpu: Estimate<Nanos>,
    /// Time of the call that sends a request; it contains the softirq, which wakes a worker.
    pub call: Estimate<Nanos>,
    /// The share of requests that the worker on the softirq's processor handles.
    pub here: f64,
}

impl ServerFigures {
    /// Processor time for a request, of worker, softirq and sending.
    #[must_use]
    pub fn cpu(&self) -> Estimate<Nanos> {
        let half = |time: Estimate<Nanos>| time.half_width.map_or(f64::INFINITY, |half| half.0);
        let mean = self.worker_cpu.mean + self.call.mean;
        Estimate::new(mean, Nanos(half(self.worker_cpu).hypot(half(self.call))))
    }

    /// The means over runs of one load, with the intervals that the spread of the runs gives; `None` without runs.
    #[must_use]
    pub fn from_runs(runs: &[LoadFigures]) -> Option<Self> {
        let over = |value: &dyn Fn(&LoadFigures) -> Nanos| {
            let values: Vec<f64> = runs.iter().map(|run| value(run).0).collect();
            let Interval { mean, half_width, .. } = Interval::from_observations(&values);
            Estimate::new(Nanos(mean), Nanos(half_width))
        };
        (!runs.is_empty()).then(|| Self {
            delay: over(&|run| run.delay),
            p50: over(&|run| run.p50),
            p99: over(&|run| run.p99),
            worker_cpu: over(&|run| run.worker_cpu),
            call: over(&|run| run.call),
            here: runs.iter().map(|run| run.here).sum::<f64>() / runs.len() as f64,
        })
    }
}

/// What became of the requests of all runs of one load.
#[derive(Clone, PartialEq, Debug)]
pub struct Fates {
    /// Requests that were due.
    pub requests: usize,
    /// Of them, those without a reply.
    pub lost: usize,
    /// Of those with one, how many the handler left unanswered: the reply was an empty one of ours.
    pub unanswered: usize,
    /// The share that stalls of the machine delayed, which are left out of the delays.
    pub disturbed: f64,
    /// The share that each worker handled.
    pub shares: Vec<f64>,
    /// Replies per second.
    pub throughput: PerSecond,
    /// Whether a source was so late that it gave up: the rate is beyond what they can send.
    pub fell_behind: bool,
    /// Why sources had no real-time priority, if they had none.
    pub without_priority: Option<String>,
}

impl Fates {
    /// Those of `runs`.
    #[must_use]
    pub fn of(runs: &[LoadFigures]) -> Self {
        let mean = |value: &dyn Fn(&LoadFigures) -> f64| {
            runs.iter().map(value).sum::<f64>() / runs.len().max(1) as f64
        };
        let sum = |value: fn(&LoadFigures) -> usize| runs.iter().map(value).sum();
        let workers = runs.iter().map(|run| run.shares.len()).max().unwrap_or(0);
        let share = |worker| mean(&|run| run.shares.get(worker).copied().unwrap_or(0.0));
        Self {
            requests: sum(|run| run.requests),
            lost: sum(|run| run.lost),
            unanswered: sum(|run| run.unanswered),
            disturbed: mean(&|run| run.disturbed),
            shares: (0..workers).map(share).collect(),
            throughput: PerSecond(mean(&|run| run.throughput.0)),
            fell_behind: runs.iter().any(|run| run.fell_behind),
            without_priority: runs.iter().find_map(|run| run.without_priority.clone()),
        }
    }
}
