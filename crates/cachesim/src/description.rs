//! A hierarchy of caches as an immutable value: what is known of a machine before anything runs on it.

use serde::{Deserialize, Serialize};
use warmcore_topology::{Cache, CacheKind, CpuSet, Geometry, Machine};
use warmcore_units::{Bytes, Cycles};

/// The caches between some processors and memory. [`Description::check`] says whether such a machine can be.
///
/// The caches form trees whose root is memory: those a processor reads instructions or data through are
/// ordered by their level, and all cpus of a cache share the next one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The machine's name in reports.
    pub name: String,
    /// Every cache of every processor, each once, in any order.
    pub caches: Vec<CacheDescription>,
    /// What a reference takes that no cache answers.
    pub memory: Cycles,
    /// How a reference is counted that lies in two lines.
    #[serde(default)]
    pub straddling: Straddling,
    /// The seed of caches that replace at random.
    #[serde(default)]
    pub seed: u64,
}

/// One cache and how it behaves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheDescription {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size and organisation. Line and number of sets must be powers of two; the number of ways need not.
    pub geometry: Geometry,
    /// The cpus that reach memory through it.
    pub shared_by: CpuSet,
    /// What a reference takes that this cache answers: in all, not beyond what nearer levels take.
    pub latency: Cycles,
    /// Which line of a set makes way.
    #[serde(default)]
    pub replacement: Replacement,
    /// What a store does.
    #[serde(default)]
    pub writes: Writes,
    /// What it fetches before it is asked for.
    #[serde(default)]
    pub prefetch: Prefetch,
    /// Whether all that nearer caches hold is in it too: what it loses, they lose. Otherwise their contents are
    /// independent.
    #[serde(default)]
    pub inclusive: bool,
    /// Where stores wait behind a write-through cache, if they do.
    #[serde(default)]
    pub write_buffer: Option<WriteBuffer>,
}

/// Which line of a full set makes way for another. A direct-mapped cache has no choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The line that was used least recently.
    #[default]
    Lru,
    /// The line that was brought in first.
    Fifo,
    /// Any, all with the same probability: way `⌊random · ways / 2⁶⁴⌋` of a generator (Xoshiro256++) of the
    /// cache's own, seeded with the description's seed plus the cache's index.
    Random,
    /// Approximately the least recently used, by a binary tree of bits that point away from what was used.
    /// The number of ways must be a power of two, at most 64.
    TreePlru,
}

/// What a store does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// It brings the line in if need be. The line goes on when it makes way (write-back, write-allocate).
    #[default]
    Back,
    /// It changes the line if that is here, and goes on in any case (write-through, no allocation).
    Through,
}

/// What a cache fetches before it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefetch {
    /// Nothing.
    #[default]
    Off,
    /// When a reference brings a line in, the next line too, unless it is here.
    NextOnMiss,
}

/// A buffer in which stores wait on their way to the next level, merged by block. The oldest block leaves first; while it
/// is being written, for as long as the level that takes it needs, nothing merges into it. A load that misses waits
/// until its block has left.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// How many blocks it holds. A store that finds it full waits.
    pub depth: u32,
    /// Bytes in a block.
    pub block: Bytes,
    /// The oldest block leaves once this many are waiting, 1 to `depth`.
    pub retire_at: u32,
    /// The oldest block also leaves once it has waited so long; without it, it waits for others.
    #[serde(default)]
    pub max_age: Option<Cycles>,
}

/// How a reference is counted whose bytes lie in two or more lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Straddling {
    /// Each line is an access, a hit or a miss, of its own, and only lines that miss are looked for further away.
    #[default]
    EachLine,
    /// All its lines are one access, which misses if any does; then all are looked for further away. So
    /// valgrind's cachegrind counts.
    Whole,
}

impl Description {
    /// The caches of `machine`, with write-back and LRU everywhere. `latencies` says what each level takes, nearest
    /// first, and `memory` what is beyond them. Levels beyond those in `latencies` get the latency of the last.
    #[must_use]
    pub fn from_machine(machine: &Machine, latencies: &[Cycles], memory: Cycles) -> Self {
        let mut levels: Vec<u32> = machine.caches.iter().map(|cache| cache.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let latency = |level| {
            let depth = levels.iter().position(|&other| other == level).unwrap_or(0);
            latencies.get(depth).or(latencies.last()).copied().unwrap_or_default()
        };
        let caches = machine.caches.iter().map(|cache| CacheDescription::new(cache, latency(cache.level)));
        Self {
            name: machine.name.clone(),
            caches: caches.collect(),
            memory,
            straddling: Straddling::default(),
            seed: 0,
        }
    }

    /// The same with all caches changed by `change`: for instance to another policy at one level.
    #[must_use]
    pub fn with(mut self, mut change: impl FnMut(&mut CacheDescription)) -> Self {
        self.caches.iter_mut().for_each(&mut change);
        self
    }

    /// The cpus that have a cache.
    #[must_use]
    pub fn cpus(&self) -> CpuSet {
        self.caches.iter().flat_map(|cache| cache.shared_by.iter()).collect()
    }
}

impl CacheDescription {
    /// A write-back cache with LRU.
    #[must_use]
    pub fn new(cache: &Cache, latency: Cycles) -> Self {
        Self {
            level: cache.level,
            kind: cache.kind,
            geometry: cache.geometry,
            shared_by: cache.shared_by.clone(),
            latency,
            replacement: Replacement::default(),
            writes: Writes::default(),
            prefetch: Prefetch::default(),
            inclusive: false,
            write_buffer: None,
        }
    }

    /// Whether instructions (`true`) or data (`false`) of its cpus go through it.
    #[must_use]
    pub(crate) fn serves(&self, instructions: bool) -> bool {
        self.kind != if instructions { CacheKind::Data } else { CacheKind::Instruction }
    }
}
