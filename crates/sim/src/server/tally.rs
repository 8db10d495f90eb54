//! Statistics over the requests finished so far.

use crate::packet::outcome::{Ended, nanos};
use crate::server::machine::{Finished, Machine};
use crate::server::outcome::ServerOutcome;
use warmcore_stats::drift::{Backlog, Trend};
use warmcore_stats::{BatchMeans, Interval, Quantiles};
use warmcore_units::Estimate;

/// The quantities of a request that are averaged in batches.
const DELAY: usize = 0;
/// From the due time of the request finished before until its own: an exactly known mean.
const GAP: usize = 1;
/// What workers have used of their processors since the request finished before.
const WORKER_CPU: usize = 2;
const CALL: usize = 3;
const MOVED: usize = 4;
const ELSEWHERE: usize = 5;
const WOKEN: usize = 6;
/// Its part of a worker's cycle.
const CYCLE: usize = 7;
const QUANTITIES: usize = 8;

/// Requests entered into the statistics at once, which makes each one cheap.
const BLOCK: usize = 64;

/// The statistics of one run.
pub(super) struct Tally {
    /// How many queues can grow independently of each other.
    queues: u32,
    /// The exact mean of the gap, in nanoseconds.
    gap: f64,
    latest: Vec<[f64; QUANTITIES]>,
    requests: BatchMeans<QUANTITIES>,
    delays: Quantiles,
    backlog: Backlog,
    last_due: f64,
    worker_cpu: f64,
}

impl Tally {
    pub(super) fn new(queues: u32, gap: f64) -> Self {
        Self {
            queues,
            gap,
            latest: Vec::with_capacity(BLOCK),
            requests: BatchMeans::default(),
            delays: Quantiles::default(),
            backlog: Backlog::default(),
            last_due: 0.0,
            worker_cpu: 0.0,
        }
    }

    /// Records a finished request; workers have used `worker_cpu` since the start. Returns whether it is time to
    /// [`read`](Self::read).
    #[inline]
    pub(super) fn push(&mut self, finished: &Finished, worker_cpu: f64) -> bool {
        let Finished { request, at, worker, batch } = *finished;
        let flag = |is: bool| f64::from(u8::from(is));
        self.latest.push([
            at - request.due,
            request.due - self.last_due,
            worker_cpu - self.worker_cpu,
            request.call,
            flag(request.moved),
            flag(request.source != worker),
            flag(request.woke),
            1.0 / f64::from(batch),
        ]);
        self.last_due = request.due;
        self.worker_cpu = worker_cpu;
        self.latest.len() == BLOCK
    }

    /// Enters the latest requests into the statistics.
    pub(super) fn read(&mut self, machine: &Machine) {
        self.requests.extend(self.latest.iter().copied());
        self.delays.extend(self.latest.iter().map(|quantities| quantities[DELAY]));
        self.latest.clear();
        let lag: f64 = machine.sources.iter().map(|source| source.next.lag(machine.now)).sum();
        self.backlog.push(machine.queues.requests as u64 + lag as u64);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.observations()
    }

    pub(super) fn delay(&self) -> Interval {
        self.requests.steady_controlled(DELAY, GAP, self.gap)
    }

    /// Whether the requests that wait keep growing.
    pub(super) fn is_growing(&self) -> bool {
        self.backlog.trend(self.queues) == Trend::Growing
    }

    pub(super) fn outcome(&self, ended: Ended) -> ServerOutcome {
        let steady = self.requests.steady();
        let of = |quantity: usize| steady.intervals[quantity];
        let share = |quantity: usize| Estimate::new(of(quantity).mean, of(quantity).half_width);
        let quantile = |p| nanos(self.delays.quantile(p, steady.warmup));
        let cycle = of(CYCLE);
        ServerOutcome {
            delay: nanos(self.delay()),
            p50: quantile(0.5),
            p99: quantile(0.99),
            worker_cpu: nanos(of(WORKER_CPU)),
            call: nanos(of(CALL)),
            moved: share(MOVED),
            elsewhere: share(ELSEWHERE),
            woken: share(WOKEN),
            batch: Estimate::new(1.0 / cycle.mean, cycle.half_width / cycle.mean.powi(2)),
            warmup: steady.warmup,
            requests: self.requests(),
            ended,
        }
    }
}
