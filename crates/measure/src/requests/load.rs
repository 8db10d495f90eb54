//! A server under load: random arrivals on all processors, open loop.

use crate::error::RunError;
use crate::requests::FLOWS;
use crate::requests::schedule::random;
use crate::requests::service::Service;
use crate::requests::stall::Stalls;
use crate::requests::trial::{Trial, TrialOutcome};
use crate::sockets::site::Site;
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_runtime::server::Policy;
use warmcore_units::{CpuId, Nanos, PerSecond};

/// A server's load.
#[derive(Clone, Debug)]
pub struct Load {
    /// Which worker gets which request.
    pub policy: Policy,
    /// The processors: each has a worker and a source.
    pub cpus: Vec<CpuId>,
    /// What is asked and answered.
    pub service: Service,
    /// Requests per second, of all sources together.
    pub rate: PerSecond,
    /// How long they come.
    pub long: Duration,
    /// Seed of their times and flows.
    pub seed: u64,
}

/// What a load did.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadFigures {
    /// Requests that were due.
    pub requests: usize,
    /// Of them, those without a reply.
    pub lost: usize,
    /// Of those with one, how many the handler left unanswered: the reply was an empty one of ours.
    pub unanswered: usize,
    /// The share of requests that a stall of the machine delayed, which delays do not count unless there are no others.
    pub disturbed: f64,
    /// Mean delay, from the time at which a request was due until its reply was at the source.
    pub delay: Nanos,
    /// Half of the requests have a smaller delay.
    pub p50: Nanos,
    /// One request in a hundred has a larger delay.
    pub p99: Nanos,
    /// Processor time of the workers for each request.
    pub worker_cpu: Nanos,
    /// Time of the sources' calls for each request, softirq included.
    pub call: Nanos,
    /// The share of requests whose worker was on the source's processor.
    pub here: f64,
    /// The share of the requests that each worker handled.
    pub shares: Vec<f64>,
    /// Replies per second, from the first request to the last reply.
    pub throughput: PerSecond,
    /// Whether a source was so late that it gave up: the rate is beyond what they can send.
    pub fell_behind: bool,
    /// Why sources had no real-time priority, if they had none.
    pub without_priority: Option<String>,
}

/// Where servers are put under load: a network of our own, which ends with this value.
pub struct LoadSite(Site);

impl core::fmt::Debug for LoadSite {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LoadSite({:?})", self.0.network())
    }
}

impl LoadSite {
    /// Builds the network.
    ///
    /// # Errors
    /// If not even loopback can be used.
    pub fn new() -> Result<Self, RunError> {
        Ok(Self(Site::new()?))
    }

    /// Why it is loopback, if it is.
    #[must_use]
    pub fn instead(&self) -> Option<&str> {
        self.0.instead.as_deref()
    }

    /// Runs `load`; `None` if no request was answered.
    ///
    /// # Errors
    /// If the server cannot start or end, or a source fails.
    pub fn run(&self, load: &Load, stop: &AtomicBool) -> Result<Option<LoadFigures>, RunError> {
        let trial = Trial {
            policy: load.policy,
            workers: load.cpus.len(),
            service: load.service.clone(),
            sources: load.cpus.clone(),
            flows: FLOWS,
        };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(load.seed);
        let each = load.rate.0 / load.cpus.len() as f64;
        let schedules: Option<Vec<_>> =
            load.cpus.iter().map(|_| random(each, load.long, FLOWS, &mut rng)).collect();
        let outcome = trial.run(&self.0, &schedules.unwrap_or_default(), stop)?;
        Ok(figures(&outcome, &load.cpus))
    }
}

fn figures(outcome: &TrialOutcome, cpus: &[CpuId]) -> Option<LoadFigures> {
    let all = || {
        outcome.sent.iter().zip(cpus).flat_map(|(sent, cpu)| sent.requests.iter().map(move |of| (of, *cpu)))
    };
    let stalls = Stalls::of(outcome.sent.iter().map(|sent| &sent.requests[..]));
    let (requests, mut answered, mut here, mut last) = (all().count(), 0_usize, 0_usize, 0.0_f64);
    let mut by_worker = vec![0_usize; outcome.workers.len()];
    let (mut delays, mut disturbed, mut calls) = (Vec::with_capacity(requests), Vec::new(), 0.0);
    for (request, cpu) in all() {
        calls += request.ended - request.began;
        let Some((reply, worker)) = request.replied else { continue };
        answered += 1;
        last = last.max(reply);
        by_worker.get_mut(worker).into_iter().for_each(|count| *count += 1);
        here += usize::from(outcome.workers.get(worker).and_then(|worker| worker.cpu) == Some(cpu));
        let counts = if stalls.delayed(request.due) { &mut disturbed } else { &mut delays };
        counts.push(reply - request.due);
    }
    let disturbed_share = disturbed.len() as f64 / answered as f64;
    if delays.is_empty() {
        delays = disturbed;
    }
    delays.sort_by(f64::total_cmp);
    let count = delays.len() as f64;
    let quantile = |share: f64| delays.get((count * share) as usize).map(|delay| Nanos(*delay));
    let workers: f64 = outcome.workers.iter().map(|worker| worker.cpu_time.0).sum();
    Some(LoadFigures {
        requests,
        lost: requests - answered,
        unanswered: outcome.sent.iter().map(|sent| sent.unanswered).sum(),
        disturbed: disturbed_share,
        delay: Nanos(delays.iter().sum::<f64>() / count),
        p50: quantile(0.5)?,
        p99: quantile(0.99)?,
        worker_cpu: Nanos(workers / answered as f64),
        call: Nanos(calls / requests as f64),
        here: here as f64 / answered as f64,
        shares: by_worker.into_iter().map(|count| count as f64 / answered as f64).collect(),
        throughput: PerSecond(answered as f64 / (last * 1e-9)),
        fell_behind: outcome.sent.iter().any(|sent| sent.fell_behind),
        without_priority: outcome.without_priority.clone(),
    })
}
