//! What a run took, and what other programs had of the processors meanwhile.

use std::fs::read_to_string;
use std::time::Instant;
use warmcore_linux::cpu_time;
use warmcore_units::{CpuId, Nanos};

/// The kernel's unit of time in `/proc`.
const TICK: Nanos = Nanos(10e6);
/// Columns of a processor's line in `/proc/stat` in which it was busy: user, nice, system, stolen.
const BUSY: [usize; 4] = [0, 1, 2, 7];
/// Columns of `/proc/PID/stat` after the command: the time of its threads as user and in the kernel.
const RAN: [usize; 2] = [11, 12];

/// What a run has taken.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// On the wall's clock.
    pub time: Nanos,
    /// Processor time of this process and of the programs that belong to the run.
    pub own: Nanos,
    /// The part of the processors' time that other programs had, or the hypervisor.
    pub others: f64,
}

/// Takes the time of a run.
pub struct Meter<'a> {
    cpus: &'a [CpuId],
    programs: &'a [u32],
    begun: Instant,
    own: Nanos,
    machine: Nanos,
}

impl<'a> Meter<'a> {
    /// Begins, for a run on `cpus` to which the processes `programs` belong too, by their ids.
    #[must_use]
    pub fn start(cpus: &'a [CpuId], programs: &'a [u32]) -> Self {
        let (machine, own) = (busy(cpus), own(programs));
        Self { cpus, programs, begun: Instant::now(), own, machine }
    }

    /// What has been taken until now. The programs have not ended.
    #[must_use]
    pub fn stop(&self) -> Spent {
        let time = Nanos(self.begun.elapsed().as_nanos() as f64);
        let own = own(self.programs) - self.own;
        let others = (busy(self.cpus) - self.machine - own) / (time * self.cpus.len() as f64);
        Spent { time, own, others: others.max(0.0) }
    }
}

fn own(programs: &[u32]) -> Nanos {
    programs.iter().fold(cpu_time::of_this_process(), |sum, &program| sum + of_program(program))
}

/// How long programs and the hypervisor have had `cpus` since the machine started, interrupts left
/// out: loopback is worked off in them. Known to some hundredths of a second; zero where the kernel
/// does not say.
fn busy(cpus: &[CpuId]) -> Nanos {
    let text = read_to_string("/proc/stat").unwrap_or_default();
    let ours = |line: &&str| cpus.iter().any(|cpu| line.starts_with(&format!("cpu{} ", cpu.0)));
    let ticks = |line: &str| ticks(line.split(' ').skip(1), &BUSY);
    TICK * text.lines().filter(ours).map(ticks).sum::<u64>() as f64
}

/// How long the threads of a process have run; zero if it has ended.
fn of_program(id: u32) -> Nanos {
    let text = read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The command may have any signs in it, but nothing after it has a bracket.
    let (_, after) = text.rsplit_once(") ").unwrap_or_default();
    TICK * ticks(after.split(' '), &RAN) as f64
}

fn ticks<'t>(columns: impl Iterator<Item = &'t str>, wanted: &[usize]) -> u64 {
    let columns: Vec<&str> = columns.collect();
    wanted.iter().filter_map(|&column| columns.get(column)?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::affinity;

    #[test]
    fn columns_are_those_of_the_kernel() {
        let line = "cpu0 100 20 3 5000 60 7 8 400 0 0";
        assert_eq!(ticks(line.split(' ').skip(1), &BUSY), 523);
        let after = "S 1 42 42 0 -1 4194560 900 0 0 0 31 12 0 0 20 0 1 0 5 0 0";
        assert_eq!(ticks(after.split(' '), &RAN), 43);
    }

    #[test]
    fn what_this_process_does_is_its_own() {
        let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
        let meter = Meter::start(&cpus, &[]);
        while cpu_time::of_this_thread() < Nanos(5e6) {
            core::hint::spin_loop();
        }
        let spent = meter.stop();
        assert!(spent.own > Nanos(1e6), "{spent:?}");
        assert!(spent.time > Nanos(1e6), "{spent:?}");
    }

    #[test]
    fn a_program_is_known_by_its_id() {
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        // The kernel counts this process in its columns as it does any other.
        while of_program(std::process::id()) < TICK && Instant::now() < deadline {
            core::hint::spin_loop();
        }
        assert!(of_program(std::process::id()) >= TICK);
        assert_eq!(of_program(u32::MAX), Nanos(0.0));
    }
}
