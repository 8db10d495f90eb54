//! Counts receive softirqs and rescheduling interrupts around a run, without reading a whole inventory.

use super::rates::passed;
use super::{processors, table};
use crate::Probe;
use crate::probe::Malformed;
use warmcore_units::CpuId;

/// Counts summed over some cpus, since boot or between two readings. `None` where the kernel does not
/// count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Softirqs that process received packets (`NET_RX`).
    pub receive_softirqs: Option<u64>,
    /// Interrupts by which one cpu makes another reschedule.
    pub rescheduling: Option<u64>,
}

impl Probe {
    /// Reads the activity of `cpus` since boot.
    ///
    /// # Errors
    /// If a file is malformed.
    pub fn activity(&self, cpus: &[CpuId]) -> Result<Activity, Malformed> {
        let softirqs = processors::softirqs(self.tree())?;
        let received = softirqs.iter().find(|(name, _)| name == "NET_RX").map(|(_, counts)| counts);
        let table = table::read(self.tree())?;
        // The label is `RES` on x86 and `IPIn` on ARM; the description is the same.
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
    /// Returns the activity since `earlier`.
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
        Probe::fake(tree).activity(&cpus).expect("valid files")
    }

    #[test]
    fn only_the_given_cpus_are_counted() {
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
    fn a_count_that_the_kernel_hides_is_none() {
        let none = activity("  CPU0 CPU1\nERR: 0", &[0, 1]);
        assert_eq!(none.rescheduling, None);
        let both = Activity { receive_softirqs: Some(12), rescheduling: Some(7) };
        assert_eq!(both.since(&none).rescheduling, None);
    }
}
