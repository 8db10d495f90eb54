//! Stolen time: how long a hypervisor ran something else while one of our cpus had work.
//!
//! The kernel counts this per cpu, in ticks of usually 10 ms, if the hypervisor reports it; otherwise
//! the count stays at zero. So an increase proves a disturbance, but no increase proves nothing.

use crate::Probe;
use crate::probe::Malformed;
use crate::proc_stat::cpu_times;
use std::collections::BTreeMap;
use warmcore_units::{CpuId, Nanos};

/// The stolen time of every cpu, since boot or between two readings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Steal(BTreeMap<CpuId, Nanos>);

impl Steal {
    /// Reads the stolen time since boot; empty if `/proc/stat` is hidden.
    ///
    /// # Errors
    /// If `/proc/stat` is malformed.
    pub fn now() -> Result<Self, Malformed> {
        Probe::new().steal()
    }

    /// Returns the time stolen since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = |(&cpu, &now): (&CpuId, &Nanos)| (cpu, now - earlier.get(cpu).unwrap_or(now));
        Self(self.0.iter().map(passed).collect())
    }

    /// The time stolen from `cpu`; `None` if the kernel does not report it.
    #[must_use]
    pub fn get(&self, cpu: CpuId) -> Option<Nanos> {
        self.0.get(&cpu).copied()
    }

    /// The time stolen from all cpus together.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.0.values().copied().sum()
    }
}

impl Probe {
    /// Reads the stolen time of every cpu, from `/proc/stat` below the root.
    ///
    /// # Errors
    /// If that file is malformed.
    pub fn steal(&self) -> Result<Steal, Malformed> {
        let stolen = cpu_times(self.tree())?.into_iter();
        Ok(Steal(stolen.filter_map(|(cpu, times)| Some((cpu, times.stolen?))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn steal_in(stat: &str) -> Result<Steal, Malformed> {
        let mut tree = fake::Tree::default();
        tree.put("proc/stat", stat);
        Probe::fake(tree).steal()
    }

    #[test]
    fn the_eighth_number_of_a_cpu_is_its_stolen_time() {
        let ticks = rustix::param::clock_ticks_per_second();
        let earlier = steal_in("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 0 0 0\ncpu3 1 2 3 4 5 6 7 5\n");
        let later = steal_in(&format!("cpu0 1 2 3 4 5 6 7 {ticks} 0 0\ncpu3 1 2 3 4 5 6 7 5 0 0\nintr 5\n"));
        let stolen = later.unwrap().since(&earlier.unwrap());
        assert_eq!(stolen.get(CpuId(0)), Some(Nanos::from_secs(1.0)));
        assert_eq!(stolen.get(CpuId(3)), Some(Nanos::ZERO));
        assert_eq!(stolen.get(CpuId(1)), None);
        assert_eq!(stolen.total(), Nanos::from_secs(1.0));
    }

    #[test]
    fn old_kernels_report_nothing_and_garbage_is_refused() {
        assert_eq!(steal_in("cpu0 1 2 3 4\n"), Ok(Steal::default()));
        let error = steal_in("cpuX 1 2 3\n").unwrap_err();
        assert!(error.to_string().contains("proc/stat` holds `cpuX 1 2 3`, expected"), "{error}");
    }
}
