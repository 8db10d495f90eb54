//! Runs every contender in every trial, in turn, and prints the results.

use crate::bare::Bare;
use crate::channels::{Channels, Feed, Sharing};
use crate::contender::{Contender, Load, Run, Trial};
use crate::ours::{IdleMode, Warmcore};
use crate::sockets::Sockets;
use crate::tasks::Tasks;
use serde::Serialize;
use std::error::Error;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;
use warmcore_units::PerSecond;

/// Rates below saturation, in packets per second.
const RATES: [f64; 2] = [200_000.0, 500_000.0];
/// A contender that processed less than this share of the rate was not measured under that load.
const MIN_RATE_SHARE: f64 = 0.97;

/// The kind of a contender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Calls of the stack, without a runtime.
    Bare,
    Warmcore,
    /// A peer that is sent its packets while the clock runs.
    Peer,
    /// A peer whose channels are full before the clock starts.
    Prefilled,
}

/// The contenders, the trials, and the runs so far.
pub(crate) struct Comparison {
    contenders: Vec<(Role, Box<dyn Contender>)>,
    trials: Vec<Trial>,
    /// Runs by trial and contender; empty if the contender is not measured in the trial.
    runs: Vec<Vec<Vec<Run>>>,
    /// Words that the description of every measured case contains.
    words: Vec<String>,
}

/// The results of one contender in one trial.
#[derive(Serialize)]
pub(crate) struct ContenderResult {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Packets per second.
    pub(crate) rate: Spread,
    /// Packets per second of the workers' processor time.
    pub(crate) per_worker_second: Spread,
    /// Packets per second of processor time, workers and sender together.
    pub(crate) per_cpu_second: Spread,
    /// Workers' processor time per packet, in nanoseconds.
    pub(crate) worker_ns: Spread,
    /// Sender's processor time per packet, in nanoseconds.
    pub(crate) sender_ns: Spread,
    /// Median delay from the scheduled arrival, in microseconds; none at saturation.
    pub(crate) p50_us: Option<Spread>,
    /// 99th percentile of the same.
    pub(crate) p99_us: Option<Spread>,
    /// Share of the processors' time used by other programs, in percent.
    pub(crate) others_percent: Spread,
    /// Packets lost in all rounds.
    pub(crate) lost: u64,
    /// Whether the rate of the trial was reached; a sender may be too slow for it.
    pub(crate) loaded: bool,
}

/// The results of all contenders in one trial.
#[derive(Serialize)]
pub(crate) struct TrialResults {
    #[serde(serialize_with = "as_text")]
    pub(crate) trial: Trial,
    pub(crate) contenders: Vec<ContenderResult>,
}

fn as_text<S: serde::Serializer>(trial: &Trial, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(trial)
}

impl Comparison {
    /// A comparison on two processors of this machine. Skips cases whose description lacks a word.
    ///
    /// # Errors
    /// If the machine has fewer than two usable cores.
    pub(crate) fn new(words: Vec<String>) -> Result<Self, Box<dyn Error>> {
        let mut cpus = usable_cores()?;
        cpus.truncate(2);
        if cpus.len() < 2 {
            return Err("this benchmark needs two processors".into());
        }
        let trial = |load, workers| Trial { load, workers, cpus: cpus.clone() };
        let mut trials = vec![trial(Load::Saturation, 2), trial(Load::Saturation, 1)];
        for workers in [1, 2] {
            trials.extend(RATES.map(|rate| trial(Load::Rate(PerSecond(rate)), workers)));
        }
        let contenders = contenders();
        let runs = trials.iter().map(|_| contenders.iter().map(|_| Vec::new()).collect()).collect();
        Ok(Self { contenders, trials, runs, words })
    }

    /// Runs every contender in every trial once.
    pub(crate) fn round(&mut self) -> Result<(), Box<dyn Error>> {
        for (trial, runs) in self.trials.iter().zip(&mut self.runs) {
            for ((_, contender), runs) in self.contenders.iter().zip(runs) {
                let description = format!("{}, {trial}", contender.name());
                if contender.supports(trial) && self.words.iter().all(|word| description.contains(word)) {
                    let run = contender.run(trial).map_err(|error| format!("{description}: {error}"))?;
                    runs.push(run);
                }
            }
        }
        Ok(())
    }

    /// The results of each trial in which something was measured.
    pub(crate) fn results(&self) -> Vec<TrialResults> {
        let results_of = |(trial, runs): (&Trial, &Vec<Vec<Run>>)| {
            let measured = self.contenders.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
            let contenders = measured
                .map(|((role, contender), runs)| ContenderResult::new(*role, &**contender, trial, runs));
            TrialResults { trial: trial.clone(), contenders: contenders.collect() }
        };
        let results = self.trials.iter().zip(&self.runs).map(results_of);
        results.filter(|results| !results.contenders.is_empty()).collect()
    }
}

