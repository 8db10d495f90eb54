//! Replications of a server under load, and their figures.

use super::source::Source;
use super::system::{Done, System};
use super::terms::Terms;
use rand::RngExt;
use rayon::prelude::*;
use warmcore_scenario::ServerPolicy;
use warmcore_stats::Interval;
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::random::{Key, Purpose};

/// A server under one policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Server<'a> {
    /// What each step takes.
    pub terms: &'a Terms,
    /// Who gets a request.
    pub policy: ServerPolicy,
    /// Processors, each with a source and a worker.
    pub processors: usize,
    /// Flows of each source.
    pub flows: usize,
}

/// The figures of a load that the server keeps up with. Intervals are those of the simulation alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// Mean delay: from the time at which a request is due until its reply is back.
    pub delay: Estimate<Nanos>,
    /// Half of the requests have a smaller delay.
    pub p50: Estimate<Nanos>,
    /// One request in a hundred has a larger delay.
    pub p99: Estimate<Nanos>,
    /// Processor time of the workers for a request.
    pub worker_cpu: Estimate<Nanos>,
    /// Time of the source's call for a request.
    pub call: Estimate<Nanos>,
    /// The share of requests that the worker on their source's processor handles.
    pub here: f64,
    /// The share of requests whose flow's state was last used on another processor.
    pub moved: f64,
    /// The share of requests that woke a worker.
    pub woke: f64,
    /// Mean number of requests of a cycle.
    pub batch: f64,
}

/// What becomes of a load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    /// The server keeps up.
    Steady(Figures),
    /// Ever more requests wait.
    Saturated,
}

/// Independent replications of a point.
pub const REPLICATIONS: u64 = 10;
/// Requests of each: those at its start that do not count, and those that do.
const LENGTH: (usize, usize) = (500, 5_000);
/// Steps in the search for the capacity, each of which halves the interval.
const STEPS: usize = 9;
/// A server that has fallen behind by more than this share of a run does not keep up.
const BEHIND: f64 = 0.03;

/// One replication.
struct Replication {
    delays: Vec<f64>,
    figures: [f64; 6],
    keeps_up: bool,
}

/// Simulates `server` at `rate` requests per second, with random streams named by `seed` and `point`.
#[must_use]
pub fn simulate(server: &Server<'_>, rate: PerSecond, seed: u64, point: u64) -> Outcome {
    let one = |replication| replicate(server, rate, Key { seed, point, replication }, LENGTH);
    let mut all: Vec<Replication> = (0..REPLICATIONS).into_par_iter().map(one).collect();
    if all.iter().filter(|one| !one.keeps_up).count() * 2 > all.len() {
        return Outcome::Saturated;
    }
    all.iter_mut().for_each(|one| one.delays.sort_by(f64::total_cmp));
    let over = |of: &dyn Fn(&Replication) -> f64| {
        let values: Vec<f64> = all.iter().map(of).collect();
        Interval::from_observations(&values)
    };
    let time = |of: &dyn Fn(&Replication) -> f64| {
        let Interval { mean, half_width, .. } = over(of);
        Estimate::new(Nanos(mean), Nanos(half_width))
    };
    let quantile = |share: f64| {
        time(&|one| one.delays.get((one.delays.len() as f64 * share) as usize).copied().unwrap_or(0.0))
    };
    Outcome::Steady(Figures {
        delay: time(&|one| one.delays.iter().sum::<f64>() / one.delays.len().max(1) as f64),
        p50: quantile(0.5),
        p99: quantile(0.99),
        worker_cpu: time(&|one| one.figures[0]),
        call: time(&|one| one.figures[1]),
        here: over(&|one| one.figures[2]).mean,
        moved: over(&|one| one.figures[3]).mean,
        woke: over(&|one| one.figures[4]).mean,
        batch: over(&|one| one.figures[5]).mean,
    })
}

/// The highest rate that `server` keeps up with; its half-width is that of the search.
#[must_use]
pub fn capacity(server: &Server<'_>, seed: u64) -> Estimate<PerSecond> {
    let Terms { each, call, .. } = *server.terms;
    let busiest = (each + call).max(1.0) * 1e-9;
    let (mut low, mut high) = (0.0, server.processors as f64 / busiest);
    for step in 0..STEPS {
        let middle = f64::midpoint(low, high);
        let keeps_up = |replication| {
            let key = Key { seed, point: step as u64, replication };
            replicate(server, PerSecond(middle), key, LENGTH).keeps_up
        };
        let half = 2;
        let of = 4;
        if (0..of).into_par_iter().filter(|one| keeps_up(*one)).count() >= half {
            low = middle;
        } else {
            high = middle;
        }
    }
    Estimate::new(PerSecond(f64::midpoint(low, high)), PerSecond((high - low) / 2.0))
}

fn replicate(
    server: &Server<'_>,
    rate: PerSecond,
    key: Key,
    (settling, counted): (usize, usize),
) -> Replication {
    let Server { terms, policy, processors, flows } = *server;
    let gap = 1e9 * processors as f64 / rate.0;
    let source = |number: usize| {
        // Each source has streams of its own.
        let own = Key { point: key.point.wrapping_mul(1 << 16) + number as u64, ..key };
        Source::new(number, gap, flows, own.stream(Purpose::Interarrival), own.stream(Purpose::Stream))
    };
    let mut choices = key.stream(Purpose::Policy);
    let homes = (0..processors * flows).map(|_| choices.random_range(0..processors)).collect();
    let mut system = System::new(terms, policy, (0..processors).map(source).collect(), homes);
    let (mut finished, mut delays) = (0, Vec::with_capacity(counted));
    let (mut here, mut moved) = (0_usize, 0_usize);
    let (mut began, mut before) = (0.0, system.spent);
    while finished < settling + counted {
        let mut settled = false;
        system.step(|Done { request, at, worker, moved: has_moved }| {
            finished += 1;
            settled |= finished == settling;
            if finished > settling {
                delays.push(at - request.due);
                here += usize::from(worker == request.source);
                moved += usize::from(has_moved);
            }
        });
        if settled {
            (began, before) = (system.now(), system.spent);
        }
        // Nobody gets at the requests any more.
        if system.waiting() > settling + counted {
            break;
        }
    }
    let (spent, count) = (system.spent, delays.len().max(1) as f64);
    let elapsed = system.now() - began;
    let each = |now: f64, before: f64| (now - before) / count;
    let cycles = (spent.cycles - before.cycles).max(1) as f64;
    let waiting = system.waiting() as f64 * gap / processors as f64;
    Replication {
        figures: [
            each(spent.workers, before.workers),
            each(spent.calls, before.calls),
            here as f64 / count,
            moved as f64 / count,
            (spent.wake_ups - before.wake_ups) as f64 / count,
            count / cycles,
        ],
        keeps_up: (system.behind() / processors as f64).max(waiting) < BEHIND * elapsed,
        delays,
    }
}
