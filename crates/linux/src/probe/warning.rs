//! Warnings about information that is missing, and what was assumed instead.

use core::fmt;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A kind of information that was hidden, unknown to the kernel, or contradictory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shortfall {
    /// `/proc/cpuinfo` names no processor.
    ModelName,
    /// The list of online cpus is hidden.
    Online,
    /// The socket number is hidden or unknown.
    Package,
    /// The core number is hidden or unknown.
    Core,
    /// Two cores of a package have the same number, for example in a package of several dies.
    CoreRepeated,
    /// The hardware threads of a core are hidden.
    Siblings,
    /// Hardware threads disagree on which of them form a core.
    SiblingsDisagree,
    /// There is no NUMA information.
    Nodes,
    /// No NUMA node lists the cpu.
    NodeOfCpu,
    /// There is no cache information.
    Caches,
    /// Level, kind, size or line size of a cache is hidden or zero.
    CacheGeometry,
    /// The number of ways of a cache is hidden, zero, or larger than its number of lines.
    CacheWays,
    /// The cpus that share a cache are hidden.
    CacheSharing,
    /// Cpus disagree on which of them share a cache.
    CacheSharingDisagrees,
    /// The affinity mask is hidden.
    Affinity,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelName => "/proc/cpuinfo has no name of the processor; it is called unknown",
            Self::Online => "the list of online cpus is hidden; the cpus of the affinity mask are taken as online",
            Self::Package => "the socket is unknown; taken as socket 0",
            Self::Core => "the core number is unknown; the number of the core's first cpu is used",
            Self::CoreRepeated => "core numbers repeat within a socket; its cores are renumbered",
            Self::Siblings => {
                "the hardware threads of a core are unknown; those with the same core number are taken as one core"
            }
            Self::SiblingsDisagree => {
                "hardware threads disagree on their core; the list of the lowest-numbered cpu is used"
            }
            Self::Nodes => "there is no NUMA information; all cpus are taken as one node",
            Self::NodeOfCpu => "no NUMA node lists the cpu; it is taken as in node 0",
            Self::Caches => "cache information is hidden; the machine is described without caches",
            Self::CacheGeometry => "a cache without level, type, size or line size is left out",
            Self::CacheWays => "the associativity of a cache is unknown; it is taken as fully associative",
            Self::CacheSharing => "it is hidden which cpus share a cache; it is taken as private to the core",
            Self::CacheSharingDisagrees => {
                "cpus disagree on which of them share a cache; the list of the lowest-numbered cpu is used"
            }
            Self::Affinity => "the affinity mask is hidden; every online cpu is taken as allowed",
        })
    }
}

/// A kind of missing information and the affected cpus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// The kind of missing information.
    pub shortfall: Shortfall,
    /// The affected cpus; empty if it does not concern single cpus.
    pub cpus: CpuSet,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.cpus.is_empty() {
            write!(f, "cpu {}: ", self.cpus)?;
        }
        self.shortfall.fmt(f)
    }
}

/// The warnings so far, one of each kind.
#[derive(Debug, Default)]
pub(super) struct Warnings(BTreeMap<Shortfall, CpuSet>);

impl Warnings {
    pub(super) fn add(&mut self, shortfall: Shortfall) {
        self.0.entry(shortfall).or_default();
    }

    pub(super) fn add_at(&mut self, shortfall: Shortfall, cpu: CpuId) {
        self.0.entry(shortfall).or_default().extend([cpu]);
    }

    pub(super) fn into_list(self) -> Vec<Warning> {
        self.0.into_iter().map(|(shortfall, cpus)| Warning { shortfall, cpus }).collect()
    }
}
