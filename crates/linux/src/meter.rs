//! What a run took of the cpus, and what other programs had of them meanwhile.
//!
//! The kernel counts in ticks of usually 10 ms, so a run of less than half a second is hardly known.

use crate::pid_stat::{Stat, stat};
use crate::proc_stat::{CpuTimes, cpu_times};
use crate::{Probe, cpu_time};
use std::fmt::Display;
use std::time::Instant;
use warmcore_units::{CpuId, Nanos};

/// What a run has taken.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CpuUsage {
    /// On the wall's clock.
    pub time: Nanos,
    /// Processor time of this process and of the programs that belong to the run.
    pub own: Nanos,
    /// For how long the cpus were busy, all together, whoever made them: programs, the kernel, interrupts
    /// and softirqs. What a hypervisor took is not in it.
    pub busy: Nanos,
    /// For how long they were in softirqs, in which received packets are worked off.
    pub softirq: Nanos,
    /// What a hypervisor took of them.
    pub stolen: Nanos,
    /// The part of the cpus' time that other programs had, or the hypervisor.
    pub others: f64,
}

/// Takes the time of a run.
#[derive(Debug)]
pub struct Meter {
    cpus: Vec<CpuId>,
    programs: Vec<u32>,
    begun: Instant,
    own: Nanos,
    machine: CpuTimes,
}

impl Meter {
    /// Begins, for a run on `cpus` to which the processes `programs` belong too, by their numbers. What this
    /// process starts and waits for meanwhile belongs to it anyway.
    #[must_use]
    pub fn start(cpus: &[CpuId], programs: &[u32]) -> Self {
        let (machine, own) = (together(cpus), own(programs));
        Self { cpus: cpus.to_vec(), programs: programs.to_vec(), begun: Instant::now(), own, machine }
    }

    /// What has been taken until now. The programs must not have ended; what the kernel does not tell is
    /// zero.
    #[must_use]
    pub fn stop(&self) -> CpuUsage {
        let time = Nanos(self.begun.elapsed().as_nanos() as f64);
        let (own, now, before) = (own(&self.programs) - self.own, together(&self.cpus), self.machine);
        let stolen = now.stolen.unwrap_or_default() - before.stolen.unwrap_or_default();
        // Packets are worked off in interrupts, whosever they are: those are nobody else's.
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

/// Where the time of `cpus` went since the machine started; nowhere, if the kernel does not say.
fn together(cpus: &[CpuId]) -> CpuTimes {
    let all = cpu_times(Probe::new().tree()).unwrap_or_default();
    cpus.iter().filter_map(|cpu| all.get(cpu)).copied().sum()
}

/// What the kernel says of a process; `None` if it has ended.
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
    fn what_this_process_does_is_its_own() {
        let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
        let meter = Meter::start(&cpus, &[]);
        while cpu_time::of_this_thread() < tick() * 5.0 {
            core::hint::spin_loop();
        }
        let spent = meter.stop();
        assert!(spent.own > tick() && spent.time > tick() && spent.busy > tick(), "{spent:?}");
    }

    #[test]
    fn what_a_program_did_is_its_own_while_it_runs_and_when_it_was_waited_for() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh is there");
        let (during, beyond) = (Meter::start(&[], &[busy.id()]), Meter::start(&[], &[]));
        let deadline = Instant::now() + Duration::from_secs(60);
        // The kernel counts in ticks, and lets it run when it likes. Other tests use this process's time meanwhile.
        let its = || of_program(busy.id()).map_or(Nanos::ZERO, |stat| stat.cpu_time);
        while its() < tick() * 3.0 && Instant::now() < deadline {
            sleep(Duration::from_millis(20));
        }
        let before_its_end = beyond.stop().own;
        assert!(during.stop().own >= before_its_end + tick() * 2.0);
        busy.kill().expect("it runs");
        busy.wait().expect("a child can be waited for");
        assert!(beyond.stop().own >= before_its_end + tick() * 2.0);
        assert!(of_program(u32::MAX).is_none());
    }
}
