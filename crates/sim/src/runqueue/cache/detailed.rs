//! The detailed cache model: every cpu has caches ([`warmcore_cachesim`]), and processes send references through them.
//!
//! A process computes, and refers to memory at even distances of computing. A reference that its nearest cache does not answer
//! stalls it for as long as that takes beyond the nearest cache's time, which counts as computing. Misses are the
//! references that memory answers, as a monitor on the bus counts them (Torrellas 1995, §2).
//!
//! What a process will find cannot be foreseen, so a processor is looked at again after [`SLICE`] at the latest, and then
//! catches up. Processors are no further apart than that, so what they write to in common moves between them once a slice
//! at most where it would move more often.

use super::stream::{Memory, Stream};
use super::{CacheModel, Ran};
use crate::runqueue::tally::{ApplicationTally, LevelMisses};
use std::sync::Arc;
use warmcore_cachesim::observe::{Blame, MissCauses, MissKinds};
use warmcore_cachesim::{CacheId, Description, Hierarchy, Kind, Owner, Reference};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{MachineCaches, Part, Pattern, References};
use warmcore_topology::CacheKind;
use warmcore_units::CpuId;
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

/// The longest time, in nanoseconds, after which a processor is looked at.
const SLICE: f64 = 10_000.0;
/// On whose behalf interrupts refer to memory.
const KERNEL: Owner = Owner(u32::MAX);

/// What is watched.
type Watched = (MissKinds, MissCauses);

/// The caches of all processors, and what each process does to them.
pub(in crate::runqueue) struct Detailed {
    caches: Hierarchy<Watched>,
    levels: Vec<Level>,
    timing: Timing,
    memory: Memory,
    sources: Vec<Source>,
    executions: Vec<Execution>,
    /// The application of each owner.
    application_of: Vec<usize>,
    references: Vec<u64>,
    kernel: Vec<Stream>,
    interrupt_misses: u64,
}

/// The caches of one level and kind.
struct Level {
    name: String,
    caches: Vec<CacheId>,
    /// Whether memory answers what they miss.
    is_last: bool,
}

/// What references take, for fetches and for data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    ns_per_cycle: f64,
    /// The cycles of the nearest cache.
    nearest: [u64; 2],
    /// How many caches there are on the way to memory.
    depth: [u32; 2],
}

/// What the processes of an application have in common.
struct Source {
    references: References,
    shared: Vec<Option<Arc<[u64]>>>,
}

/// A process on its way through its references.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    stream: Stream,
    application: usize,
    /// Computing between two references, in nanoseconds.
    distance: f64,
    /// Computing until the next one.
    until_next: f64,
    /// What it still has to wait for its last one.
    stall: f64,
    pages: Random,
}

/// What an execution met with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) computed: f64,
    pub(super) references: u64,
    pub(super) misses: u64,
    /// Waiting for caches further away than the nearest, and for memory.
    pub(super) stalled: f64,
}

impl Detailed {
    pub(in crate::runqueue) fn new(
        scenario: &RunQueueScenario,
        caches: &MachineCaches,
        replication: u64,
    ) -> Option<Self> {
        let cpus = scenario.machine.cpus;
        let description = caches.description(cpus);
        let watched = (MissKinds::new(&description), MissCauses::new(&description));
        let key = |point: u64| Key { seed: scenario.seed, point, replication };
        let mut memory = Memory::default();
        let mut made = Self {
            caches: Hierarchy::observed(&description, watched).ok()?,
            levels: levels(&description),
            timing: Timing::new(&description, caches.clock_mhz()),
            sources: Vec::new(),
            executions: Vec::new(),
            application_of: Vec::new(),
            references: vec![0; scenario.applications.len()],
            kernel: (0..cpus).map(|cpu| kernel(&description, key(kernel_point(cpu)), &mut memory)).collect(),
            interrupt_misses: whole(scenario.machine.interrupt_misses),
            memory,
        };
        for (index, application) in scenario.applications.iter().enumerate() {
            let references = application.references.clone()?;
            let mut pages = key(application_point(index)).stream(Purpose::Page);
            let shared = made.memory.take_shared(&references, &mut pages);
            made.sources.push(Source { references, shared });
            for _ in 0..application.processes {
                let key = key(made.executions.len() as u64);
                let execution = made.start(index, key.stream(Purpose::Reference), key.stream(Purpose::Page));
                made.executions.push(execution);
            }
        }
        Some(made)
    }

    /// A process of `application` before its first reference.
    fn start(&mut self, application: usize, random: Random, mut pages: Random) -> Execution {
        let owner = Owner(self.application_of.len() as u32);
        self.application_of.push(application);
        let Source { references, shared } = &self.sources[application];
        let stream = Stream::new(references, owner, random, shared, (&mut self.memory, &mut pages));
        let distance = 1e3 / references.per_us;
        Execution { stream, application, distance, until_next: distance, stall: 0.0, pages }
    }
}

impl CacheModel for Detailed {
    fn begin(&mut self, process: usize, _cpu: usize, target: f64) -> f64 {
        (self.executions[process].stall + target).min(SLICE)
    }

