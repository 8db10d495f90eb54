//! What a run took.

use super::parts::part;
use crate::model::Model;
use warmcore_linux::inventory::Inventory;
use warmcore_linux::probe::ProbeError;
use warmcore_linux::tuning::{Plan, Setting, System};
use warmcore_linux::{Meter, Probe, Spent};
use warmcore_units::{CpuId, Nanos, PerSecond};

/// What is watched in every run.
#[derive(Clone, Debug)]
pub struct Watch {
    cpus: Vec<CpuId>,
    /// The processes that the plan places.
    processes: Vec<u32>,
    clock_rate: Option<PerSecond>,
}

/// What a run took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Taken {
    /// Cpus that were busy, on average: 1.5 of 2, for instance.
    pub busy_cpus: f64,
    /// Cpus that were in softirqs.
    pub softirq_cpus: f64,
    /// Cpus that a hypervisor took.
    pub stolen_cpus: f64,
    /// Softirqs in which packets were received.
    pub receive_softirqs: PerSecond,
    /// Interrupts by which a cpu made another one reschedule; `None` where the kernel does not count them.
    pub rescheduling: Option<PerSecond>,
    /// Moves of the plan's threads from cpu to cpu; `None` where it has none or the kernel does not count.
    pub migrations: Option<PerSecond>,
}

impl Watch {
    /// All cpus, and the processes of `plan`.
    ///
    /// # Errors
    /// If the cpus cannot be found out.
    pub fn of(plan: &Plan) -> Result<Self, ProbeError> {
        let process = |set: &Setting| match set {
            Setting::Thread { pid, .. } => Some(*pid),
            _ => None,
        };
        let threads = part(plan, Model::ProcessOnly).lines;
        let mut processes: Vec<u32> = threads.iter().filter_map(|line| process(&line.set)).collect();
        processes.sort_unstable();
        processes.dedup();
        let probe = Probe::new();
        let cpus = probe.machine()?.machine.online().iter().collect();
        Ok(Self { cpus, processes, clock_rate: probe.host().clock_rate })
    }

    /// The clock rate of the first cpu, in cycles per second, when the experiment began.
    #[must_use]
    pub const fn clock_rate(&self) -> Option<PerSecond> {
        self.clock_rate
    }

    /// Begins to watch; with `system` the plan's processes are looked at.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there.
    pub fn start<'a>(&'a self, system: &'a dyn System) -> Result<Watching<'a>, ProbeError> {
        Ok(Watching {
            watch: self,
            system,
            before: Probe::new().inventory()?,
            moves: self.moves(system),
            meter: Meter::start(&self.cpus, &self.processes),
        })
    }

    /// How often the plan's threads have moved since they were started; those that have ended are not
    /// among them.
    fn moves(&self, system: &dyn System) -> Option<u64> {
        let mut sum = None;
        for pid in &self.processes {
            for thread in system.entries(&format!("proc/{pid}/task")).ok()? {
                let Ok(text) = system.read(&format!("proc/{pid}/task/{thread}/sched")) else { continue };
                *sum.get_or_insert(0) += migrations(&text)?;
            }
        }
        sum
    }
}

/// `se.nr_migrations                             :                    3`
fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// A run that is being watched.
#[derive(Debug)]
pub struct Watching<'a> {
    watch: &'a Watch,
    system: &'a dyn System,
    before: Inventory,
    moves: Option<u64>,
    meter: Meter,
}

impl Watching<'_> {
    /// What comes from now on counts; `load` are the processes of the workload.
    pub fn begin(&mut self, load: &[u32]) {
        let programs = [&self.watch.processes, load].concat();
        self.meter = Meter::start(&self.watch.cpus, &programs);
    }

    /// Ends, and says what the cpus did.
    pub fn end(&self) -> Spent {
        self.meter.stop()
    }

    /// What the run took, whose cpus did `spent`.
    ///
    /// # Errors
    /// If a file holds what no kernel writes there.
    pub fn taken(&self, spent: &Spent) -> Result<Taken, ProbeError> {
        let moves = self.watch.moves(self.system);
        let after = Probe::new().inventory()?;
        let elapsed =
            after.uptime.zip(self.before.uptime).map_or(spent.time, |(after, before)| after - before);
        let counted = |of: fn(&Inventory) -> Option<u64>| {
            let passed = of(&after)?.saturating_sub(of(&self.before)?);
            Some(PerSecond(passed as f64 / elapsed.secs()))
        };
        let cpus = |of: Nanos| of / spent.time;
        Ok(Taken {
            busy_cpus: cpus(spent.busy),
            softirq_cpus: cpus(spent.softirq),
            stolen_cpus: cpus(spent.stolen),
            receive_softirqs: counted(receive_softirqs).unwrap_or_default(),
            rescheduling: counted(rescheduling),
            migrations: moves
                .zip(self.moves)
                .map(|(after, before)| PerSecond(after.saturating_sub(before) as f64 / elapsed.secs())),
        })
    }
}

fn receive_softirqs(picture: &Inventory) -> Option<u64> {
    Some(picture.processors.iter().filter_map(|cpu| cpu.softirqs.get("NET_RX")).sum())
}

fn rescheduling(picture: &Inventory) -> Option<u64> {
    picture.special_interrupts.iter().find(|special| special.label == "RES").map(|special| special.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_a_line_of_the_schedulers_file() {
        let text = "sh (1, #threads: 1)\n---\nse.nr_migrations      :        3\nnr_switches : 9";
        assert_eq!((migrations(text), migrations("sh (1)")), (Some(3), None));
    }
}
