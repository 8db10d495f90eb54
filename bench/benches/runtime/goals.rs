//! Performance goals of the runtime. Each is judged by the measured rounds; a missed goal does not fail the
//! benchmark.

use crate::bare::Bare;
use crate::channels::{Channels, Feed, Sharing};
use crate::comparison::{ContenderResult, Role, TrialResults};
use crate::contender::{Contender, Load, Trial};
use crate::ours::{IdleMode, Warmcore};
use serde::Serialize;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;

/// The most worker time that the runtime may add to a packet at saturation, in nanoseconds.
const MAX_OVERHEAD: f64 = 150.0;
/// The least throughput of a worker, as a multiple of that of one who takes packets from a plain channel of its own.
const MIN_OF_CHANNEL: f64 = 0.9;
/// The least throughput of IPS under Wired-Streams, as a multiple of that of Locking under MRU.
const MIN_SPEEDUP: f64 = 1.5;

/// In a round whose delays are judged, other programs used less than this share of the processors' time,
/// in percent.
const MAX_OTHERS_PERCENT: f64 = 5.0;
/// The least number of such rounds.
const MIN_QUIET_ROUNDS: usize = 3;

/// Selects one measure of a result.
type Measure = fn(&ContenderResult) -> &Spread;

/// A goal and the measured value.
#[derive(Serialize)]
pub(crate) struct Goal {
    trial: String,
    description: String,
    /// Over the rounds that are judged; `None` if there are too few.
    measured: Option<Spread>,
    verdict: GoalVerdict,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum GoalVerdict {
    Reached,
    NotReached,
    /// No peer reached the rate in enough quiet rounds.
    NotJudged,
}

impl Goal {
    /// A goal that is judged by the median of the rounds.
    fn new(trial: &Trial, description: String, measured: Spread, reached: impl Fn(f64) -> bool) -> Self {
        let verdict = if reached(measured.median()) { GoalVerdict::Reached } else { GoalVerdict::NotReached };
        Self { trial: trial.to_string(), description, measured: Some(measured), verdict }
    }

