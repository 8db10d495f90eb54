//! Gives heirs of a placement the original cpus: threads and processes that placed ones have started since. They
//! inherited the placement (sched_setaffinity(2)), and no journal names them.
//!
//! An heir has exactly the wanted mask and started after the plan was applied. A thread belongs to its process. A
//! process descends from a placed one by its parents. If a parent has ended, the process has another parent that
//! knows nothing of it, usually process 1; then its session shows where it came from, or else its control group.
//! If a process with such a mask cannot be attributed, or to several with different masks before, it is left
//! alone and reported: somebody else may have placed it there.

use super::journal::Journal;
use super::location::Location;
use super::original;
use super::plan::Setting;
use super::step::{Origin, Step};
use super::system::{System, is_absent};
use super::thread::{self, Identity};
use super::undo::put_back;
use super::undo_report::UndoOutcome;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_topology::CpuSet;

/// How often to look again: a process may start another one before it is restored itself.
const ROUNDS: usize = 16;

/// A process that has a mask of the plan, and may have inherited it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LeftProcess {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Its cpus.
    pub cpus: String,
}

/// What was done about the heirs.
#[derive(Debug, Default)]
pub(super) struct Heirs {
    /// Each heir in words, and its outcome.
    pub(super) outcomes: Vec<(String, UndoOutcome)>,
    /// Processes that may be heirs and were left alone.
    pub(super) left: BTreeSet<LeftProcess>,
}

/// A placed process, or one of its threads.
struct Placement<'a> {
    process: Process,
    set: &'a Setting,
    wanted: &'a CpuSet,
    original: &'a str,
    /// Whether all its threads were placed, so that every thread without a step is a later one.
    whole: bool,
    origin: Option<&'a Origin>,
}

/// A process, identified by number and start.
type Process = (u32, u64);

/// Restores the heirs of the placements of `journal`.
pub(super) fn restore(journal: &Journal<'_>) -> Heirs {
    let placements = placements(journal);
    let mut heirs = Heirs::default();
    if placements.is_empty() {
        return heirs;
    }
    for _ in 0..ROUNDS {
        let before = heirs.outcomes.len();
        heirs.left.clear();
        let problem = match Scan::new(journal, &placements) {
            Ok(scan) => scan.restore(&mut heirs).err(),
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            heirs.outcomes.push(("processes started since".to_owned(), UndoOutcome::Failed(problem)));
            break;
        }
        if heirs.outcomes[before..].iter().all(|(_, outcome)| *outcome != UndoOutcome::Restored) {
            break;
        }
    }
    heirs
}

fn placements<'a>(journal: &'a Journal<'_>) -> Vec<Placement<'a>> {
    let is_sound = |step: &Step, process: u32, thread: u32| {
        let place = Location::Thread { process, thread };
        original::check("original", &step.set, &place, &step.original, journal.system()).is_ok()
    };
    let placement = |step: &'a Step| match &step.set {
        Setting::Thread { pid, started, thread, cpus, .. }
            if (!step.whole || *thread == Some(*pid)) && is_sound(step, *pid, thread.unwrap_or(*pid)) =>
        {
            Some(Placement {
                process: (*pid, *started),
                set: &step.set,
                wanted: cpus,
                original: &step.original,
                whole: step.whole,
                origin: step.origin.as_ref(),
            })
        }
        _ => None,
    };
    journal.steps().iter().filter_map(|(step, _)| placement(step)).collect()
}

/// The processes at one moment.
struct Scan<'a> {
    system: &'a dyn System,
    placements: &'a [Placement<'a>],
    /// The threads that have a step of their own.
    known: BTreeSet<(u32, u32)>,
    /// When the plan was applied, in kernel ticks since boot; without it only threads of placed processes are
    /// known to be later.
    since: Option<u64>,
    /// All online cpus. A process that may use them is not restricted by anybody.
    online: CpuSet,
    processes: BTreeMap<u32, Identity>,
}

