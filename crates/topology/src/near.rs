//! Cpus that share a core, a cache or a NUMA node.

use crate::{CpuSet, Machine};
use warmcore_units::CpuId;

/// What near cpus share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Within {
    /// The physical core, and so its first cache.
    Core,
    /// The last cache on the way to memory.
    LastLevelCache,
    /// The memory of a NUMA node.
    Node,
}

impl Machine {
    /// The online cpus that share it with `cpu`, including `cpu`; none if `cpu` is offline. If no cache is
    /// known, each core is assumed to have its own last-level cache.
    #[must_use]
    pub fn around(&self, cpu: CpuId, within: Within) -> CpuSet {
        let Some(centre) = self.cpus.iter().find(|other| other.id == cpu) else { return CpuSet::default() };
        let core = || centre.smt_siblings.clone();
        match within {
            Within::Core => core(),
            Within::LastLevelCache => {
                let last = self.data_caches(cpu).max_by_key(|cache| cache.level);
                last.map_or_else(core, |cache| cache.shared_by.clone())
            }
            Within::Node => {
                self.cpus.iter().filter(|other| other.node == centre.node).map(|other| other.id).collect()
            }
        }
    }

    /// The usable cpus, grouped by what they share, in order of their lowest numbers.
    #[must_use]
    pub fn groups(&self, within: Within) -> Vec<CpuSet> {
        let mut groups: Vec<CpuSet> = Vec::new();
        for cpu in self.usable() {
            if !groups.iter().any(|group| group.contains(cpu.id)) {
                groups.push(self.around(cpu.id, within).intersection(&self.limits.allowed));
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn cpus_share_a_core_a_last_level_cache_and_a_node() {
        let server = synthetic::two_socket_server();
        let around = |within| server.around(CpuId(9), within).to_string();
        assert_eq!(around(Within::Core), "9,73");
        assert_eq!(around(Within::LastLevelCache), "8-15,72-79");
        assert_eq!(around(Within::Node), "0-31,64-95");
        assert!(server.around(CpuId(128), Within::Node).is_empty());
    }

    #[test]
    fn groups_contain_every_usable_cpu_once() {
        let allowed: CpuSet = "3,8-9,40".parse().unwrap();
        let server = synthetic::two_socket_server().limited_to(allowed, None);
        let groups: Vec<String> =
            server.groups(Within::LastLevelCache).iter().map(ToString::to_string).collect();
        assert_eq!(groups, ["3", "8-9", "40"]);
        assert_eq!(server.groups(Within::Node).len(), 2);
    }

    #[test]
    fn without_known_caches_each_core_is_a_group() {
        let mut machine = synthetic::virtual_machine(2);
        machine.caches.clear();
        assert_eq!(machine.groups(Within::LastLevelCache).len(), 2);
    }
}
