//! Builds disjoint groups of cpus from the lists that the cpus give.
//!
//! Every cpu lists the cpus with which it shares a core or cache. On real hardware the members of a
//! group give the same list; under a hypervisor they may not. The list of the lowest-numbered cpu
//! wins, so that the groups are disjoint for any input.

use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Disjoint groups of cpus, each with the property that its first member reported.
#[derive(Debug)]
pub(super) struct Groups<T> {
    groups: Vec<(CpuSet, T)>,
    /// The index in `groups` of each cpu's group.
    index: BTreeMap<CpuId, usize>,
}

/// Whether a claim agrees with earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// It repeats the claim of its group, or starts a new group.
    Agrees,
    /// It contradicts an earlier claim, and was reduced or ignored.
    Disagrees,
}

impl<T: PartialEq> Groups<T> {
    pub(super) fn new() -> Self {
        Self { groups: Vec::new(), index: BTreeMap::new() }
    }

    /// Adds the claim of `cpu` that it shares `what` with `members`. Must be called with ascending cpus.
    pub(super) fn claim(&mut self, cpu: CpuId, members: &CpuSet, what: T) -> Claim {
        if let Some(&index) = self.index.get(&cpu) {
            let (group, claimed) = &self.groups[index];
            return if group == members && *claimed == what { Claim::Agrees } else { Claim::Disagrees };
        }
        let free = members.iter().filter(|member| !self.index.contains_key(member));
        let group: CpuSet = free.chain([cpu]).collect();
        self.index.extend(group.iter().map(|member| (member, self.groups.len())));
        let claim = if group == *members { Claim::Agrees } else { Claim::Disagrees };
        self.groups.push((group, what));
        claim
    }

    /// Returns the group of `cpu`.
    pub(super) fn get(&self, cpu: CpuId) -> Option<&CpuSet> {
        self.index.get(&cpu).map(|&index| &self.groups[index].0)
    }

    pub(super) fn into_groups(self) -> Vec<(CpuSet, T)> {
        self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[test]
    fn members_that_agree_are_one_group() {
        let mut groups = Groups::new();
        for cpu in 0..4 {
            let members = if cpu < 2 { set("0-1") } else { set("2-3") };
            assert_eq!(groups.claim(CpuId(cpu), &members, ()), Claim::Agrees);
        }
        assert_eq!(groups.into_groups(), [(set("0-1"), ()), (set("2-3"), ())]);
    }

    #[test]
    fn the_lowest_numbered_cpu_is_believed() {
        let mut groups = Groups::new();
        assert_eq!(groups.claim(CpuId(0), &set("0-1"), 'a'), Claim::Agrees);
        assert_eq!(groups.claim(CpuId(1), &set("1-2"), 'a'), Claim::Disagrees, "it is taken");
        assert_eq!(groups.claim(CpuId(2), &set("1-3"), 'a'), Claim::Disagrees, "reduced to 2-3");
        assert_eq!(groups.claim(CpuId(3), &set("2-3"), 'b'), Claim::Disagrees, "another thing");
        assert_eq!(groups.get(CpuId(3)), Some(&set("2-3")));
        assert_eq!(groups.into_groups(), [(set("0-1"), 'a'), (set("2-3"), 'a')]);
    }
}
