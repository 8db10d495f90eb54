//! What a run took of the cpus, and what other programs had of them meanwhile.
//!
//! The kernel counts in ticks of usually 10 ms, so a run of less than half a second is hardly known.

use crate::pid_stat::stat;
use crate::proc_stat::{CpuTimes, cpu_times};
use crate::{Probe, cpu_time};
use std::time::Instant;
use warmcore_units::{CpuId, Nanos};

/// What a run has taken.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spent {
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
pub struct Meter<'a> {
    cpus: &'a [CpuId],
    programs: &'a [u32],
    begun: Instant,
    own: Nanos,
    machine: CpuTimes,
}

impl<'a> Meter<'a> {
    /// Begins, for a run on `cpus` to which the processes `programs` belong too, by their numbers.
    #[must_use]
    pub fn start(cpus: &'a [CpuId], programs: &'a [u32]) -> Self {
        let (machine, own) = (together(cpus), own(programs));
        Self { cpus, programs, begun: Instant::now(), own, machine }
    }

    /// What has been taken until now. The programs must not have ended; what the kernel does not tell is
    /// zero.
    #[must_use]
    pub fn stop(&self) -> Spent {
        let time = Nanos(self.begun.elapsed().as_nanos() as f64);
        let (own, now, before) = (own(self.programs) - self.own, together(self.cpus), self.machine);
        let stolen = now.stolen.unwrap_or_default() - before.stolen.unwrap_or_default();
        // Packets are worked off in interrupts, whosever they are: those are nobody else's.
        let in_programs = now.user + now.system - before.user - before.system;
        let others = (in_programs + stolen - own) / (time * self.cpus.len() as f64);
        Spent {
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
    programs.iter().fold(cpu_time::of_this_process(), |sum, &program| sum + of_program(program))
}

/// Where the time of `cpus` went since the machine started; nowhere, if the kernel does not say.
fn together(cpus: &[CpuId]) -> CpuTimes {
    let all = cpu_times(Probe::new().tree()).unwrap_or_default();
    cpus.iter().filter_map(|cpu| all.get(cpu)).copied().sum()
}

/// How long the threads of a process have run; zero if it has ended.
fn of_program(number: u32) -> Nanos {
    let stat = stat(Probe::new().tree(), &format!("proc/{number}"));
    stat.ok().flatten().map_or(Nanos::ZERO, |stat| stat.cpu_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity;
    use crate::proc_stat::tick;
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
    fn a_program_is_known_by_its_number() {
        let deadline = Instant::now() + Duration::from_secs(60);
        // The kernel counts this process in its columns as it does any other.
        while of_program(std::process::id()) < tick() && Instant::now() < deadline {
            core::hint::spin_loop();
        }
        assert!(of_program(std::process::id()) >= tick());
        assert_eq!(of_program(u32::MAX), Nanos::ZERO);
    }
}
