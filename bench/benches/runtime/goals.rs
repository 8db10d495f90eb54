//! What the runtime is to reach, and whether it does: computed from the rounds, never asserted.

use crate::bare::Bare;
use crate::contest::{Entry, Role, Standing};
use crate::ours::{Between, Warmcore};
use crate::trial::{Entrant, Load, Trial};
use serde::Serialize;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;

/// Worker time that the runtime may add to a packet at saturation, in nanoseconds.
const OVERHEAD: f64 = 150.0;
/// Times the throughput of Locking under MRU that IPS under Wired-Streams is to have.
const ADVANTAGE: f64 = 1.5;

/// Percent of the processors' time that other programs may have in a round whose delays are judged.
const QUIET: f64 = 5.0;
/// Such rounds that a judgement needs.
const ENOUGH: usize = 3;

/// One of an entrant's figures.
type Figure = fn(&Entry) -> &Spread;

/// A goal and what was found.
#[derive(Serialize)]
pub(crate) struct Goal {
    trial: String,
    /// What is to be reached.
    says: String,
    /// In the rounds that count; there may be none.
    found: Option<Spread>,
    verdict: GoalVerdict,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum GoalVerdict {
    Reached,
    NotReached,
    /// The machine was not quiet for long enough.
    NotJudged,
}

impl Goal {
    /// A goal for the median of the rounds.
    fn new(trial: &Trial, says: String, found: Spread, reached: impl Fn(f64) -> bool) -> Self {
        let verdict = if reached(found.median()) { GoalVerdict::Reached } else { GoalVerdict::NotReached };
        Self { trial: trial.to_string(), says, found: Some(found), verdict }
    }

    pub(crate) fn print(&self) {
        let verdict = match self.verdict {
            GoalVerdict::Reached => "reached",
            GoalVerdict::NotReached => "NOT reached",
            GoalVerdict::NotJudged => "not judged",
        };
        print!("  {verdict:<11}  {}: {}", self.trial, self.says);
        match &self.found {
            Some(found) => println!(" {found:.2} ({} rounds)", found.0.len()),
            None => println!(" fewer than {ENOUGH} rounds were quiet"),
        }
    }
}

/// All goals, trial by trial.
pub(crate) fn goals(standings: &[Standing]) -> Vec<Goal> {
    let of_trial = |standing: &Standing| match standing.trial.load {
        Load::Saturation => at_saturation(standing),
        Load::Rate(_) => at_equal_load(standing),
    };
    standings.iter().flat_map(of_trial).collect()
}

fn ours(
    standing: &Standing,
    approach: Parallelism,
    policy: ProcessorPolicy,
    between: Between,
) -> Option<&Entry> {
    standing.get(&Warmcore { approach, policy, between }.name())
}

fn wired(standing: &Standing, between: Between) -> Option<&Entry> {
    ours(standing, Parallelism::Ips, ProcessorPolicy::WiredStreams, between)
}

fn at_saturation(standing: &Standing) -> Vec<Goal> {
    let trial = &standing.trial;
    let Some(wired) = wired(standing, Between::Poll) else { return Vec::new() };
    let mut goals = Vec::new();
    if let Some(bare) = standing.get(&Bare::Independent.name()) {
        let found = wired.worker_ns.with(&bare.worker_ns, |ours, bare| ours - bare);
        let says = format!("IPS wired adds at most {OVERHEAD:.0} ns of a worker to the bare call:");
        goals.push(Goal::new(trial, says, found, |added| added <= OVERHEAD));
    }
    if let Some(mru) = ours(standing, Parallelism::Locking, ProcessorPolicy::Mru, Between::Poll)
        && trial.workers > 1
    {
        let found = wired.rate.with(&mru.rate, |wired, mru| wired / mru);
        let says = format!("IPS wired has at least {ADVANTAGE} times the throughput of Locking MRU:");
        goals.push(Goal::new(trial, says, found, |times| times >= ADVANTAGE));
    }
    for role in [Role::Peer, Role::Filled] {
        goals.extend(processor_time(standing, wired, "IPS wired, polling", role));
    }
    goals
}

/// The processor time, and the delays of those that were at the load.
fn at_equal_load(standing: &Standing) -> Vec<Goal> {
    let modes = [(Between::Sleep, "IPS wired, sleeping"), (Between::Work, "IPS wired, other work")];
    let known = modes.into_iter().filter_map(|(between, name)| Some((wired(standing, between)?, name)));
    known
        .flat_map(|(ours, name)| {
            let mut goals = processor_time(standing, ours, name, Role::Peer);
            goals.extend(delay(standing, ours, name));
            goals
        })
        .collect()
}

/// Packets per second of processor time at least those of each peer, of the workers alone and with
/// the sender.
fn processor_time(standing: &Standing, ours: &Entry, name: &str, role: Role) -> Vec<Goal> {
    let figures: [(_, Figure); 2] =
        [("worker-second", |entry| &entry.per_worker_second), ("CPU-second", |entry| &entry.per_cpu_second)];
    let whom = if role == Role::Filled { "peer that need not receive" } else { "peer" };
    let goal = |(unit, figure): (&str, Figure)| {
        let ratios = of_role(standing, role).map(|peer| {
            let ratio = figure(ours).with(figure(peer), |ours, theirs| ours / theirs);
            (peer.name.as_str(), ratio)
        });
        let (peer, found) = ratios.min_by(|a, b| a.1.median().total_cmp(&b.1.median()))?;
        let says = format!("{name}, packets per {unit}, times those of the best {whom}, {peer}:");
        Some(Goal::new(&standing.trial, says, found, |times| times >= 1.0))
    };
    figures.into_iter().filter_map(goal).collect()
}

/// The 99th percentile at most that of each peer, in rounds that were quiet for both.
fn delay(standing: &Standing, ours: &Entry, name: &str) -> Option<Goal> {
    let peers = || of_role(standing, Role::Peer).filter(|peer| peer.loaded);
    let ratios = peers().filter_map(|peer| Some((peer.name.as_str(), quiet_ratios(ours, peer)?)));
    let judged = ratios.filter(|(_, ratios)| ratios.0.len() >= ENOUGH);
    let trial = &standing.trial;
    let Some((peer, found)) = judged.max_by(|a, b| a.1.median().total_cmp(&b.1.median())) else {
        let says = format!("{name}, p99, times that of the best peer:");
        return Some(Goal { trial: trial.to_string(), says, found: None, verdict: GoalVerdict::NotJudged });
    };
    let says = format!("{name}, p99, times that of the best peer, {peer}:");
    Some(Goal::new(trial, says, found, |times| times <= 1.0))
}

/// Round by round, how many times the p99 of `peer` ours is, of quiet rounds.
fn quiet_ratios(ours: &Entry, peer: &Entry) -> Option<Spread> {
    let others = ours.others_percent.with(&peer.others_percent, f64::max);
    let ratios = ours.p99_us.as_ref()?.with(peer.p99_us.as_ref()?, |ours, theirs| ours / theirs);
    let quiet = ratios.0.iter().zip(&others.0).filter(|(_, others)| **others < QUIET);
    Some(Spread(quiet.map(|(&ratio, _)| ratio).collect()))
}

fn of_role(standing: &Standing, role: Role) -> impl Iterator<Item = &Entry> {
    standing.entries.iter().filter(move |entry| entry.role == role)
}
