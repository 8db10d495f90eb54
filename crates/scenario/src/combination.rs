//! Combinations of the scheduling alternatives in Table 1 of Salehi, Kurose & Towsley 1994.

use crate::policy::ProcessorPolicy;
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_costs::Approach;

/// How a pool of threads or of free memory is organised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Organisation {
    /// One pool for each processor: nothing migrates.
    #[default]
    PerProcessor,
    /// One pool for all processors.
    Global,
}

impl Organisation {
    /// Both organisations.
    pub const ALL: [Self; 2] = [Self::PerProcessor, Self::Global];
}

impl fmt::Display for Organisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerProcessor => "per-processor",
            Self::Global => "global",
        })
    }
}

/// One way to run protocol work: an approach to parallelism, a policy and the organisation of pools.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Combination {
    /// Locking or independent stacks.
    pub approach: Approach,
    /// How a processor is chosen.
    pub policy: ProcessorPolicy,
    /// Organisation of protocol threads.
    pub threads: Organisation,
    /// Organisation of free memory.
    pub memory: Organisation,
}

impl Combination {
    /// How many combinations there are.
    pub const COUNT: usize = 24;

    /// What a kernel does by default today: packets are assigned to processors by stream, as in receive-side
    /// scaling, and processed in one stack protected by locks, with threads and memory per processor.
    pub const COMMON_DEFAULT: Self = Self {
        approach: Approach::Locking,
        policy: ProcessorPolicy::WiredStreams,
        threads: Organisation::PerProcessor,
        memory: Organisation::PerProcessor,
    };

    /// Every combination, Locking first.
    pub fn all() -> impl Iterator<Item = Self> {
        Approach::ALL.into_iter().flat_map(|approach| {
            ProcessorPolicy::SALEHI_1994.into_iter().flat_map(move |policy| {
                Organisation::ALL.into_iter().flat_map(move |threads| {
                    Organisation::ALL.map(|memory| Self { approach, policy, threads, memory })
                })
            })
        })
    }

    /// Whether threads and memory are both per processor, so that pools cause no migration.
    #[must_use]
    pub fn has_own_pools(&self) -> bool {
        self.threads == Organisation::PerProcessor && self.memory == Organisation::PerProcessor
    }
}

impl fmt::Display for Combination {
    /// `IPS, MRU`; global pools are named: `Locking, LRU, global threads, global memory`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.approach.short(), self.policy)?;
        for (pool, organisation) in [("threads", self.threads), ("memory", self.memory)] {
            if organisation == Organisation::Global {
                write!(f, ", global {pool}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_combinations_have_distinct_names() {
        let names: HashSet<String> = Combination::all().map(|combination| combination.to_string()).collect();
        assert_eq!(names.len(), Combination::COUNT);
        assert_eq!(Combination::COMMON_DEFAULT.to_string(), "Locking, Wired-Streams");
    }
}
