//! How a process goes through its references, and what they take.
//!
//! A process computes, and refers to memory at even distances of computing. A reference that its nearest cache does not answer
//! stalls it for as long as that takes beyond the nearest cache's time, which counts as computing.

use super::stream::{Memory, Stream};
use std::sync::Arc;
use warmcore_cachesim::{CacheDescription, Description, Kind, Owner, Reference, Served};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::runqueue::{Part, Pattern, References};
use warmcore_topology::CacheKind;
use warmcore_units::CpuId;
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

/// On whose behalf something refers to memory that is no process.
const NO_PROCESS: Owner = Owner(u32::MAX);

/// What references take, for fetches and for data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    ns_per_cycle: f64,
    /// The cycles of the nearest cache.
    nearest: [u64; 2],
    /// How many caches of its own a cpu asks.
    depth: [u32; 2],
}

/// Whether `cpu` alone reaches memory through `cache`.
pub(super) fn is_own(cache: &CacheDescription, cpu: CpuId) -> bool {
    cache.shared_by.iter().eq([cpu])
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
pub(in crate::runqueue) struct Executed {
    pub(in crate::runqueue) computed: f64,
    pub(in crate::runqueue) references: u64,
    pub(in crate::runqueue) misses: u64,
    /// Waiting for misses, in nanoseconds.
    pub(in crate::runqueue) miss_stall: f64,
    /// Waiting for its own caches behind the nearest.
    pub(in crate::runqueue) near_stall: f64,
}

impl Executed {
    /// Adds what it met with next.
    pub(super) fn add(&mut self, next: Self) {
        self.computed += next.computed;
        self.references += next.references;
        self.misses += next.misses;
        self.miss_stall += next.miss_stall;
        self.near_stall += next.near_stall;
    }
}

/// Where the references of a scenario's processes come from.
pub(super) struct Sources {
    seed: u64,
    replication: u64,
    memory: Memory,
    applications: Vec<Source>,
    /// The application of each owner.
    application_of: Vec<usize>,
}

impl Sources {
    /// For a checked `scenario` in run number `replication`; `None` if an application has no references.
    pub(super) fn new(scenario: &RunQueueScenario, replication: u64) -> Option<Self> {
        let mut made = Self {
            seed: scenario.seed,
            replication,
            memory: Memory::default(),
            applications: Vec::new(),
            application_of: Vec::new(),
        };
        for (index, application) in scenario.applications.iter().enumerate() {
            let references = application.references.clone()?;
            let mut pages = made.key(APPLICATIONS | index as u64).stream(Purpose::Page);
            let shared = made.memory.take_shared(&references, &mut pages);
            made.applications.push(Source { references, shared });
        }
        Some(made)
    }

    fn key(&self, point: u64) -> Key {
        Key { seed: self.seed, point, replication: self.replication }
    }

    /// The process of this number, of `application`, before its first reference.
    pub(super) fn start(&mut self, application: usize, process: u64) -> Execution {
        let key = self.key(process);
        self.execution(application, key.stream(Purpose::Reference), key.stream(Purpose::Page))
    }

    /// The process that takes the place of `before`: it has memory of its own.
    pub(super) fn succeed(&mut self, before: &Execution) -> Execution {
        self.execution(before.application, before.stream.random(), before.pages.clone())
    }

    fn execution(&mut self, application: usize, random: Random, mut pages: Random) -> Execution {
        let owner = Owner(self.application_of.len() as u32);
        self.application_of.push(application);
        let Source { references, shared } = &self.applications[application];
        let stream = Stream::new(references, owner, random, shared, (&mut self.memory, &mut pages));
        let distance = 1e3 / references.per_us;
        Execution { stream, application, distance, until_next: distance, stall: 0.0, pages }
    }

    /// All owners so far, and the application of each.
    pub(super) fn owners(&self) -> impl Iterator<Item = (Owner, usize)> {
        (0..).map(Owner).zip(self.application_of.iter().copied())
    }

    /// Loads that always miss the caches of `description`: of data that has left them since the last time. Different for each
    /// `number`.
    pub(super) fn fresh(&mut self, description: &Description, number: u32) -> Stream {
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
        let key = self.key(FRESH | u64::from(number));
        let (random, mut pages) = (key.stream(Purpose::Reference), key.stream(Purpose::Page));
        Stream::new(&references, NO_PROCESS, random, &[None], (&mut self.memory, &mut pages))
    }
}

/// The random streams of applications and of fresh data, beside those of processes, which are numbered from 0.
const APPLICATIONS: u64 = 1 << 40;
/// See [`APPLICATIONS`].
const FRESH: u64 = 1 << 41;

impl Execution {
    /// The application that it belongs to.
    pub(super) const fn application(&self) -> usize {
        self.application
    }

    /// How long it takes at least to compute for `target` nanoseconds.
    pub(super) fn at_least(&self, target: f64) -> f64 {
        self.stall + target
    }

    /// Goes on for `elapsed` nanoseconds, or until it has computed for `target`. `serve` answers its references.
    pub(super) fn run(
        &mut self,
        timing: Timing,
        elapsed: f64,
        target: f64,
        mut serve: impl FnMut(Reference) -> Served,
    ) -> Executed {
        let mut progress = Executed::default();
        let mut left = elapsed;
        loop {
            let waited = self.stall.min(left);
            self.stall -= waited;
            left -= waited;
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
            self.stall = served.cycles.0.saturating_sub(timing.nearest[side]) as f64 * timing.ns_per_cycle;
            if served.depth >= timing.depth[side] {
                progress.misses += 1;
                progress.miss_stall += self.stall;
            } else {
                progress.near_stall += self.stall;
            }
        }
    }
}

impl Timing {
    /// Of processors with the caches of `description`, at `mhz`.
    pub(super) fn new(description: &Description, mhz: f64) -> Self {
        let of = |other: CacheKind| {
            let asked = description
                .caches
                .iter()
                .filter(|cache| cache.kind != other && cache.shared_by.contains(CpuId(0)));
            let nearest = asked.clone().min_by_key(|cache| cache.level).map_or(0, |cache| cache.latency.0);
            (nearest, asked.filter(|cache| is_own(cache, CpuId(0))).count() as u32)
        };
        let [fetches, data] = [of(CacheKind::Data), of(CacheKind::Instruction)];
        Self { ns_per_cycle: 1e3 / mhz, nearest: [fetches.0, data.0], depth: [fetches.1, data.1] }
    }
}