impl<'a> Scan<'a> {
    fn new(journal: &'a Journal<'_>, placements: &'a [Placement<'a>]) -> Result<Self, String> {
        let system = journal.system();
        let numbers = match system.entries("proc") {
            Err(error) if is_absent(&error) => Vec::new(),
            entries => entries.map_err(|error| format!("processes cannot be listed: {error}"))?,
        };
        let identity = |number: &String| {
            let pid = number.parse().ok()?;
            // A process that cannot be read has ended.
            Some((pid, Identity::parse(&system.read(&format!("proc/{pid}/stat")).ok()?)?))
        };
        let known = journal.steps().iter().filter_map(|(step, _)| match step.set {
            Setting::Thread { pid, thread: Some(thread), .. } => Some((pid, thread)),
            _ => None,
        });
        let online = system.read("sys/devices/system/cpu/online").ok().and_then(|text| text.parse().ok());
        Ok(Self {
            system,
            placements,
            known: known.collect(),
            since: journal.content().head.applied(),
            online: online.unwrap_or_default(),
            processes: numbers.iter().filter_map(identity).collect(),
        })
    }

    fn restore(&self, heirs: &mut Heirs) -> Result<(), String> {
        for (&pid, process) in &self.processes {
            if self.is_placed(pid) {
                self.restore_process(
                    pid,
                    process,
                    &self.of(&BTreeSet::from([(pid, process.started)])),
                    heirs,
                );
            } else if self.is_later(process) && !process.is_kernel && pid != std::process::id() {
                let ancestors = self.ancestors(pid, process);
                let placements = match ancestors.is_empty() {
                    false => self.of(&ancestors),
                    true => self.by_origin(pid, process),
                };
                self.restore_process(pid, process, &placements, heirs);
            }
        }
        Ok(())
    }

    fn is_later(&self, identity: &Identity) -> bool {
        self.since.is_some_and(|since| identity.started >= since)
    }

    fn is_placed(&self, pid: u32) -> bool {
        let started = self.processes.get(&pid).map(|process| process.started);
        self.placements
            .iter()
            .any(|placement| Some(placement.process.1) == started && placement.process.0 == pid)
    }

    fn of(&self, processes: &BTreeSet<Process>) -> Vec<&'a Placement<'a>> {
        self.placements.iter().filter(|placement| processes.contains(&placement.process)).collect()
    }

    /// The nearest placed process among the parents of `pid`. A process that was attributed by its origin passes
    /// that on to its children.
    fn ancestors(&self, pid: u32, process: &Identity) -> BTreeSet<Process> {
        let (mut child, mut parent) = (process, process.parent);
        // A chain of parents is no longer than the list of processes.
        for _ in 0..self.processes.len() {
            let Some(identity) = self.processes.get(&parent).filter(|_| parent != pid) else { break };
            if self.is_placed(parent) {
                return BTreeSet::from([(parent, identity.started)]);
            }
            if !self.is_later(identity) || identity.started > child.started {
                break;
            }
            let origins = self.by_origin(parent, identity);
            if !origins.is_empty() {
                return origins.iter().map(|placement| placement.process).collect();
            }
            (child, parent) = (identity, identity.parent);
        }
        BTreeSet::new()
    }

    /// The placements from whose session or control group a process comes that has lost its parent. Where the
    /// parent is of the same session, it is the real one, and shows where the process comes from.
    fn by_origin(&self, pid: u32, process: &Identity) -> Vec<&'a Placement<'a>> {
        let parent = self.processes.get(&process.parent);
        if parent.is_some_and(|parent| parent.session == process.session) {
            return Vec::new();
        }
        let own = Origin::new(process, self.system, pid);
        let is_shared = |placement: &&Placement<'_>| {
            !self.online.difference(placement.wanted).is_empty()
                && placement.origin.is_some_and(|origin| origin.is_shared_by(&own))
        };
        self.placements.iter().filter(is_shared).collect()
    }

    /// Restores the threads of a process that have a mask of `placements`, or says that they are left.
    fn restore_process(
        &self,
        pid: u32,
        process: &Identity,
        placements: &[&Placement<'_>],
        heirs: &mut Heirs,
    ) {
        for number in thread::threads(self.system, pid).unwrap_or_default() {
            let place = Location::Thread { process: pid, thread: number };
            let is_known = self.known.contains(&(pid, number)) && self.is_placed(pid);
            let Ok(mask) = self.system.mask(pid, number) else { continue };
            let is_earlier = || {
                self.is_placed(pid)
                    && !placements.iter().any(|of| of.whole)
                    && !self.is_later_thread(pid, number)
            };
            if is_known || !self.placements.iter().any(|of| *of.wanted == mask) || is_earlier() {
                continue;
            }
            let own = placements.iter().filter(|of| *of.wanted == mask);
            let originals: BTreeMap<&str, &Setting> = own.map(|of| (of.original, of.set)).collect();
            let mut originals = originals.into_iter();
            match (originals.next(), originals.next()) {
                (Some((original, set)), None) => {
                    let name = process.name.escape_debug();
                    let outcome = put_back(set, &place, self.system, original);
                    heirs
                        .outcomes
                        .push((format!("thread {number} of {name} ({pid}), started since"), outcome));
                }
                _ if !self.online.difference(&mask).is_empty() => {
                    let (name, cpus) = (process.name.clone(), mask.to_string());
                    heirs.left.insert(LeftProcess { pid, name, cpus });
                }
                _ => {}
            }
        }
    }

    fn is_later_thread(&self, pid: u32, number: u32) -> bool {
        let text = self.system.read(&format!("proc/{pid}/task/{number}/stat")).ok();
        text.and_then(|text| Identity::parse(&text)).is_some_and(|thread| self.is_later(&thread))
    }
}
