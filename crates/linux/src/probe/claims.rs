//! Groups of cpus out of what each cpu says of its group.
//!
//! Every cpu lists those it shares something with. On a sound machine the members of a group say
//! the same; what a hypervisor makes up may not. Here the lowest-numbered cpu is believed, so that
//! the groups that come out are disjoint, whatever went in.

use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Disjoint groups of cpus, each with what its first member said of it.
#[derive(Debug)]
pub(super) struct Groups<T> {
    groups: Vec<(CpuSet, T)>,
    /// Where in `groups` each cpu's group is.
    index: BTreeMap<CpuId, usize>,
}

/// How a claim agrees with the groups before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claim {
    /// It says what its group already said, or founds a new one.
    Agrees,
    /// It says otherwise, and was cut down or ignored.
    Disagrees,
}

impl<T: PartialEq> Groups<T> {
    pub(super) fn new() -> Self {
        Self { groups: Vec::new(), index: BTreeMap::new() }
    }

    /// `cpu` says that it shares `what` with `members`. To be called with ascending cpus.
    pub(super) fn claim(&mut self, cpu: CpuId, members: &CpuSet, what: T) -> Claim {
        if let Some(&index) = self.index.get(&cpu) {
            let (group, said) = &self.groups[index];
            return if group == members && *said == what { Claim::Agrees } else { Claim::Disagrees };
        }
        let free = members.iter().filter(|member| !self.index.contains_key(member));
        let group: CpuSet = free.chain([cpu]).collect();
        self.index.extend(group.iter().map(|member| (member, self.groups.len())));
        let claim = if group == *members { Claim::Agrees } else { Claim::Disagrees };
        self.groups.push((group, what));
        claim
    }

    /// The group `cpu` is in.
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
        assert_eq!(groups.claim(CpuId(2), &set("1-3"), 'a'), Claim::Disagrees, "cut down to 2-3");
        assert_eq!(groups.claim(CpuId(3), &set("2-3"), 'b'), Claim::Disagrees, "another thing");
        assert_eq!(groups.get(CpuId(3)), Some(&set("2-3")));
        assert_eq!(groups.into_groups(), [(set("0-1"), 'a'), (set("2-3"), 'a')]);
    }
}
