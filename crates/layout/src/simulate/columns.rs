//! Which references count in which column of Table 6 of Mosberger et al. 1996.

use serde::{Deserialize, Serialize};
use warmcore_cachesim::{CacheId, Cause, Counts, Description, Kind, Prefetch, Writes};
use warmcore_topology::CacheKind;
use warmcore_units::{CpuId, Cycles, Fault};

/// What a column counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Fetches that the nearest cache for instructions is asked for: "i-cache".
    Instructions,
    /// Loads and stores that the nearest cache for data is asked for: "d-cache/wr-buffer".
    Data,
    /// All that a cache further away is asked for: "b-cache".
    Both,
}

/// A column before anything is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Heading {
    pub(super) cache: CacheId,
    pub(super) side: Side,
}

/// The caches of one cpu, as columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    pub(super) cpu: CpuId,
    /// Instructions, data, then the others by level.
    pub(super) headings: Vec<Heading>,
    /// What an instruction or a datum takes that the nearest cache has.
    pub(super) nearest: [Cycles; 2],
    /// The next caches beyond those.
    beyond: [Option<CacheId>; 2],
}

impl Columns {
    /// The columns of the first cpu of `description`, which has been checked.
    pub(super) fn new(description: &Description) -> Result<Self, Fault> {
        let cpu = description.cpus().iter().next().unwrap_or_default();
        let instructions = path(description, cpu, CacheKind::Data);
        let data = path(description, cpu, CacheKind::Instruction);
        let nearest = |path: &[CacheId], what: &str| {
            let none = || Fault::new("caches", format!("none of {cpu} for {what}"), "at least one");
            path.first().copied().ok_or_else(none)
        };
        let (first, second) = (nearest(&instructions, "instructions")?, nearest(&data, "data")?);
        let mut further: Vec<CacheId> = instructions[1..]
            .iter()
            .chain(&data[1..])
            .copied()
            .filter(|&at| at != first && at != second)
            .collect();
        further.sort_by_key(|&at| (description.caches[at.index()].level, at));
        further.dedup();
        let mut headings = vec![
            Heading { cache: first, side: Side::Instructions },
            Heading { cache: second, side: Side::Data },
        ];
        headings.extend(further.into_iter().map(|cache| Heading { cache, side: Side::Both }));
        let latency = |at: CacheId| description.caches[at.index()].latency;
        Ok(Self {
            cpu,
            headings,
            nearest: [latency(first), latency(second)],
            beyond: [&instructions, &data].map(|path| path.get(1).copied()),
        })
    }

    /// The next cache beyond the nearest one for instructions (0) or data (1).
    pub(super) const fn beyond(&self, side: usize) -> Option<CacheId> {
        self.beyond[side]
    }

    /// The column of each cause in each cache, if it has one. What a cache prefetches for itself is in no column, and so
    /// neither is what others prefetch through such a cache.
    pub(super) fn table(&self, description: &Description) -> Vec<[Option<u8>; Cause::COUNT]> {
        let mut table = vec![[None; Cause::COUNT]; description.caches.len()];
        for (column, heading) in (0..).zip(&self.headings) {
            let cache = &description.caches[heading.cache.index()];
            for cause in causes(heading.side, cache.prefetch) {
                table[heading.cache.index()][cause.index()] = Some(column);
            }
        }
        table
    }

    /// How often the column was asked, and stores that its cache passed on, of what `counts` says.
    pub(super) fn asked(&self, description: &Description, column: usize, counts: &Counts) -> (u64, u64) {
        let heading = self.headings[column];
        let cache = &description.caches[heading.cache.index()];
        let here = &counts[heading.cache];
        let asked = causes(heading.side, cache.prefetch).map(|cause| here.accesses(cause)).sum();
        if heading.side != Side::Data || cache.writes == Writes::Back {
            return (asked, 0);
        }
        let passed_by = |cause| match self.beyond(1) {
            Some(next) => counts[next].accesses(cause),
            None => counts.memory_writes,
        };
        let cause = if cache.write_buffer.is_some() { Cause::Drain } else { Cause::Reference(Kind::Store) };
        (asked, passed_by(cause))
    }
}

/// The causes that count in a column.
fn causes(side: Side, prefetch: Prefetch) -> impl Iterator<Item = Cause> {
    Cause::ALL.into_iter().filter(move |&cause| match side {
        Side::Instructions => cause == Cause::Reference(Kind::Fetch),
        Side::Data => matches!(cause, Cause::Reference(Kind::Load | Kind::Store)),
        Side::Both => prefetch == Prefetch::Off || cause != Cause::Prefetch,
    })
}

/// The caches of `cpu` on its way to memory that are of another kind than `except`, nearest first.
fn path(description: &Description, cpu: CpuId, except: CacheKind) -> Vec<CacheId> {
    let on_it = |&at: &CacheId| {
        let cache = &description.caches[at.index()];
        cache.kind != except && cache.shared_by.contains(cpu)
    };
    let mut path: Vec<CacheId> = (0..description.caches.len() as u32).map(CacheId).filter(on_it).collect();
    path.sort_by_key(|at| description.caches[at.index()].level);
    path
}
