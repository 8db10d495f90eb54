//! What a process does: how long it computes, how that ends, and how long it blocks.

use super::cache::MissModel;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Gamma};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Application, Bursts, WakeSource};
use warmcore_units::TaskId;
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

/// How a burst ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BurstEnd {
    Block,
    Yield,
    Reschedule,
}

/// A process, or the place of the short-lived processes that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) application: usize,
    pub(super) task: TaskId,
    /// Computing that is left until it is finished, in nanoseconds.
    pub(super) work: f64,
    /// Computing that is left of the burst.
    pub(super) burst: f64,
    pub(super) end: BurstEnd,
    /// Further processes that will work on the same job.
    pub(super) stages: u32,
    /// What each of them computes.
    pub(super) stage_work: f64,
    /// The process that holds the lock it needs, and how often that was dispatched when it found out.
    pub(super) waits_for: Option<(usize, u64)>,
    pub(super) dispatches: u64,
    pub(super) last_cpu: Option<usize>,
    /// When its life began.
    pub(super) born: u64,
    /// Since when it waits in the queue.
    pub(super) queued_at: u64,
    /// Whether it waits there since it woke up.
    pub(super) woken: bool,
    pub(super) alive: bool,
    random: Random,
}

/// What the processes of an application have in common.
#[derive(Clone, Debug)]
pub(super) struct Behaviour {
    pub(super) model: MissModel,
    pub(super) written: f64,
    pub(super) wake: WakeSource,
    pub(super) lock_held: f64,
    pub(super) retry: f64,
    bursts: Bursts,
    /// The chances that a burst ends by blocking, and by blocking or yielding.
    block: f64,
    block_or_yield: f64,
    blocked_ns: f64,
    blocked_spread: f64,
}

impl Behaviour {
    pub(super) fn new(application: &Application, miss_ns: f64) -> Self {
        let ends = application.ends;
        let sum = ends.block + ends.yielding + ends.reschedule;
        Self {
            model: MissModel::new(application.footprint, miss_ns),
            written: application.footprint.written,
            wake: application.blocking.wake,
            lock_held: application.lock.held,
            retry: application.lock.retry_ms * 1e6,
            bursts: application.bursts.clone(),
            block: ends.block / sum,
            block_or_yield: (ends.block + ends.yielding) / sum,
            blocked_ns: application.blocking.mean_ms * 1e6,
            blocked_spread: application.blocking.spread,
        }
    }
}

impl Process {
    /// The process number `index` of `scenario`, without work.
    pub(super) fn new(
        scenario: &RunQueueScenario,
        index: usize,
        application: usize,
        replication: u64,
    ) -> Self {
        let key = Key { seed: scenario.seed, point: index as u64, replication };
        Self {
            application,
            task: TaskId(0),
            work: f64::INFINITY,
            burst: 0.0,
            end: BurstEnd::Reschedule,
            stages: 0,
            stage_work: 0.0,
            waits_for: None,
            dispatches: 0,
            last_cpu: None,
            born: 0,
            queued_at: 0,
            woken: true,
            alive: true,
            random: key.stream(Purpose::Process),
        }
    }

    /// Begins the next burst.
    pub(super) fn next_burst(&mut self, behaviour: &Behaviour) {
        self.burst = drawn(&behaviour.bursts, &mut self.random) * 1e6;
        let end: f64 = self.random.random();
        self.end = match end {
            end if end < behaviour.block => BurstEnd::Block,
            end if end < behaviour.block_or_yield => BurstEnd::Yield,
            _ => BurstEnd::Reschedule,
        };
    }

    /// How long it blocks, in nanoseconds.
    pub(super) fn blocked(&mut self, behaviour: &Behaviour) -> f64 {
        // Exponential times are gamma-distributed too, but cheaper to draw.
        let times = match behaviour.blocked_spread {
            1.0 => Exp1.sample(&mut self.random),
            spread => self.scattered(spread),
        };
        times * behaviour.blocked_ns
    }

    /// Whether something of this probability happens.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.random::<f64>() < probability
    }

    /// One of `count` things, drawn evenly.
    pub(super) fn one_of(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }

    /// A number around 1 with this standard deviation: a job's work, a time of waiting.
    pub(super) fn scattered(&mut self, spread: f64) -> f64 {
        let shape = 1.0 / (spread * spread);
        match Gamma::new(shape, 1.0 / shape) {
            Ok(gamma) if spread > 0.0 => gamma.sample(&mut self.random),
            _ => 1.0,
        }
    }
}

/// A burst in milliseconds.
fn drawn(bursts: &Bursts, random: &mut impl Rng) -> f64 {
    let mut place: f64 = random.random();
    for (edges, &share) in bursts.edges_ms.windows(2).zip(&bursts.shares) {
        if place < share {
            return edges[0] + (edges[1] - edges[0]) * place / share;
        }
        place -= share;
    }
    let tail: f64 = Exp1.sample(random);
    bursts.edges_ms.last().unwrap_or(&0.0) + tail * bursts.tail_ms
}
