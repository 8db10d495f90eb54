//! Everybody in every trial, in rotation, and what came of it.

use crate::bare::Bare;
use crate::channels::{Channels, Feeding, Sharing};
use crate::ours::{Between, Warmcore};
use crate::sockets::Sockets;
use crate::tasks::Tasks;
use crate::trial::{Entrant, Load, Run, Trial};
use serde::Serialize;
use std::error::Error;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;
use warmcore_units::PerSecond;

/// Packets per second below saturation.
const RATES: [f64; 2] = [200_000.0, 500_000.0];
/// A peer that was offered less than this part of a rate was not measured at it.
const REACHED: f64 = 0.97;

/// Who a line of a table is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Bare,
    Warmcore,
    /// A peer that receives its packets while the clock runs.
    Peer,
    /// One whose channels are filled before: it has nothing to receive.
    Filled,
}

/// Those who take part, the trials, and what they have done so far.
pub(crate) struct Contest {
    entrants: Vec<(Role, Box<dyn Entrant>)>,
    trials: Vec<Trial>,
    /// By trial, by entrant: its runs, none if it does not take part.
    runs: Vec<Vec<Vec<Run>>>,
    /// What the description of everything that is measured contains.
    words: Vec<String>,
}

/// One entrant in one trial.
#[derive(Serialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Packets per second.
    pub(crate) rate: Spread,
    /// Packets per second of processor time, of the workers alone and with the sender.
    pub(crate) per_worker_second: Spread,
    pub(crate) per_cpu_second: Spread,
    /// Processor time of the workers for a packet, in nanoseconds.
    pub(crate) worker_ns: Spread,
    /// Processor time of the sender for a packet, in nanoseconds.
    pub(crate) sender_ns: Spread,
    /// Delay from the scheduled arrival, in microseconds; none at saturation.
    pub(crate) p50_us: Option<Spread>,
    pub(crate) p99_us: Option<Spread>,
    /// Of the processors' time, what other programs had, in percent.
    pub(crate) others_percent: Spread,
    /// Packets lost in all rounds.
    pub(crate) lost: u64,
    /// Whether the load was there: a sender may be too slow for it.
    pub(crate) loaded: bool,
}

/// All entrants in one trial.
#[derive(Serialize)]
pub(crate) struct Standing {
    #[serde(serialize_with = "as_text")]
    pub(crate) trial: Trial,
    pub(crate) entries: Vec<Entry>,
}

fn as_text<S: serde::Serializer>(trial: &Trial, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(trial)
}

impl Contest {
    /// On two processors of this machine. Of what there is to measure, that is left out whose
    /// description lacks one of `words`.
    ///
    /// # Errors
    /// If it has not so many.
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
        let entrants = entrants();
        let runs = trials.iter().map(|_| entrants.iter().map(|_| Vec::new()).collect()).collect();
        Ok(Self { entrants, trials, runs, words })
    }

    /// Everybody does every trial once.
    pub(crate) fn round(&mut self) -> Result<(), Box<dyn Error>> {
        for (trial, runs) in self.trials.iter().zip(&mut self.runs) {
            for ((_, entrant), runs) in self.entrants.iter().zip(runs) {
                let says = format!("{}, {trial}", entrant.name());
                if entrant.takes_part(trial) && self.words.iter().all(|word| says.contains(word)) {
                    let run = entrant.run(trial).map_err(|error| format!("{says}: {error}"))?;
                    runs.push(run);
                }
            }
        }
        Ok(())
    }

    /// What has come out.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let standing = |(trial, runs): (&Trial, &Vec<Vec<Run>>)| {
            let took_part = self.entrants.iter().zip(runs).filter(|(_, runs)| !runs.is_empty());
            let entries = took_part.map(|((role, entrant), runs)| Entry::new(*role, &**entrant, trial, runs));
            Standing { trial: trial.clone(), entries: entries.collect() }
        };
        let standings = self.trials.iter().zip(&self.runs).map(standing);
        standings.filter(|standing| !standing.entries.is_empty()).collect()
    }
}

fn entrants() -> Vec<(Role, Box<dyn Entrant>)> {
    let mut entrants: Vec<(Role, Box<dyn Entrant>)> =
        vec![(Role::Bare, Box::new(Bare::Independent)), (Role::Bare, Box::new(Bare::Locking))];
    let mut ours = |approach, policy, between| {
        entrants.push((Role::Warmcore, Box::new(Warmcore { approach, policy, between })));
    };
    for between in [Between::Poll, Between::Sleep, Between::Work] {
        ours(Parallelism::Ips, ProcessorPolicy::WiredStreams, between);
    }
    for between in [Between::Poll, Between::Sleep] {
        ours(Parallelism::Locking, ProcessorPolicy::Mru, between);
    }
    ours(Parallelism::Locking, ProcessorPolicy::WiredStreams, Between::Poll);
    ours(Parallelism::Hybrid, ProcessorPolicy::Mru, Between::Poll);
    ours(Parallelism::Ips, ProcessorPolicy::Adaptive, Between::Poll);
    for (role, feeding) in [(Role::Filled, Feeding::Before), (Role::Peer, Feeding::Meanwhile)] {
        for sharing in [Sharing::Pool, Sharing::Sharded] {
            entrants.push((role, Box::new(Channels { sharing, feeding })));
        }
        entrants.push((role, Box::new(Tasks { feeding })));
    }
    entrants.push((Role::Peer, Box::new(Sockets)));
    entrants
}

impl Entry {
    fn new(role: Role, entrant: &dyn Entrant, trial: &Trial, runs: &[Run]) -> Self {
        let spread = |figure: &dyn Fn(&Run) -> f64| Spread(runs.iter().map(figure).collect());
        let quantile = |p: f64| match trial.load {
            Load::Saturation => None,
            Load::Rate(_) => Some(spread(&|run| run.delays.quantile(p) / 1e3)),
        };
        let rate = spread(&|run| run.packets as f64 / run.spent.time.secs());
        let loaded = match trial.load {
            Load::Saturation => true,
            Load::Rate(wanted) => rate.median() >= REACHED * wanted.0,
        };
        Self {
            name: entrant.name(),
            role,
            rate,
            per_worker_second: spread(&|run| run.packets as f64 / run.spent.workers.secs()),
            per_cpu_second: spread(&|run| run.packets as f64 / (run.spent.workers + run.spent.sender).secs()),
            worker_ns: spread(&|run| run.spent.workers.0 / run.packets as f64),
            sender_ns: spread(&|run| run.spent.sender.0 / run.packets as f64),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            others_percent: spread(&|run| run.spent.others * 100.0),
            lost: runs.iter().map(|run| run.lost).sum(),
            loaded,
        }
    }
}

impl Standing {
    /// The entrant that is called so.
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Prints a line for each entrant.
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
        self.entries.iter().for_each(Entry::print);
        println!();
    }
}

impl Entry {
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
            if self.loaded { "" } else { "  short of the load" },
            if self.lost > 0 { format!("  lost {}", self.lost) } else { String::new() },
        );
    }
}
