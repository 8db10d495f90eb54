//! What a process does: how long it computes, how that ends, and how long it blocks.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Gamma};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Application, Bursts, Step, WakeSource};
use warmcore_units::{CpuId, TaskId};
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

/// How a burst ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BurstEnd {
    Block,
    Yield,
    Reschedule,
    /// A recorded thread does this.
    Step(Step),
}

/// A process, or the place of the short-lived processes that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Process<'s> {
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
    pub(super) queued_at: Option<u64>,
    /// Whether it waits there since it woke up.
    pub(super) woken: bool,
    pub(super) alive: bool,
    /// Whether it blocks until another process wakes it up.
    pub(super) waits: bool,
    /// How often it was woken up without waiting: so often it will not block.
    pub(super) permits: u32,
    /// The processor whose interrupt wakes it up, if it is known.
    pub(super) woken_on: Option<usize>,
    /// Whether a recorded thread starts it.
    pub(super) is_started_by_another: bool,
    /// What it still has to do, if it was recorded.
    steps: Option<&'s [Step]>,
    random: Random,
}

/// A computing time that no run is as long as, in nanoseconds: eleven days.
const ENDLESS: f64 = 1e15;

/// What the processes of an application have in common.
#[derive(Clone, Debug)]
pub(super) struct Behaviour {
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
    pub(super) fn new(application: &Application) -> Self {
        let ends = application.ends;
        let sum = ends.block + ends.yielding + ends.reschedule;
        Self {
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

impl<'s> Process<'s> {
    /// The process number `index` of `scenario`, which is number `place` of its application, without work.
    pub(super) fn new(
        scenario: &'s RunQueueScenario,
        index: usize,
        place: usize,
        application: usize,
        replication: u64,
    ) -> Self {
        let recorded = scenario.applications[application].threads.get(place);
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
            queued_at: None,
            woken: true,
            alive: true,
            waits: false,
            permits: 0,
            woken_on: None,
            is_started_by_another: false,
            steps: recorded.map(|thread| &thread.steps.0[..]),
            random: key.stream(Purpose::Process),
        }
    }

    /// Begins the next burst.
    pub(super) fn next_burst(&mut self, behaviour: &Behaviour) {
        if let Some(steps) = self.steps {
            self.next_steps(steps);
            return;
        }
        self.burst = drawn(&behaviour.bursts, &mut self.random) * 1e6;
        let end: f64 = self.random.random();
        self.end = match end {
            end if end < behaviour.block => BurstEnd::Block,
            end if end < behaviour.block_or_yield => BurstEnd::Yield,
            _ => BurstEnd::Reschedule,
        };
    }

    /// Computes until the next step that is something else. Whose steps are over, blocks for ever.
    fn next_steps(&mut self, steps: &'s [Step]) {
        self.burst = 0.0;
        for (place, step) in steps.iter().enumerate() {
            match step {
                Step::Run(us) => self.burst += *us as f64 * 1e3,
                Step::RunOn => self.burst = ENDLESS,
                other => {
                    self.end = BurstEnd::Step(*other);
                    self.steps = Some(&steps[place + 1..]);
                    return;
                }
            }
        }
        self.end = BurstEnd::Step(Step::Block);
        self.steps = Some(&[]);
    }

    /// How long it blocks, in nanoseconds; `None` if until another process wakes it up.
    pub(super) fn blocked(&mut self, behaviour: &Behaviour) -> Option<f64> {
        match self.end {
            BurstEnd::Step(Step::Sleep(us, cpu)) => {
                self.woken_on = cpu.map(CpuId::index).or(self.last_cpu);
                Some(us as f64 * 1e3)
            }
            BurstEnd::Step(_) => {
                self.waits = true;
                None
            }
            _ => {
                // Exponential times are gamma-distributed too, but cheaper to draw.
                let times = match behaviour.blocked_spread {
                    1.0 => Exp1.sample(&mut self.random),
                    spread => self.scattered(spread),
                };
                Some(times * behaviour.blocked_ns)
            }
        }
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
