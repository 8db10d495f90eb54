//! Which cpus are near each other: what one of them writes, another finds in what they share.

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
    /// The online cpus that share it with `cpu`, which is among them; none if `cpu` is not online. Where no
    /// cache is known, a last-level cache is taken to be as large as a core.
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

    /// The usable cpus in groups that share it, in order of their lowest numbers.
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
    fn what_is_near_is_the_core_then_the_cache_then_the_node() {
        let server = synthetic::two_socket_server();
        let around = |within| server.around(CpuId(9), within).to_string();
        assert_eq!(around(Within::Core), "9,73");
        assert_eq!(around(Within::LastLevelCache), "8-15,72-79");
        assert_eq!(around(Within::Node), "0-31,64-95");
        assert!(server.around(CpuId(128), Within::Node).is_empty());
    }

    #[test]
    fn groups_hold_every_usable_cpu_once_and_no_other() {
        let allowed: CpuSet = "3,8-9,40".parse().unwrap();
        let server = synthetic::two_socket_server().limited_to(allowed, None);
        let groups: Vec<String> =
            server.groups(Within::LastLevelCache).iter().map(ToString::to_string).collect();
        assert_eq!(groups, ["3", "8-9", "40"]);
        assert_eq!(server.groups(Within::Node).len(), 2);
    }

    #[test]
    fn without_known_caches_a_core_is_all_that_is_near() {
        let mut machine = synthetic::virtual_machine(2);
        machine.caches.clear();
        assert_eq!(machine.groups(Within::LastLevelCache).len(), 2);
    }
}
