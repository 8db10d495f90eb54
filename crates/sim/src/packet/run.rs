//! One point: a combination, a shape and a rate, simulated until its mean delay is known to the
//! precision asked for.

use crate::packet::shape::{Packet, Shape};
use crate::packet::system::System;
use crate::packet::waiting::{PacketLines, StackLines, Waiting};
use warmcore_costs::{Approach, ExecutionModel};
use warmcore_policy::{LeastRecentlyUsed, MostRecentlyUsed, Policy, WiredStreams};
use warmcore_scenario::{Combination, ProcessorPolicy};
use warmcore_stats::{BatchMeans, Interval};
use warmcore_units::{Estimate, Nanos};
use warmcore_workload::Arrivals;

/// When a run is long enough.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// Half-width of the mean delay, as a fraction of it.
    pub relative: f64,
    /// Packets after which the run ends in any case.
    pub max_packets: u64,
}

/// What a run amounts to, in steady state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Mean time from arrival to the end of service.
    pub delay: Estimate<Nanos>,
    /// Mean time in service.
    pub service: Estimate<Nanos>,
    /// Mean fraction of the processors' time spent on protocol work, over the whole run.
    pub utilisation: f64,
    /// Packets left out at the start, which were not yet steady state.
    pub warmup: u64,
    /// Packets simulated, the warm-up included.
    pub packets: u64,
    /// Whether the precision asked for was reached.
    pub precise: bool,
}

/// The packets after which precision is judged for the first time; then after half as many more
/// again each time, since judging often would favour runs that look precise by luck.
const FIRST_JUDGEMENT: u64 = 20_000;

/// How many times a queue must have had time to forget its past. One with utilisation `u` forgets
/// in about `1/(1-u)²` services (the relaxation time of M/M/1 and M/D/1 in heavy traffic), and a
/// run that is shorter looks precise because it has seen only one of its moods.
const RELAXATIONS: f64 = 20.0;

/// Simulates `combination` on a host of `shape` with costs of `model` under `arrivals`.
pub fn run(
    combination: Combination,
    shape: Shape,
    model: &ExecutionModel,
    arrivals: impl Arrivals,
    precision: Precision,
) -> Outcome {
    dispatch(combination, Judged { combination, shape, model, arrivals, precision })
}

/// Something to do with a [`System`] of whatever policy and whatever waiting.
pub(super) trait Task {
    type Output;
    fn on<P: Policy, W: Waiting>(self, policy: P) -> Self::Output;
}

/// Picks the compiled form of the model for `combination`: nothing is decided at run time in the
/// packet's path.
pub(super) fn dispatch<T: Task>(combination: Combination, task: T) -> T::Output {
    use Approach::{IndependentStacks, Locking};
    use ProcessorPolicy::{Lru, Mru, WiredStreams as Wired};
    match (combination.approach, combination.policy) {
        (Locking, Mru) => task.on::<_, PacketLines>(MostRecentlyUsed),
        (Locking, Lru) => task.on::<_, PacketLines>(LeastRecentlyUsed),
        (Locking, Wired) => task.on::<_, PacketLines>(WiredStreams),
        (IndependentStacks, Mru) => task.on::<_, StackLines>(MostRecentlyUsed),
        (IndependentStacks, Lru) => task.on::<_, StackLines>(LeastRecentlyUsed),
        (IndependentStacks, Wired) => task.on::<_, StackLines>(WiredStreams),
    }
}

struct Judged<'a, A> {
    combination: Combination,
    shape: Shape,
    model: &'a ExecutionModel,
    arrivals: A,
    precision: Precision,
}

impl<A: Arrivals> Task for Judged<'_, A> {
    type Output = Outcome;

    fn on<P: Policy, W: Waiting>(mut self, policy: P) -> Outcome {
        let mut system = System::<_, W>::new(policy, self.combination, self.shape, self.model);
        let mut tally = Tally::default();
        let mut judge_at = FIRST_JUDGEMENT.min(self.precision.max_packets);
        let mut arrival = self.arrivals.next();
        loop {
            if system.next_completion() <= arrival.at {
                let Some(finished) = system.complete() else { continue };
                tally.delays.push(finished.delay().0);
                tally.services.push(finished.service().0);
                tally.busy += finished.service();
                tally.now = finished.ended;
                if tally.delays.observations() >= judge_at {
                    let outcome = tally.outcome(self.shape.processors, self.precision);
                    if outcome.precise || outcome.packets >= self.precision.max_packets {
                        return outcome;
                    }
                    judge_at = (judge_at + judge_at / 2).min(self.precision.max_packets);
                }
            } else {
                for _ in 0..arrival.packets {
                    system.arrive(Packet { arrived: arrival.at, stream: arrival.stream });
                }
                arrival = self.arrivals.next();
            }
        }
    }
}

/// What is kept of the packets finished so far.
#[derive(Default)]
struct Tally {
    delays: BatchMeans,
    services: BatchMeans,
    busy: Nanos,
    now: Nanos,
}

impl Tally {
    fn outcome(&self, processors: u32, precision: Precision) -> Outcome {
        let delay = self.delays.steady();
        let service = self.services.steady_after(delay.warmup);
        let estimate = |interval: Interval| Estimate::new(Nanos(interval.mean), Nanos(interval.half_width));
        let utilisation = self.busy / self.now / f64::from(processors);
        let relaxed = RELAXATIONS * f64::from(processors) / (1.0 - utilisation).powi(2);
        Outcome {
            delay: estimate(delay.interval),
            service: estimate(service.interval),
            utilisation,
            warmup: delay.warmup,
            packets: self.delays.observations(),
            precise: delay.interval.relative() <= precision.relative && delay.observations as f64 >= relaxed,
        }
    }
}
