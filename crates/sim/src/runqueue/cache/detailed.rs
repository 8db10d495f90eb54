//! The detailed cache model: every cpu has caches ([`warmcore_cachesim`]), and processes send references through them.
//!
//! Misses are the references that none of a cpu's own caches answers. Where all caches are its own, memory answers them, as a
//! monitor on the bus sees them (Torrellas 1995, §2).
//!
//! What a process will find cannot be foreseen, so a processor is looked at again after [`SLICE`] at the latest, and then
//! catches up. Processors are no further apart than that, so what they write to in common moves between them once a slice
//! at most where it would move more often.

use super::execution::{Execution, Sources, Timing, is_own};
use super::stream::Stream;
use super::{CacheModel, Ran};
use crate::runqueue::tally::{ApplicationTally, LevelMisses};
use warmcore_cachesim::observe::{Blame, MissCauses, MissKinds};
use warmcore_cachesim::{CacheId, Description, Hierarchy, Nothing, Observer};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::MachineCaches;
use warmcore_topology::CacheKind;
use warmcore_units::CpuId;

/// The longest time, in nanoseconds, after which a processor is looked at.
const SLICE: f64 = 10_000.0;

/// What is watched of misses: their kinds and who is to blame, or nothing, which is faster.
pub(in crate::runqueue) trait Watch: Observer + Sized {
    /// To watch the caches of `description`.
    fn new(description: &Description) -> Self;

    /// What has been watched.
    fn watched(&self) -> Option<&Watched>;
}

/// See [`Watch`].
pub(in crate::runqueue) type Watched = (MissKinds, MissCauses);

impl Watch for Watched {
    fn new(description: &Description) -> Self {
        (MissKinds::new(description), MissCauses::new(description))
    }

    fn watched(&self) -> Option<&Watched> {
        Some(self)
    }
}

impl Watch for Nothing {
    fn new(_description: &Description) -> Self {
        Self
    }

    fn watched(&self) -> Option<&Watched> {
        None
    }
}

/// The caches of all processors, and what each process does to them.
pub(in crate::runqueue) struct Detailed<W> {
    caches: Hierarchy<W>,
    levels: Vec<Level>,
    timing: Timing,
    sources: Sources,
    executions: Vec<Execution>,
    references: Vec<u64>,
    kernel: Vec<Stream>,
    interrupt_misses: u64,
}

/// The caches of one level and kind.
struct Level {
    name: String,
    caches: Vec<CacheId>,
    /// Whether what they miss is a miss of their cpu.
    is_last: bool,
}

impl<W: Watch> Detailed<W> {
    /// For a checked `scenario`; `None` if it was not checked and is impossible.
    pub(in crate::runqueue) fn new(
        scenario: &RunQueueScenario,
        caches: &MachineCaches,
        replication: u64,
    ) -> Option<Self> {
        let cpus = scenario.machine.cpus;
        let description = caches.description(cpus);
        let mut sources = Sources::new(scenario, replication)?;
        let mut executions = Vec::new();
        for (index, application) in scenario.applications.iter().enumerate() {
            for _ in 0..application.processes {
                let process = executions.len() as u64;
                executions.push(sources.start(index, process));
            }
        }
        Some(Self {
            caches: Hierarchy::observed(&description, W::new(&description)).ok()?,
            levels: levels(&description),
            timing: Timing::new(&description, caches.clock_mhz()),
            kernel: (0..cpus).map(|cpu| sources.fresh(&description, cpu)).collect(),
            sources,
            executions,
            references: vec![0; scenario.applications.len()],
            interrupt_misses: whole(scenario.machine.interrupt_misses),
        })
    }

    /// Adds what was watched to the tallies of `applications`.
    fn report_misses(&self, (kinds, causes): &Watched, applications: &mut [ApplicationTally]) {
        for tally in &mut *applications {
            let empty = |level: &Level| LevelMisses { caches: level.name.clone(), ..LevelMisses::default() };
            tally.levels = self.levels.iter().map(empty).collect();
        }
        for (owner, application) in self.sources.owners() {
            for (level, misses) in self.levels.iter().zip(&mut applications[application].levels) {
                for &cache in &level.caches {
                    misses.kinds += kinds.of_owner(cache, owner);
                    misses.blame += causes.of_owner(cache, owner);
                }
            }
        }
        let reloads = [Blame::Elsewhere, Blame::Another, Blame::Invalidated];
        for tally in applications {
            let last = self.levels.iter().zip(&tally.levels).filter(|(level, _)| level.is_last);
            let reload: u64 = last.flat_map(|(_, misses)| reloads.map(|of| misses.blame.get(of))).sum();
            tally.reload_misses = reload as f64;
        }
    }
}

impl<W: Watch> CacheModel for Detailed<W> {
    fn begin(&mut self, process: usize, _cpu: usize, target: f64) -> f64 {
        self.executions[process].at_least(target).min(SLICE)
    }

    fn run(&mut self, process: usize, cpu: usize, elapsed: f64, target: f64) -> Ran {
        let execution = &mut self.executions[process];
        let cpu = CpuId::from(cpu);
        let caches = &mut self.caches;
        let progress = execution.run(self.timing, elapsed, target, |reference| caches.access(cpu, reference));
        self.references[execution.application()] += progress.references;
        Ran { computed: progress.computed, misses: progress.misses as f64, reload_misses: 0.0 }
    }

    /// What it writes to moves as it does.
    fn migrate(&mut self, _process: usize, _last: usize) {}

    fn interrupt(&mut self, cpu: usize) {
        for _ in 0..self.interrupt_misses {
            let reference = self.kernel[cpu].next();
            self.caches.access(CpuId::from(cpu), reference);
        }
    }

    fn replace(&mut self, process: usize) {
        self.executions[process] = self.sources.succeed(&self.executions[process]);
    }

    fn report(&self, applications: &mut [ApplicationTally]) {
        for (tally, &references) in applications.iter_mut().zip(&self.references) {
            tally.references = references;
        }
        if let Some(watched) = self.caches.observer().watched() {
            self.report_misses(watched, applications);
        }
    }
}

/// The caches of `description` by level and kind, nearest first.
fn levels(description: &Description) -> Vec<Level> {
    let mut keys: Vec<(u32, CacheKind)> =
        description.caches.iter().map(|cache| (cache.level, cache.kind)).collect();
    keys.sort_unstable();
    keys.dedup();
    let own: Vec<(u32, CacheKind)> = description
        .caches
        .iter()
        .filter(|cache| is_own(cache, CpuId(0)))
        .map(|cache| (cache.level, cache.kind))
        .collect();
    let serves = |kind: CacheKind, other: CacheKind| {
        kind == other || kind == CacheKind::Unified || other == CacheKind::Unified
    };
    let level = |&(level, kind): &(u32, CacheKind)| Level {
        name: format!("level {level}, {kind}"),
        caches: (0..)
            .zip(&description.caches)
            .filter(|(_, cache)| (cache.level, cache.kind) == (level, kind))
            .map(|(index, _)| CacheId(index))
            .collect(),
        is_last: own.contains(&(level, kind))
            && !own.iter().any(|&(further, other)| further > level && serves(kind, other)),
    };
    keys.iter().map(level).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be small and positive"
)]
fn whole(count: f64) -> u64 {
    count.round() as u64
}
