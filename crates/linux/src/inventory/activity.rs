//! What the kernel did about received packets and threads that became ready, as two counts. They are
//! read around a run, so that nothing else of an inventory is looked at.

use super::rates::passed;
use super::{processors, table};
use crate::Probe;
use crate::probe::Malformed;
use warmcore_units::CpuId;

/// Counts of some cpus together since the machine started, or between two looks; `None` where the
/// kernel does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Softirqs in which received packets are worked off (`NET_RX`).
    pub receive_softirqs: Option<u64>,
    /// Interrupts by which a cpu makes another one reschedule.
    pub rescheduling: Option<u64>,
}

impl Probe {
    /// What `cpus` have done since the machine started.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there.
    pub fn activity(&self, cpus: &[CpuId]) -> Result<Activity, Malformed> {
        let softirqs = processors::softirqs(self.tree())?;
        let received = softirqs.iter().find(|(name, _)| name == "NET_RX").map(|(_, counts)| counts);
        let table = table::read(self.tree())?;
        // `RES` on x86, a number of its own kind on ARM; the words are the same.
        let rescheduling = table.special.iter().find(|line| line.description.starts_with("Rescheduling"));
        let of_columns = |counts: &[u64]| {
            let columns = table.cpus.iter().zip(counts).filter(|(cpu, _)| cpus.contains(cpu));
            columns.map(|(_, count)| count).sum()
        };
        Ok(Activity {
            receive_softirqs: received.map(|counts| cpus.iter().filter_map(|cpu| counts.get(cpu)).sum()),
            rescheduling: rescheduling.map(|line| of_columns(&line.counts)),
        })
    }
}

impl Activity {
    /// What was done between `earlier` and this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let between = |before: Option<u64>, now: Option<u64>| Some(passed(before?, now?));
        Self {
            receive_softirqs: between(earlier.receive_softirqs, self.receive_softirqs),
            rescheduling: between(earlier.rescheduling, self.rescheduling),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn activity(interrupts: &str, cpus: &[u32]) -> Activity {
        let mut tree = fake::Tree::default();
        tree.put("proc/softirqs", "  CPU0 CPU1\nTIMER: 9 9\nNET_RX: 5 7");
        tree.put("proc/interrupts", interrupts);
        let cpus: Vec<CpuId> = cpus.iter().copied().map(CpuId).collect();
        Probe::fake(tree).activity(&cpus).expect("sound files")
    }

    #[test]
    fn the_cpus_that_are_asked_for_are_counted() {
        let x86 = "  CPU0 CPU1\nRES: 3 4   Rescheduling interrupts\nCAL: 8 8   Function call interrupts";
        let both = Activity { receive_softirqs: Some(12), rescheduling: Some(7) };
        assert_eq!(activity(x86, &[0, 1]), both);
        let second = Activity { receive_softirqs: Some(7), rescheduling: Some(4) };
        assert_eq!(activity(x86, &[1]), second);
        assert_eq!(both.since(&second), Activity { receive_softirqs: Some(5), rescheduling: Some(3) });
        let arm = "  CPU0 CPU1\nIPI0: 1 2   Rescheduling interrupts";
        assert_eq!(activity(arm, &[0]).rescheduling, Some(1));
    }

    #[test]
    fn what_the_kernel_does_not_count_is_not_told() {
        let none = activity("  CPU0 CPU1\nERR: 0", &[0, 1]);
        assert_eq!(none.rescheduling, None);
        let both = Activity { receive_softirqs: Some(12), rescheduling: Some(7) };
        assert_eq!(both.since(&none).rescheduling, None);
    }
}