    pub(crate) fn print(&self) {
        let verdict = match self.verdict {
            GoalVerdict::Reached => "reached",
            GoalVerdict::NotReached => "NOT reached",
            GoalVerdict::NotJudged => "not judged",
        };
        print!("  {verdict:<11}  {}: {}", self.trial, self.description);
        match &self.measured {
            Some(measured) => println!(" {measured:.2} ({} rounds)", measured.0.len()),
            None => println!(" no peer that reached the rate has {MIN_QUIET_ROUNDS} quiet rounds"),
        }
    }
}

/// The goals of every trial.
pub(crate) fn goals(trials: &[TrialResults]) -> Vec<Goal> {
    let of_trial = |results: &TrialResults| match results.trial.load {
        Load::Saturation => at_saturation(results),
        Load::Rate(_) => at_equal_load(results),
    };
    trials.iter().flat_map(of_trial).collect()
}

fn ours(
    results: &TrialResults,
    approach: Parallelism,
    policy: ProcessorPolicy,
    idle_mode: IdleMode,
) -> Option<&ContenderResult> {
    results.get(&Warmcore { approach, policy, idle_mode }.name())
}

fn wired(results: &TrialResults, idle_mode: IdleMode) -> Option<&ContenderResult> {
    ours(results, Parallelism::Ips, ProcessorPolicy::WiredStreams, idle_mode)
}

fn at_saturation(results: &TrialResults) -> Vec<Goal> {
    let trial = &results.trial;
    let Some(wired) = wired(results, IdleMode::Poll) else { return Vec::new() };
    let mut goals = Vec::new();
    if let Some(bare) = results.get(&Bare::Independent.name()) {
        let measured = wired.worker_ns.with(&bare.worker_ns, |ours, bare| ours - bare);
        let description =
            format!("IPS wired adds at most {MAX_OVERHEAD:.0} ns of worker time to the bare call:");
        goals.push(Goal::new(trial, description, measured, |added| added <= MAX_OVERHEAD));
    }
    let channel = Channels { sharing: Sharing::Sharded, feed: Feed::Prefilled };
    if let Some(channel) = results.get(&channel.name()) {
        let measured =
            wired.per_worker_second.with(&channel.per_worker_second, |ours, channel| ours / channel);
        let description =
            format!("IPS wired: packets per worker-second at least {MIN_OF_CHANNEL} of a plain channel's:");
        goals.push(Goal::new(trial, description, measured, |share| share >= MIN_OF_CHANNEL));
    }
    if let Some(mru) = ours(results, Parallelism::Locking, ProcessorPolicy::Mru, IdleMode::Poll)
        && trial.workers > 1
    {
        let measured = wired.rate.with(&mru.rate, |wired, mru| wired / mru);
        let description =
            format!("throughput of IPS wired is at least {MIN_SPEEDUP} times that of Locking MRU:");
        goals.push(Goal::new(trial, description, measured, |times| times >= MIN_SPEEDUP));
    }
    for role in [Role::Peer, Role::Prefilled] {
        goals.extend(processor_time(results, wired, "IPS wired, polling", role));
    }
    goals
}

/// Goals for processor time and for delay.
fn at_equal_load(results: &TrialResults) -> Vec<Goal> {
    let modes = [(IdleMode::Sleep, "IPS wired, sleeping"), (IdleMode::Work, "IPS wired, other work")];
    let measured = modes.into_iter().filter_map(|(idle_mode, name)| Some((wired(results, idle_mode)?, name)));
    measured
        .flat_map(|(ours, name)| {
            let mut goals = processor_time(results, ours, name, Role::Peer);
            goals.extend(delay(results, ours, name));
            goals
        })
        .collect()
}

/// Packets per second of processor time, compared with the best contender of `role`: of the workers alone,
/// and with the sender.
fn processor_time(results: &TrialResults, ours: &ContenderResult, name: &str, role: Role) -> Vec<Goal> {
    let measures: [(_, Measure); 2] = [
        ("worker-second", |result| &result.per_worker_second),
        ("CPU-second", |result| &result.per_cpu_second),
    ];
    let kind = if role == Role::Prefilled { "prefilled peer" } else { "peer" };
    let goal = |(unit, measure): (&str, Measure)| {
        let ratios = of_role(results, role).map(|peer| {
            let ratio = measure(ours).with(measure(peer), |ours, theirs| ours / theirs);
            (peer.name.as_str(), ratio)
        });
        let (peer, measured) = ratios.min_by(|a, b| a.1.median().total_cmp(&b.1.median()))?;
        let description =
            format!("{name}: packets per {unit} at least those of the best {kind} ({peer}), ratio");
        Some(Goal::new(&results.trial, description, measured, |times| times >= 1.0))
    };
    measures.into_iter().filter_map(goal).collect()
}

/// 99th percentile of the delay, compared with the best peer, in rounds that were quiet for both. Peers that
/// did not reach the rate are left out.
fn delay(results: &TrialResults, ours: &ContenderResult, name: &str) -> Option<Goal> {
    let peers = || of_role(results, Role::Peer).filter(|peer| peer.loaded);
    let ratios = peers().filter_map(|peer| Some((peer.name.as_str(), quiet_ratios(ours, peer)?)));
    let judged = ratios.filter(|(_, ratios)| ratios.0.len() >= MIN_QUIET_ROUNDS);
    let trial = &results.trial;
    let Some((peer, measured)) = judged.max_by(|a, b| a.1.median().total_cmp(&b.1.median())) else {
        let description = format!("{name}: p99 delay at most that of the best peer:");
        return Some(Goal {
            trial: trial.to_string(),
            description,
            measured: None,
            verdict: GoalVerdict::NotJudged,
        });
    };
    let description = format!("{name}: p99 delay at most that of the best peer ({peer}), ratio");
    Some(Goal::new(trial, description, measured, |times| times <= 1.0))
}

/// The ratio of our 99th percentile to that of `peer`, in each quiet round.
fn quiet_ratios(ours: &ContenderResult, peer: &ContenderResult) -> Option<Spread> {
    let others = ours.others_percent.with(&peer.others_percent, f64::max);
    let ratios = ours.p99_us.as_ref()?.with(peer.p99_us.as_ref()?, |ours, theirs| ours / theirs);
    let quiet = ratios.0.iter().zip(&others.0).filter(|(_, others)| **others < MAX_OTHERS_PERCENT);
    Some(Spread(quiet.map(|(&ratio, _)| ratio).collect()))
}

fn of_role(results: &TrialResults, role: Role) -> impl Iterator<Item = &ContenderResult> {
    results.contenders.iter().filter(move |result| result.role == role)
}