fn contenders() -> Vec<(Role, Box<dyn Contender>)> {
    let mut contenders: Vec<(Role, Box<dyn Contender>)> =
        vec![(Role::Bare, Box::new(Bare::Independent)), (Role::Bare, Box::new(Bare::Locking))];
    let mut ours = |approach, policy, idle_mode| {
        contenders.push((Role::Warmcore, Box::new(Warmcore { approach, policy, idle_mode })));
    };
    for idle_mode in [IdleMode::Poll, IdleMode::Sleep, IdleMode::Work] {
        ours(Parallelism::Ips, ProcessorPolicy::WiredStreams, idle_mode);
    }
    for idle_mode in [IdleMode::Poll, IdleMode::Sleep] {
        ours(Parallelism::Locking, ProcessorPolicy::Mru, idle_mode);
    }
    ours(Parallelism::Locking, ProcessorPolicy::WiredStreams, IdleMode::Poll);
    ours(Parallelism::Hybrid, ProcessorPolicy::Mru, IdleMode::Poll);
    ours(Parallelism::Ips, ProcessorPolicy::Adaptive, IdleMode::Poll);
    for (role, feed) in [(Role::Prefilled, Feed::Prefilled), (Role::Peer, Feed::Concurrent)] {
        for sharing in [Sharing::Pool, Sharing::Sharded] {
            contenders.push((role, Box::new(Channels { sharing, feed })));
        }
        contenders.push((role, Box::new(Tasks { feed })));
    }
    contenders.push((Role::Peer, Box::new(Sockets)));
    contenders
}

impl ContenderResult {
    fn new(role: Role, contender: &dyn Contender, trial: &Trial, runs: &[Run]) -> Self {
        let spread = |figure: &dyn Fn(&Run) -> f64| Spread(runs.iter().map(figure).collect());
        let quantile = |p: f64| match trial.load {
            Load::Saturation => None,
            Load::Rate(_) => Some(spread(&|run| run.delays.quantile(p) / 1e3)),
        };
        let rate = spread(&|run| run.packets as f64 / run.used.elapsed.secs());
        let loaded = match trial.load {
            Load::Saturation => true,
            Load::Rate(wanted) => rate.median() >= MIN_RATE_SHARE * wanted.0,
        };
        Self {
            name: contender.name(),
            role,
            rate,
            per_worker_second: spread(&|run| run.packets as f64 / run.used.workers.secs()),
            per_cpu_second: spread(&|run| run.packets as f64 / (run.used.workers + run.used.sender).secs()),
            worker_ns: spread(&|run| run.used.workers.0 / run.packets as f64),
            sender_ns: spread(&|run| run.used.sender.0 / run.packets as f64),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            others_percent: spread(&|run| run.used.others * 100.0),
            lost: runs.iter().map(|run| run.lost).sum(),
            loaded,
        }
    }
}

impl TrialResults {
    /// The result of the contender with this `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&ContenderResult> {
        self.contenders.iter().find(|result| result.name == name)
    }

    /// Prints a line for each contender.
    pub(crate) fn print(&self) {
        println!("{}", self.trial);
        println!(
            "  {:<56} {:>23} {:>23} {:>23} {:>20} {:>9} {:>20} {:>24} {:>9}",
            "",
            "M packets/s",
            "M/worker-s",
            "M/CPU-s with sender",
            "worker ns",
            "sender ns",
            "p50 us",
            "p99 us",
            "others %"
        );
        self.contenders.iter().for_each(ContenderResult::print);
        println!();
    }
}

impl ContenderResult {
    fn print(&self) {
        let millions = |spread: &Spread| format!("{:.3}", spread.map(|rate| rate / 1e6));
        let delay = |spread: &Option<Spread>| {
            spread.as_ref().map_or_else(|| "-".to_owned(), |spread| format!("{spread:.1}"))
        };
        println!(
            "  {:<56} {:>23} {:>23} {:>23} {:>20} {:>9.0} {:>20} {:>24} {:>9.0}{}{}",
            self.name,
            millions(&self.rate),
            millions(&self.per_worker_second),
            millions(&self.per_cpu_second),
            format!("{:.0}", self.worker_ns),
            self.sender_ns.median(),
            delay(&self.p50_us),
            delay(&self.p99_us),
            self.others_percent.median(),
            if self.loaded { "" } else { "  below the load" },
            if self.lost > 0 { format!("  lost {}", self.lost) } else { String::new() },
        );
    }
}
