//! Who displaced whom during one round.

use super::code::Block;
use super::summary::{FunctionPair, LinePair, MAX_LINE_PAIRS};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use warmcore_cachesim::CacheId;
use warmcore_cachesim::observe::{Displacements, LinePair as Lines, OwnerPair};

/// What [`Displacements`] has counted of one cache until now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    owners: BTreeMap<OwnerPair, u64>,
    misses: BTreeMap<OwnerPair, u64>,
    lines: BTreeMap<Lines, u64>,
}

impl Tally {
    pub(super) fn new(observer: &Displacements, cache: CacheId) -> Self {
        Self {
            owners: observer.owners(cache).collect(),
            misses: observer.misses(cache).collect(),
            lines: observer.lines(cache).into_iter().collect(),
        }
    }

    /// Takes off what had been counted before.
    pub(super) fn subtract(&mut self, before: &Self) {
        take(&mut self.owners, &before.owners);
        take(&mut self.misses, &before.misses);
        take(&mut self.lines, &before.lines);
    }

    /// The pairs of functions to which `blocks`, the owners, belong.
    pub(super) fn functions(&self, blocks: &[Block]) -> Vec<FunctionPair> {
        let mut pairs: BTreeMap<(Option<u32>, Option<u32>), (u64, u64)> = BTreeMap::new();
        let functions = |pair: &OwnerPair| {
            let function = |owner: u32| blocks.get(owner as usize).and_then(|block| block.function);
            (function(pair.victim.0), function(pair.by.0))
        };
        for (pair, times) in &self.owners {
            pairs.entry(functions(pair)).or_default().0 += times;
        }
        for (pair, times) in &self.misses {
            pairs.entry(functions(pair)).or_default().1 += times;
        }
        let pair = |((victim, by), (lines, misses))| FunctionPair { victim, by, lines, misses };
        let mut pairs: Vec<FunctionPair> = pairs.into_iter().map(pair).collect();
        pairs.sort_by_key(|pair| (Reverse(pair.lines), Reverse(pair.misses), pair.victim, pair.by));
        pairs
    }

    /// The most frequent pairs of lines, which have `line` bytes each.
    pub(super) fn lines(&self, line: u64) -> Vec<LinePair> {
        let pair = |(pair, &times): (&Lines, &u64)| LinePair {
            victim: pair.victim.saturating_mul(line),
            by: pair.by.saturating_mul(line),
            times,
        };
        let mut pairs: Vec<LinePair> = self.lines.iter().map(pair).collect();
        pairs.sort_by_key(|pair| (Reverse(pair.times), *pair));
        pairs.truncate(MAX_LINE_PAIRS);
        pairs
    }
}

fn take<K: Ord>(now: &mut BTreeMap<K, u64>, before: &BTreeMap<K, u64>) {
    now.retain(|pair, times| {
        *times -= before.get(pair).copied().unwrap_or(0);
        *times > 0
    });
}