    fn run(&mut self, process: usize, cpu: usize, elapsed: f64, target: f64) -> Ran {
        let execution = &mut self.executions[process];
        let cpu = CpuId::from(cpu);
        let caches = &mut self.caches;
        let progress = execution.run(self.timing, elapsed, target, |reference| caches.access(cpu, reference));
        self.references[execution.application] += progress.references;
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
        let Execution { application, pages, stream, .. } = &self.executions[process];
        let (application, random, pages) = (*application, stream.random(), pages.clone());
        self.executions[process] = self.start(application, random, pages);
    }

    fn report(&self, applications: &mut [ApplicationTally]) {
        let (kinds, causes) = self.caches.observer();
        for (application, tally) in applications.iter_mut().enumerate() {
            tally.references = self.references[application];
            let empty = |level: &Level| LevelMisses { caches: level.name.clone(), ..LevelMisses::default() };
            tally.levels = self.levels.iter().map(empty).collect();
        }
        for (owner, &application) in self.application_of.iter().enumerate() {
            let tally = &mut applications[application];
            for (level, misses) in self.levels.iter().zip(&mut tally.levels) {
                for &cache in &level.caches {
                    misses.kinds += kinds.of_owner(cache, Owner(owner as u32));
                    misses.blame += causes.of_owner(cache, Owner(owner as u32));
                }
            }
        }
        for tally in applications {
            let last = self.levels.iter().zip(&tally.levels).filter(|(level, _)| level.is_last);
            let reloads = |misses: &LevelMisses| {
                [Blame::Elsewhere, Blame::Another, Blame::Invalidated]
                    .map(|of| misses.blame.get(of))
                    .iter()
                    .sum::<u64>()
            };
            tally.reload_misses = last.map(|(_, misses)| reloads(misses) as f64).sum();
        }
    }
}

impl Execution {
    /// Goes on for `elapsed` nanoseconds, or until it has computed for `target`. `serve` answers its references.
    pub(super) fn run(
        &mut self,
        timing: Timing,
        elapsed: f64,
        target: f64,
        mut serve: impl FnMut(Reference) -> warmcore_cachesim::Served,
    ) -> Progress {
        let mut progress = Progress::default();
        let mut left = elapsed;
        loop {
            let waited = self.stall.min(left);
            self.stall -= waited;
            left -= waited;
            progress.stalled += waited;
            let computes = self.until_next.min(left).min(target - progress.computed);
            progress.computed += computes;
            left -= computes;
            if computes < self.until_next {
                self.until_next -= computes;
                return progress;
            }
            self.until_next = self.distance;
            let reference = self.stream.next();
            let side = usize::from(reference.kind != Kind::Fetch);
            let served = serve(reference);
            progress.references += 1;
            progress.misses += u64::from(served.depth >= timing.depth[side]);
            self.stall = served.cycles.0.saturating_sub(timing.nearest[side]) as f64 * timing.ns_per_cycle;
        }
    }
}

impl Timing {
    /// Of processors with the caches of `description`, at `mhz`.
    pub(super) fn new(description: &Description, mhz: f64) -> Self {
        let of = |other: CacheKind| {
            let own = |cache: &&warmcore_cachesim::CacheDescription| {
                cache.kind != other && cache.shared_by.contains(CpuId(0))
            };
            let nearest = description.caches.iter().filter(own).min_by_key(|cache| cache.level);
            let depth = description.caches.iter().filter(own).count() as u32;
            (nearest.map_or(0, |cache| cache.latency.0), depth)
        };
        let [fetches, data] = [of(CacheKind::Data), of(CacheKind::Instruction)];
        Self { ns_per_cycle: 1e3 / mhz, nearest: [fetches.0, data.0], depth: [fetches.1, data.1] }
    }
}

/// The caches of `description` by level and kind, nearest first.
fn levels(description: &Description) -> Vec<Level> {
    let mut keys: Vec<(u32, CacheKind)> =
        description.caches.iter().map(|cache| (cache.level, cache.kind)).collect();
    keys.sort_unstable();
    keys.dedup();
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
        is_last: !keys.iter().any(|&(further, other)| further > level && serves(kind, other)),
    };
    keys.iter().map(level).collect()
}

/// What interrupts refer to on a processor: data that has always left the caches since the last time.
fn kernel(description: &Description, key: Key, memory: &mut Memory) -> Stream {
    let largest = description.caches.iter().map(|cache| cache.geometry.size.0).max().unwrap_or(0);
    let line = description.caches.iter().map(|cache| cache.geometry.line.0).max().unwrap_or(0);
    let part = Part {
        kib: 2.0 * largest as f64 / 1024.0,
        share: 1.0,
        pattern: Pattern::Sweep,
        element_bytes: line as u32,
        stores: 0.0,
        shared: false,
        code: false,
    };
    let references = References { per_us: 1.0, parts: vec![part] };
    let mut pages = key.stream(Purpose::Page);
    Stream::new(&references, KERNEL, key.stream(Purpose::Reference), &[None], (memory, &mut pages))
}

/// The names of random streams beside those of processes, which are numbered from 0.
const fn kernel_point(cpu: u32) -> u64 {
    1 << 40 | cpu as u64
}

/// See [`kernel_point`].
const fn application_point(index: usize) -> u64 {
    1 << 41 | index as u64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be small and positive"
)]
fn whole(count: f64) -> u64 {
    count.round() as u64
}
