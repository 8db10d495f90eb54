//! What could not be found out, and what was assumed instead.

use core::fmt;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// A kind of information that was withheld, unknown to the kernel, or contradictory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shortfall {
    /// `/proc/cpuinfo` names no processor.
    ModelName,
    /// The list of online cpus is withheld.
    Online,
    /// The number of the socket is withheld or unknown.
    Package,
    /// The number of the core is withheld or unknown.
    Core,
    /// Two cores of a package have one number, as where a package has several dies.
    CoreRepeated,
    /// Which hardware threads are one core is withheld.
    Siblings,
    /// Hardware threads disagree on who is their core.
    SiblingsDisagree,
    /// There is no NUMA information.
    Nodes,
    /// A cpu is in no node.
    NodeOfCpu,
    /// There is no cache information.
    Caches,
    /// Level, kind, size or line of a cache is withheld or zero.
    CacheGeometry,
    /// The ways of a cache are withheld, zero or more than it has lines.
    CacheWays,
    /// Who shares a cache is withheld.
    CacheSharing,
    /// Cpus disagree on who shares a cache.
    CacheSharingDisagrees,
    /// The affinity mask is withheld.
    Affinity,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelName => "the processor has no name in /proc/cpuinfo; it is called unknown",
            Self::Online => "the list of online cpus is hidden; the affinity mask is taken for it",
            Self::Package => "the socket is unknown; taken as socket 0",
            Self::Core => "the core number is unknown; the number of the core's first cpu is used",
            Self::CoreRepeated => "core numbers repeat within a socket; its cores are numbered anew",
            Self::Siblings => {
                "hardware threads of one core are unknown; found by core number where there is one"
            }
            Self::SiblingsDisagree => {
                "hardware threads disagree on their core; the lowest-numbered cpu is believed"
            }
            Self::Nodes => "there is no NUMA information; taken as one node",
            Self::NodeOfCpu => "no NUMA node lists the cpu; taken as node 0",
            Self::Caches => "the caches are hidden; none is known",
            Self::CacheGeometry => "a cache without level, type, size or line is left out",
            Self::CacheWays => "the ways of a cache are unknown; taken as fully associative",
            Self::CacheSharing => "who shares a cache is hidden; taken as private to the core",
            Self::CacheSharingDisagrees => {
                "cpus disagree on who shares a cache; the lowest-numbered cpu is believed"
            }
            Self::Affinity => "the affinity mask is hidden; every online cpu is taken as allowed",
        })
    }
}

/// One kind of shortfall and the cpus it was met at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// What is missing.
    pub shortfall: Shortfall,
    /// The cpus it was met at; empty where it is not about a cpu.
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
