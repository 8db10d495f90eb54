//! Measures the cpu usage of a run, and of other programs meanwhile.
//!
//! The kernel counts in ticks of usually 10 ms, so figures for runs shorter than half a second are
//! inaccurate.

use crate::pid_stat::{Stat, stat};
use crate::proc_stat::{CpuTimes, cpu_times};
use crate::{Probe, cpu_time};
use std::fmt::Display;
use std::time::Instant;
use warmcore_units::{CpuId, Nanos};

/// The time and cpu usage of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CpuUsage {
    /// Wall-clock time.
    pub time: Nanos,
    /// Processor time of this process and of the programs that belong to the run.
    pub own: Nanos,
    /// Busy time, summed over the cpus: programs, the kernel, interrupts and softirqs. Without time that a
    /// hypervisor took.
    pub busy: Nanos,
    /// Time in softirqs, which process received packets.
    pub softirq: Nanos,
    /// Time that a hypervisor took.
    pub stolen: Nanos,
    /// The share of the cpus' time that went to other programs or the hypervisor.
    pub others: f64,
}

/// Measures a run from its start.
#[derive(Debug)]
pub struct Meter {
    cpus: Vec<CpuId>,
    programs: Vec<u32>,
    begun: Instant,
    own: Nanos,
    machine: CpuTimes,
}

impl Meter {
    /// Starts measuring a run on `cpus`. The processes with the numbers `programs` also belong to the run.
    /// Child processes that this process starts and waits for meanwhile belong to it anyway.
    #[must_use]
    pub fn start(cpus: &[CpuId], programs: &[u32]) -> Self {
        let (machine, own) = (together(cpus), own(programs));
        Self { cpus: cpus.to_vec(), programs: programs.to_vec(), begun: Instant::now(), own, machine }
    }

    /// Returns the usage up to now. The programs must still run. What the kernel does not report is zero.
    #[must_use]
    pub fn stop(&self) -> CpuUsage {
        let time = Nanos(self.begun.elapsed().as_nanos() as f64);
        let (own, now, before) = (own(&self.programs) - self.own, together(&self.cpus), self.machine);
        let stolen = now.stolen.unwrap_or_default() - before.stolen.unwrap_or_default();
        // Interrupts and softirqs process packets for any program, so they are not charged to others.
        let in_programs = now.user + now.system - before.user - before.system;
        let others = (in_programs + stolen - own) / (time * self.cpus.len() as f64);
        CpuUsage {
            time,
            own,
            busy: now.busy() - before.busy(),
            softirq: now.softirq - before.softirq,
            stolen,
            others: others.max(0.0),
        }
    }
}

fn own(programs: &[u32]) -> Nanos {
    let children = of_program("self").map_or(Nanos::ZERO, |stat| stat.children_time);
    let of_others = programs.iter().filter_map(of_program).map(|stat| stat.cpu_time);
    cpu_time::of_this_process() + children + of_others.sum()
}

/// Sums up the times of `cpus` since boot; zero if the kernel does not report them.
fn together(cpus: &[CpuId]) -> CpuTimes {
    let all = cpu_times(Probe::new().tree()).unwrap_or_default();
    cpus.iter().filter_map(|cpu| all.get(cpu)).copied().sum()
}

/// Reads the stat file of a process; `None` if it has ended.
fn of_program(number: impl Display) -> Option<Stat> {
    stat(Probe::new().tree(), &format!("proc/{number}")).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity;
    use crate::proc_stat::tick;
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn work_of_this_process_counts_as_own() {
        let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
        let meter = Meter::start(&cpus, &[]);
        while cpu_time::of_this_thread() < tick() * 5.0 {
            core::hint::spin_loop();
        }
        let spent = meter.stop();
        assert!(spent.own > tick() && spent.time > tick() && spent.busy > tick(), "{spent:?}");
    }

    #[test]
    fn work_of_a_child_counts_as_own_while_it_runs_and_after_it_was_waited_for() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh is there");
        let (during, beyond) = (Meter::start(&[], &[busy.id()]), Meter::start(&[], &[]));
        let deadline = Instant::now() + Duration::from_secs(60);
        // The kernel counts in ticks and may schedule the child late. Other tests use this process meanwhile.
        let its = || of_program(busy.id()).map_or(Nanos::ZERO, |stat| stat.cpu_time);
        while its() < tick() * 3.0 && Instant::now() < deadline {
            sleep(Duration::from_millis(20));
        }
        let before_exit = beyond.stop().own;
        assert!(during.stop().own >= before_exit + tick() * 2.0);
        busy.kill().expect("it runs");
        busy.wait().expect("a child can be waited for");
        assert!(beyond.stop().own >= before_exit + tick() * 2.0);
        assert!(of_program(u32::MAX).is_none());
    }
}
