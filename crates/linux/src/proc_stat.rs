//! Parses `/proc/stat`: how each cpu spent its time.

use crate::probe::Malformed;
use crate::tree::Tree;
use core::iter::Sum;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_units::{CpuId, Nanos};

const STAT: &str = "proc/stat";

/// How a cpu spent its time since boot.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct CpuTimes {
    /// Time in programs, including niced ones and guests.
    pub user: Nanos,
    /// Time in the kernel on behalf of programs.
    pub system: Nanos,
    /// Idle time, including time waiting for a device.
    pub idle: Nanos,
    /// Time in interrupt handlers; zero if the kernel does not count it separately.
    pub interrupt: Nanos,
    /// Time in softirqs.
    pub softirq: Nanos,
    /// Time in which a hypervisor ran something else; `None` if the kernel is too old to count it.
    pub stolen: Option<Nanos>,
}

impl CpuTimes {
    /// All time except idle and stolen time.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.user + self.system + self.interrupt + self.softirq
    }

    /// All time.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.busy() + self.idle + self.stolen.unwrap_or_default()
    }
}

impl Sum for CpuTimes {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            user: sum.user + one.user,
            system: sum.system + one.system,
            idle: sum.idle + one.idle,
            interrupt: sum.interrupt + one.interrupt,
            softirq: sum.softirq + one.softirq,
            stolen: sum.stolen.into_iter().chain(one.stolen).reduce(|sum, one| sum + one),
        })
    }
}

/// The unit in which the kernel reports processor time.
pub(crate) fn tick() -> Nanos {
    Nanos::from_secs(1.0 / rustix::param::clock_ticks_per_second().max(1) as f64)
}

/// Reads the times of every cpu; empty if the file is hidden.
pub(crate) fn cpu_times(tree: &Tree) -> Result<BTreeMap<CpuId, CpuTimes>, Malformed> {
    let text = tree.filtered(STAT, of_single_cpus).unwrap_or_default();
    text.lines().map(|line| of_one(tree, line)).collect()
}

/// Keeps the lines of single cpus. The others are not needed, and one is very long: the count of every
/// interrupt.
fn of_single_cpus(text: &str) -> String {
    let single = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    text.lines().filter(single).collect::<Vec<_>>().join("\n")
}

/// Parses `cpu0 user nice system idle iowait irq softirq steal …`. The first four numbers are always
/// present.
fn of_one(tree: &Tree, line: &str) -> Result<(CpuId, CpuTimes), Malformed> {
    let malformed = || tree.malformed(STAT, line, "`cpuN` and numbers of ticks");
    let mut words = line.split_whitespace();
    let cpu = words.next().and_then(|word| word.strip_prefix("cpu")).and_then(|n| n.parse().ok());
    let cpu = CpuId(cpu.ok_or_else(malformed)?);
    let ticks: Result<Vec<u64>, _> = words.map(str::parse).collect();
    let ticks = ticks.map_err(|_| malformed())?;
    let time = |column: usize| ticks.get(column).map(|&ticks| tick() * ticks as f64);
    let known = |column: usize| time(column).unwrap_or_default();
    if ticks.len() < 4 {
        return Err(malformed());
    }
    let times = CpuTimes {
        user: known(0) + known(1),
        system: known(2),
        idle: known(3) + known(4),
        interrupt: known(5),
        softirq: known(6),
        stolen: time(7),
    };
    Ok((cpu, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn every_column_is_read_into_its_field() {
        let mut tree = fake::Tree::default();
        tree.put(STAT, "cpu  9 9 9 9\ncpu0 1 2 4 8 16 32 64 128 5 5\ncpu3 1 0 0 1\nintr 5");
        let times = cpu_times(&Tree::Fake(tree)).expect("a valid file");
        let ticks = |count: f64| tick() * count;
        let first = times[&CpuId(0)];
        assert_eq!((first.user, first.system, first.idle), (ticks(3.0), ticks(4.0), ticks(24.0)));
        assert_eq!((first.interrupt, first.softirq), (ticks(32.0), ticks(64.0)));
        assert_eq!((first.stolen, first.total()), (Some(ticks(128.0)), ticks(255.0)));
        assert_eq!(times[&CpuId(3)].stolen, None);
        assert_eq!(times.len(), 2);
    }
}
