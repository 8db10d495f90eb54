//! Which cpus an interrupt goes to.
//!
//! `effective_affinity_list` says it, since Linux 4.15 and for most controllers. Where it is missing or lists several
//! cpus, counts by cpu say which of the permitted ones handled the interrupt most often. Counts since boot average over
//! days, so those of an interval go first where there is one.
//!
//! Invariant: the result lies within the effective mask, or else within the affinity mask, if the kernel shows them.

use super::identity::InterruptId;
use super::interrupts::Interrupt;
use super::rates::InterruptRate;
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

impl Interrupt {
    /// The cpus of `online` it goes to as far as counts since boot tell.
    pub(super) fn seen_since_boot(&self, online: &CpuSet) -> CpuSet {
        let permitted = self.permitted(online);
        let counts = self.counts.iter().map(|(&cpu, &count)| (cpu, count));
        let busiest = busiest(permitted.as_ref(), counts);
        let is_known = self.effective.is_some() || self.total() > 0;
        // It came before its mask was set, or never.
        busiest.or(permitted.filter(|_| is_known)).unwrap_or_default()
    }

    /// The cpus it may be on now; `None` where the kernel does not say. If its mask has offline cpus only, it is on any
    /// other.
    fn permitted(&self, online: &CpuSet) -> Option<CpuSet> {
        let allowed = self.allowed.as_ref().map(|allowed| allowed.intersection(online));
        let allowed = allowed.filter(|allowed| !allowed.is_empty());
        let Some(effective) = &self.effective else { return allowed };
        let both = allowed.map(|allowed| allowed.intersection(effective));
        // A new mask may wait for the next interrupt: until then the effective one holds.
        Some(both.filter(|both| !both.is_empty()).unwrap_or_else(|| effective.clone()))
    }
}

/// Takes what happened in an interval for where each interrupt goes among the cpus `online`, if it came there.
pub(super) fn note_interval<'a>(
    interrupts: &mut [Interrupt],
    online: &CpuSet,
    rates: impl Iterator<Item = &'a InterruptRate>,
) {
    let rates: BTreeMap<&InterruptId, &InterruptRate> = rates.map(|rate| (&rate.id, rate)).collect();
    for interrupt in interrupts {
        let Some(rate) = rates.get(&interrupt.id) else { continue };
        let counts = rate.by_cpu.iter().map(|(&cpu, rate)| (cpu, rate.0));
        if let Some(busiest) = busiest(interrupt.permitted(online).as_ref(), counts) {
            interrupt.goes_to = busiest;
        }
    }
}

/// The cpus of `permitted` with the highest count; `None` if none of them has one.
fn busiest<N: PartialOrd + Copy>(
    permitted: Option<&CpuSet>,
    counts: impl Iterator<Item = (CpuId, N)>,
) -> Option<CpuSet> {
    let mut most: Option<(N, Vec<CpuId>)> = None;
    for (cpu, count) in counts.filter(|(cpu, _)| permitted.is_none_or(|permitted| permitted.contains(*cpu))) {
        match &mut most {
            Some((highest, _)) if count < *highest => {}
            Some((highest, cpus)) if count == *highest => cpus.push(cpu),
            _ => most = Some((count, vec![cpu])),
        }
    }
    most.map(|(_, cpus)| cpus.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use crate::Probe;
    use crate::fake::{Tree, hosts};

    /// Where interrupt 24 of a host goes that cpus 0 and 1 have handled so often, with the files of its directory.
    fn goes_to(counts: [u64; 2], files: &[(&str, &str)]) -> String {
        let mut tree: Tree = hosts::crossed().hiding("proc/irq/24/");
        tree.put_interrupt_counts(24, &counts);
        for (file, cpus) in files {
            tree.put(format!("proc/irq/24/{file}_list"), cpus);
        }
        Probe::fake(tree).inventory().expect("a sound tree").interrupts[0].goes_to().to_string()
    }

    #[test]
    fn counts_decide_within_the_masks() {
        let [allowed, effective] = ["smp_affinity", "effective_affinity"];
        for (counts, files, expected) in [
            ([7, 5], &[][..], "0"),
            ([7, 7], &[], "0-1"),
            ([0, 0], &[(allowed, "1")], ""),
            ([0, 0], &[(effective, "1")], "1"),
            ([7, 5], &[(allowed, "1")], "1"),
            ([7, 0], &[(allowed, "1")], "1"),
            ([7, 5], &[(allowed, "0-1"), (effective, "1")], "1"),
            ([7, 5], &[(allowed, "0-1"), (effective, "0-1")], "0"),
            ([7, 5], &[(allowed, "1"), (effective, "0-1")], "1"),
            // The new mask holds from the next interrupt on.
            ([7, 0], &[(allowed, "1"), (effective, "0")], "0"),
        ] {
            assert_eq!(goes_to(counts, files), expected, "{counts:?} {files:?}");
        }
    }
}
