//! The machine and its processors.

use crate::{Cache, CacheKind, CpuSet};
use serde::{Deserialize, Serialize};
use warmcore_units::CpuId;

/// One logical processor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cpu {
    /// Its number.
    pub id: CpuId,
    /// The physical core it is a hardware thread of, unique within its package.
    pub core: u32,
    /// The socket it sits in.
    pub package: u32,
    /// The NUMA node whose memory is nearest.
    pub node: u32,
    /// All hardware threads of its core, itself included.
    pub smt_siblings: CpuSet,
}

/// What the operating system lets this process use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// The cpus the affinity mask and cgroup cpuset allow.
    pub allowed: CpuSet,
    /// Processor time per wall-clock time that the cgroup allows, in cpus; `None` is unlimited.
    pub cpu_quota: Option<f64>,
}

/// The properties of a machine that matter for where work runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Its name in reports: the processor's model name.
    pub name: String,
    /// Online cpus in order of their number.
    pub cpus: Vec<Cpu>,
    /// Every cache of every online cpu, each once, in order of level, then kind, then first cpu.
    pub caches: Vec<Cache>,
    /// How much of it this process may use.
    pub limits: Limits,
}

impl Machine {
    /// The online cpus this process may run on.
    pub fn usable(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| self.limits.allowed.contains(cpu.id))
    }

    /// The caches `cpu` reads data through, nearest first.
    pub fn data_caches(&self, cpu: CpuId) -> impl Iterator<Item = &Cache> {
        self.caches
            .iter()
            .filter(move |cache| cache.kind != CacheKind::Instruction && cache.shared_by.contains(cpu))
    }

    /// The first instruction cache of `cpu`, if it has one separate from data.
    #[must_use]
    pub fn instruction_cache(&self, cpu: CpuId) -> Option<&Cache> {
        self.caches.iter().find(|cache| cache.kind == CacheKind::Instruction && cache.shared_by.contains(cpu))
    }

    /// Whether no other core shares `cache` (hardware threads of one core may).
    #[must_use]
    pub fn is_private(&self, cache: &Cache) -> bool {
        cache
            .shared_by
            .iter()
            .next()
            .and_then(|first| self.cpus.iter().find(|cpu| cpu.id == first))
            .is_none_or(|cpu| cache.shared_by.iter().all(|id| cpu.smt_siblings.contains(id)))
    }

    /// One usable cpu of each physical core, where work can run without cache traffic of a sibling.
    #[must_use]
    pub fn usable_cores(&self) -> Vec<CpuId> {
        self.one_cpu_per_core(self.usable())
    }

    /// The lowest-numbered of `cpus` on each physical core.
    pub(crate) fn one_cpu_per_core<'a>(&self, cpus: impl Iterator<Item = &'a Cpu>) -> Vec<CpuId> {
        let mut taken = CpuSet::default();
        cpus.filter(|cpu| {
            let first = !taken.contains(cpu.id);
            taken.extend(cpu.smt_siblings.iter());
            first
        })
        .map(|cpu| cpu.id)
        .collect()
    }

    /// The numbers of all online cpus.
    #[must_use]
    pub fn online(&self) -> CpuSet {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }

    /// The same machine seen from a container that allows `allowed` and no more than `cpu_quota`
    /// cpus' worth of time.
    #[must_use]
    pub fn limited_to(mut self, allowed: CpuSet, cpu_quota: Option<f64>) -> Self {
        self.limits = Limits { allowed, cpu_quota };
        self
    }

    /// The same machine without the `offline` cpus: they are removed from all sets, as are caches that only
    /// they used.
    #[must_use]
    pub fn without(mut self, offline: &CpuSet) -> Self {
        let keep = |cpus: &CpuSet| cpus.difference(offline);
        self.cpus.retain(|cpu| !offline.contains(cpu.id));
        for cpu in &mut self.cpus {
            cpu.smt_siblings = keep(&cpu.smt_siblings);
        }
        for cache in &mut self.caches {
            cache.shared_by = keep(&cache.shared_by);
        }
        self.caches.retain(|cache| !cache.shared_by.is_empty());
        self.caches.sort_by_key(Cache::sort_key);
        self.limits.allowed = keep(&self.limits.allowed);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn an_offline_cpu_leaves_its_sibling_and_their_caches() {
        let offline = "1,8-11".parse().unwrap();
        let laptop = synthetic::hybrid_laptop().without(&offline);
        assert_eq!(laptop.validate(), Ok(()));
        assert_eq!(laptop.online().to_string(), "0,2-7,12-15");
        assert_eq!(laptop.cpus[0].smt_siblings.to_string(), "0");
        assert_eq!(laptop.data_caches(CpuId(0)).count(), 3);
        assert_eq!(laptop.caches.iter().filter(|cache| cache.level == 2).count(), 5, "a cluster is gone");
    }

    #[test]
    fn a_container_uses_only_its_allowed_cpus() {
        let allowed = "2,5-6".parse().unwrap();
        let container = synthetic::virtual_machine(8).limited_to(allowed, Some(1.5));
        assert_eq!(container.validate(), Ok(()));
        assert_eq!(container.usable_cores(), [CpuId(2), CpuId(5), CpuId(6)]);
        assert_eq!(container.cpus.len(), 8, "the rest is still there to share caches with");
    }
}
